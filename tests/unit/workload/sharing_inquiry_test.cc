// Responses that two ranks share: told from stored ones by asking.
#include <gtest/gtest.h>

#include "tests/support/fake_ensemble.h"
#include "workload/ensemble/messages.h"
#include "workload/ensemble/sharing.h"

namespace workload {
namespace {

using std::chrono::milliseconds;
using testing_support::FakeEnsemble;
using testing_support::FakeNetwork;

storage::SteadyTime time_ms(int64_t ms) {
  return storage::SteadyTime(milliseconds(ms));
}

std::vector<Phase> one_phase() {
  Phase phase;
  phase.name = "run";
  phase.goal.requests = 10;
  return {phase};
}

/// Two ranks; the clock of the second shows `kAhead` more than that of the first.
class SharingTest : public ::testing::Test {
 protected:
  static constexpr milliseconds kAhead{5000};

  static ClockOffset ahead() {
    ClockOffset offset;
    offset.here_less_there = kAhead;
    return offset;
  }

  /// Delivers until nothing is left.
  void exchange() {
    for (int round = 0; round < 10; ++round) {
      first_.look();
      second_.look();
      deliver(first_end_, first_);
      deliver(second_end_, second_);
    }
  }

  static void deliver(FakeEnsemble& end, SharingInquiry& inquiry) {
    while (const auto got = end.receive()) {
      WireReader reader(got->bytes);
      const MessageKind kind = kind_of(reader);
      if (kind == MessageKind::kQuestions) inquiry.answer(got->from, reader);
      if (kind == MessageKind::kAnswers) inquiry.take_answers(got->from, reader);
      reader.end();
    }
  }

  /// A good hit of rank 0 that was made for that transaction, begun at `instant`.
  static DoubtfulTransaction hit(uint64_t made_for, storage::SteadyTime instant) {
    DoubtfulTransaction transaction;
    transaction.record.outcome = Outcome::kHit;
    transaction.shared =
        SharingDoubt{SharingDoubt::Kind::kUnderWay, made_for, instant, milliseconds(0)};
    transaction.counted = true;
    return transaction;
  }

  /// The same, taken for cut as planned.
  static DoubtfulTransaction cut(SharingDoubt::Kind kind, uint64_t id,
                                 storage::SteadyTime instant) {
    DoubtfulTransaction transaction;
    transaction.record.ending = Ending::kCut;
    transaction.cut.emplace();
    transaction.cut->doubt = {kind, id, instant, milliseconds(100)};
    transaction.cut->error = ErrorKind::kTruncated;
    transaction.cut->detail = "cut short";
    transaction.counted = true;
    return transaction;
  }

  FakeNetwork network_{2};
  FakeEnsemble first_end_{network_, 0};
  FakeEnsemble second_end_{network_, 1};
  TransactionsUnderWay first_own_{RankIds{100, 0, 2}, true};
  TransactionsUnderWay second_own_{RankIds{100, 1, 2}, true};
  RunControl control_{one_phase(), 0};
  SharingInquiry first_{first_end_, first_own_, control_, ClockOffset(), milliseconds(100)};
  SharingInquiry second_{second_end_, second_own_, control_, ahead(), milliseconds(100)};
};

TEST_F(SharingTest, AHitIsSharedWhereItsMakerWasUnderWay) {
  const uint64_t early = second_own_.begin(time_ms(0) + kAhead, std::nullopt);
  const uint64_t late = second_own_.begin(time_ms(10) + kAhead, std::nullopt);
  second_own_.end(early, time_ms(20) + kAhead);
  EXPECT_EQ(first_own_.under_way_anywhere(early, time_ms(30)), UnderWay::kAsk);
  first_.add(hit(early, time_ms(30)));
  EXPECT_TRUE(first_.open());
  exchange();
  EXPECT_FALSE(first_.open());
  EXPECT_EQ(first_.corrections().phases[0].total.shared_hits, 0U);
  first_.add(hit(early, time_ms(20)));
  first_.add(hit(late, time_ms(30)));
  exchange();
  EXPECT_EQ(first_.corrections().phases[0].total.shared_hits, 2U);
  EXPECT_EQ(first_.corrections().recorder.series.total().shared_hits, 2U);
}

TEST_F(SharingTest, MarksSpareQuestions) {
  const uint64_t id = second_own_.begin(time_ms(0), std::nullopt);
  second_own_.end(id, time_ms(20));
  RankMark mark;
  mark.at = time_ms(25);
  mark.first_open = id + 1;
  first_own_.set_mark(1, mark);
  EXPECT_EQ(first_own_.under_way_anywhere(id, time_ms(30)), UnderWay::kNo);
  EXPECT_EQ(first_own_.under_way_anywhere(id, time_ms(24)), UnderWay::kAsk);
  EXPECT_EQ(first_own_.under_way_anywhere(id, time_ms(30), milliseconds(10)), UnderWay::kAsk);
  EXPECT_EQ(first_own_.under_way_anywhere(id + 1, time_ms(30)), UnderWay::kAsk);
  // Ids of no rank of this run are those of a run before, whose objects a cache still holds.
  EXPECT_EQ(first_own_.under_way_anywhere(99, time_ms(0)), UnderWay::kNo);
  EXPECT_EQ(first_own_.under_way_anywhere(100 + (uint64_t{2} << 48), time_ms(0)), UnderWay::kNo);
}

TEST_F(SharingTest, ACutThatWasNotAskedForIsAnErrorAfterAll) {
  const uint64_t asked = second_own_.begin(time_ms(0) + kAhead, 7);
  const uint64_t not_asked = second_own_.begin(time_ms(0) + kAhead, std::nullopt);
  first_.add(cut(SharingDoubt::Kind::kBrokenOff, asked, time_ms(10)));
  first_.add(cut(SharingDoubt::Kind::kObjectBrokenOff, 7, time_ms(10)));
  exchange();
  EXPECT_EQ(first_.corrections().phases[0].total, Tally());
  EXPECT_EQ(control_.live().errors, 0U);
  first_.add(cut(SharingDoubt::Kind::kBrokenOff, not_asked, time_ms(10)));
  first_.add(cut(SharingDoubt::Kind::kObjectBrokenOff, 8, time_ms(10)));
  exchange();
  EXPECT_FALSE(first_.open());
  Tally sum = first_.corrections().phases[0].total;
  EXPECT_EQ(sum.errors_of(ErrorKind::kTruncated), 2U);
  EXPECT_EQ(control_.live().errors, 2U);
  EXPECT_EQ(first_.corrections().first_error, "cut short");
  // They had been counted as cut.
  Tally counted;
  counted.cut = 4;
  sum.merge(counted);
  EXPECT_EQ(sum.cut, 2U);
}

TEST_F(SharingTest, ACutThatWasPlannedMayHaveBeenShared) {
  const uint64_t asked = second_own_.begin(time_ms(0) + kAhead, 7);
  second_own_.end(asked, time_ms(50) + kAhead);
  for (const int64_t began_ms : {40, 60}) {
    DoubtfulTransaction transaction = cut(SharingDoubt::Kind::kBrokenOff, asked, time_ms(began_ms));
    transaction.shared =
        SharingDoubt{SharingDoubt::Kind::kUnderWay, asked, time_ms(began_ms), milliseconds(0)};
    first_.add(transaction);
  }
  exchange();
  EXPECT_FALSE(first_.open());
  EXPECT_EQ(first_.corrections().phases[0].total.cut_shared, 1U);
  EXPECT_EQ(first_.corrections().phases[0].total.error_count(), 0U);
}

}  // namespace
}  // namespace workload
