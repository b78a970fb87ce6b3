#include "workload/client/transactions_under_way.h"

#include <gtest/gtest.h>

#include <limits>

namespace workload {
namespace {

using std::chrono::milliseconds;

storage::SteadyTime instant_ms(int64_t ms) {
  return storage::SteadyTime(milliseconds(ms));
}

TEST(TransactionsUnderWay, TellsWhatOverlapped) {
  TransactionsUnderWay under_way(10);
  EXPECT_EQ(under_way.begin(instant_ms(0), std::nullopt), 10U);
  EXPECT_EQ(under_way.begin(instant_ms(5), 7), 11U);
  under_way.end(10, instant_ms(20));
  EXPECT_EQ(under_way.begin(instant_ms(30), std::nullopt), 12U);
  EXPECT_TRUE(under_way.was_under_way(10, instant_ms(5)));
  EXPECT_FALSE(under_way.was_under_way(10, instant_ms(30)));
  EXPECT_TRUE(under_way.was_under_way(10, instant_ms(30), milliseconds(10)));
  EXPECT_TRUE(under_way.was_under_way(11, instant_ms(30)));
  EXPECT_FALSE(under_way.was_under_way(9, instant_ms(5)));
  EXPECT_FALSE(under_way.was_under_way(13, instant_ms(5)));
}

TEST(TransactionsUnderWay, KnowsWhichAreToBeBrokenOff) {
  TransactionsUnderWay under_way(10);
  under_way.begin(instant_ms(0), std::nullopt);
  under_way.begin(instant_ms(0), 7);
  EXPECT_FALSE(under_way.to_be_broken_off(10));
  EXPECT_TRUE(under_way.to_be_broken_off(11));
  EXPECT_FALSE(under_way.to_be_broken_off(12));
}

TEST(TransactionsUnderWay, KnowsOfWhichObjectsOneIsToBeBrokenOff) {
  TransactionsUnderWay under_way(10);
  under_way.begin(instant_ms(0), 7);
  EXPECT_TRUE(under_way.object_broken_off(7, instant_ms(100), milliseconds(0)));
  EXPECT_FALSE(under_way.object_broken_off(8, instant_ms(100), milliseconds(0)));
  under_way.end(10, instant_ms(20));
  EXPECT_TRUE(under_way.object_broken_off(7, instant_ms(20), milliseconds(0)));
  EXPECT_TRUE(under_way.object_broken_off(7, instant_ms(100), milliseconds(80)));
  EXPECT_FALSE(under_way.object_broken_off(7, instant_ms(101), milliseconds(80)));
}

TEST(TransactionsUnderWay, ForgetsWhatNobodyCanAskFor) {
  TransactionsUnderWay under_way(0);
  for (int64_t id = 0; id < 10000; ++id) {
    under_way.end(under_way.begin(instant_ms(id * 10), std::nullopt), instant_ms(id * 10 + 5));
  }
  EXPECT_LE(under_way.entries(), 110U);
  // One that stays holds what has ended since.
  const uint64_t stays = under_way.begin(instant_ms(100000), std::nullopt);
  for (int64_t id = 10001; id < 10500; ++id) {
    under_way.end(under_way.begin(instant_ms(id * 10), std::nullopt), instant_ms(id * 10 + 5));
  }
  EXPECT_GE(under_way.entries(), 500U);
  under_way.end(stays, instant_ms(105000));
  under_way.begin(instant_ms(110000), std::nullopt);
  EXPECT_EQ(under_way.entries(), 1U);
}

TEST(TransactionsUnderWay, CountsOnPastTheLargestId) {
  TransactionsUnderWay under_way(std::numeric_limits<uint64_t>::max());
  under_way.begin(instant_ms(0), 7);
  EXPECT_EQ(under_way.begin(instant_ms(1), std::nullopt), 0U);
  EXPECT_TRUE(under_way.to_be_broken_off(std::numeric_limits<uint64_t>::max()));
  EXPECT_TRUE(under_way.was_under_way(0, instant_ms(2)));
}

}  // namespace
}  // namespace workload
