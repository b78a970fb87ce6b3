#include "workload/filesystem/run_journal.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <unistd.h>

#include "storage/base/random.h"
#include "tests/support/seed.h"
#include "tests/support/temp_dir.h"
#include "workload/report/json_text.h"

namespace workload {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Kind = JournalEntry::Kind;

class RunJournalTest : public testing::Test {
 protected:
  std::string text() { return *read_file(folder_ / RunJournal::kFileName, 1 << 20); }
  JournalContent content() { return *parse_journal(text()); }

  testing_support::TempDir folder_;
};

TEST_F(RunJournalTest, SaysWhatIsLeftAndWhose) {
  auto journal = RunJournal::begin(folder_.path());
  ASSERT_TRUE(journal) << journal.error().text;
  EXPECT_THAT(content().left, IsEmpty());
  ASSERT_TRUE(journal->will_make(Kind::kImage, "a.img"));
  ASSERT_TRUE(journal->will_make(Kind::kMount, "a"));
  ASSERT_TRUE(journal->will_make(Kind::kNode, "b"));
  journal->is_gone(Kind::kMount, "a");
  EXPECT_THAT(content().left,
              ElementsAre(JournalEntry{Kind::kImage, "a.img"}, JournalEntry{Kind::kNode, "b"}));
  EXPECT_EQ(content().damaged_lines, 0U);
  EXPECT_EQ(content().owner, own_identity());
  EXPECT_TRUE(is_running(content().owner));
}

TEST_F(RunJournalTest, NamesNeverLeadOutOfTheFolder) {
  auto journal = RunJournal::begin(folder_.path());
  ASSERT_TRUE(journal);
  for (const char* name : {"", ".", "..", "../x", "/etc", "a/b", "a b", "a\nmake image c"}) {
    EXPECT_FALSE(journal->will_make(Kind::kFolder, name)) << name;
  }
  EXPECT_THAT(content().left, IsEmpty());
}

TEST_F(RunJournalTest, AnotherStartCanNotTakeIt) {
  auto journal = RunJournal::begin(folder_.path());
  ASSERT_TRUE(journal);
  EXPECT_FALSE(RunJournal::begin(folder_.path()));
  const OwnedFd other(open((folder_ / RunJournal::kFileName).c_str(), O_RDWR | O_CLOEXEC));
  EXPECT_NE(flock(other.get(), LOCK_EX | LOCK_NB), 0);
  journal = run_problem("closed");
  EXPECT_EQ(flock(other.get(), LOCK_EX | LOCK_NB), 0);
}

TEST_F(RunJournalTest, ATornEndIsLeftOut) {
  auto journal = RunJournal::begin(folder_.path());
  ASSERT_TRUE(journal);
  ASSERT_TRUE(journal->will_make(Kind::kImage, "a.img"));
  const std::string whole_until = text();
  ASSERT_TRUE(journal->will_make(Kind::kImage, "b.img"));
  const std::string all = text();
  for (size_t size = whole_until.size() + 1; size + 1 < all.size(); ++size) {
    const auto read = parse_journal(all.substr(0, size));
    ASSERT_TRUE(read);
    EXPECT_THAT(read->left, ElementsAre(JournalEntry{Kind::kImage, "a.img"})) << size;
    EXPECT_EQ(read->damaged_lines, 1U) << size;
  }
}

TEST_F(RunJournalTest, DamageNeverInventsAnEntry) {
  auto journal = RunJournal::begin(folder_.path());
  ASSERT_TRUE(journal);
  ASSERT_TRUE(journal->will_make(Kind::kImage, "a.img"));
  ASSERT_TRUE(journal->will_make(Kind::kMount, "a"));
  const std::string whole = text();
  const auto expected = content().left;
  const uint64_t seed = testing_support::test_seed(1);
  SCOPED_TRACE(testing_support::seed_trace(seed));
  storage::Random dice(seed);
  for (int round = 0; round < 2000; ++round) {
    std::string damaged = whole;
    damaged[dice.below(damaged.size())] = static_cast<char>(dice.below(256));
    const auto read = parse_journal(damaged);
    if (!read) continue;
    for (const auto& entry : read->left) {
      EXPECT_THAT(expected, testing::Contains(entry)) << damaged;
    }
  }
  EXPECT_FALSE(parse_journal(""));
  EXPECT_FALSE(parse_journal("cacheoff-journal 1 pid=1 start=1 boot=x 0000000000000000\n"));
}

TEST(ProcessIdentity, ANumberUsedAgainIsAnotherProcess) {
  ProcessIdentity self = own_identity();
  EXPECT_GT(self.start_ticks, 0U);
  EXPECT_TRUE(is_running(self));
  EXPECT_FALSE(is_number_of_another(self));
  self.start_ticks += 1;
  EXPECT_FALSE(is_running(self));
  EXPECT_TRUE(is_number_of_another(self));
  self = own_identity();
  self.boot_id = "another boot";
  EXPECT_FALSE(is_running(self));
}

TEST(ProcessIdentity, StartTimeIsReadBehindAnyName) {
  const std::string fields =
      " S 1 1 1 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 777 1000 1 18446744073709551615";
  EXPECT_EQ(parse_start_ticks("12 (sh)" + fields), 777U);
  EXPECT_EQ(parse_start_ticks("12 (a) b (c)" + fields), 777U);
  EXPECT_EQ(parse_start_ticks("12 (sh) S 1 1"), 0U);
  EXPECT_EQ(parse_start_ticks(""), 0U);
}

}  // namespace
}  // namespace workload
