// A run's control in two processes: one decides, one follows.
#include <gtest/gtest.h>

#include "workload/client/run_control.h"

namespace workload {
namespace {

using std::chrono::milliseconds;

constexpr uint64_t kCacheBytes = 1000;

storage::SteadyTime moment(int64_t ms) {
  return storage::SteadyTime(milliseconds(ms));
}

/// By time, by requests, by fill.
std::vector<Phase> three_phases() {
  std::vector<Phase> phases(3);
  phases[0].name = "timed";
  phases[0].goal.duration = milliseconds(100);
  phases[0].robots = {0, 1};
  phases[1].name = "counted";
  phases[1].goal.requests = 10;
  phases[2].name = "filled";
  phases[2].goal.fill = 2;
  return phases;
}

TransactionRecord fill_of(uint64_t bytes) {
  TransactionRecord record;
  record.outcome = Outcome::kMiss;
  record.fill = true;
  record.received_bytes = bytes;
  record.response_time_ns = 5;
  return record;
}

class FollowTest : public ::testing::Test {
 protected:
  FollowTest() {
    lead_.start(moment(0));
    follower_.start(moment(0));
  }

  /// The follower hears of the lead's state from that phase on.
  void tell(size_t first_phase = 0) { follower_.follow(lead_.state(first_phase)); }

  RunControl lead_{three_phases(), kCacheBytes};
  RunControl follower_{three_phases(), kCacheBytes, Deciding::kElsewhere};
};

TEST_F(FollowTest, TimeChangesPhasesByItselfAndAtTheSameInstant) {
  follower_.look(moment(99));
  EXPECT_EQ(follower_.current(), 0U);
  EXPECT_NEAR(follower_.factors(moment(50)).robots, 0.5, 1e-9);
  lead_.look(moment(130));
  follower_.look(moment(110));
  EXPECT_EQ(follower_.current(), 1U);
  EXPECT_EQ(follower_.began(1), lead_.began(1));
  tell();
  EXPECT_EQ(follower_.began(1), moment(100));
}

TEST_F(FollowTest, OtherGoalsAreDecidedWhereAllIsKnown) {
  lead_.look(moment(100));
  tell();
  lead_.grant(6, moment(110));
  tell(1);
  EXPECT_DOUBLE_EQ(follower_.phase_progress(moment(110)), 0.6);
  lead_.grant(4, moment(120));
  lead_.look(moment(130));
  follower_.look(moment(140));
  EXPECT_EQ(follower_.current(), 1U);
  tell(1);
  EXPECT_EQ(follower_.current(), 2U);
  EXPECT_EQ(follower_.began(2), lead_.began(2));
  EXPECT_EQ(follower_.ended(1), lead_.ended(1));
}

TEST_F(FollowTest, FillOfAllMovesTheGoalOn) {
  lead_.look(moment(100));
  lead_.grant(10, moment(110));
  lead_.look(moment(120));
  tell();
  follower_.completed(fill_of(700), 2, moment(130));
  follower_.completed(fill_of(700), 2, moment(131));
  EXPECT_FALSE(follower_.over(moment(1000)));
  const auto fills = follower_.own_fills();
  ASSERT_EQ(fills.size(), 1U);
  EXPECT_EQ(fills[0].phase, 2U);
  EXPECT_EQ(fills[0].bytes, 1400U);
  lead_.completed(fill_of(500), 2, moment(132));
  EXPECT_FALSE(lead_.over(moment(139)));
  lead_.add_elsewhere(follower_.live(), {{2, 700}}, moment(140));
  EXPECT_FALSE(lead_.over(moment(140)));
  lead_.add_elsewhere({}, {{2, 800}}, moment(150));
  EXPECT_TRUE(lead_.over(moment(150)));
  EXPECT_EQ(lead_.run_end(), moment(150));
  EXPECT_EQ(lead_.live().good, 3U);
  EXPECT_EQ(lead_.live().fill_bytes, 1900U);
  tell(2);
  EXPECT_FALSE(follower_.over(moment(149)));
  EXPECT_TRUE(follower_.over(moment(150)));
}

TEST_F(FollowTest, WhatIsGivenBackIsKeptUntilItIsTold) {
  const Grant grant{3, 1, false};
  follower_.give_back(2, grant);
  follower_.give_back(1, grant);
  follower_.give_back(1, {1, 0, false});
  EXPECT_EQ(follower_.give_backs(), 3U);
  const auto given_back = follower_.take_given_back();
  ASSERT_EQ(given_back.size(), 2U);
  EXPECT_EQ(given_back[0].requests, 1U);
  EXPECT_EQ(given_back[1].requests, 3U);
  EXPECT_EQ(given_back[1].phase, 1U);
  EXPECT_TRUE(follower_.take_given_back().empty());
}

TEST_F(FollowTest, AnEndMayBecomeEarlier) {
  lead_.end_now(moment(50));
  tell();
  EXPECT_TRUE(follower_.over(moment(50)));
  EXPECT_FALSE(follower_.over(moment(49)));
}

}  // namespace
}  // namespace workload
