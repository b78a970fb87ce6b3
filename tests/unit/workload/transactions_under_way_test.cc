#include "workload/client/transactions_under_way.h"

#include <gtest/gtest.h>

namespace workload {
namespace {

using std::chrono::milliseconds;

storage::SteadyTime at_ms(int64_t ms) {
  return storage::SteadyTime(milliseconds(ms));
}

TEST(TransactionsUnderWay, TellsWhatOverlapped) {
  TransactionsUnderWay under_way;
  under_way.began(10, at_ms(0));
  under_way.began(11, at_ms(5));
  under_way.ended(10, at_ms(20));
  under_way.began(12, at_ms(30));
  EXPECT_TRUE(under_way.was_under_way(10, at_ms(5)));
  EXPECT_FALSE(under_way.was_under_way(10, at_ms(30)));
  EXPECT_TRUE(under_way.was_under_way(10, at_ms(30), milliseconds(10)));
  EXPECT_TRUE(under_way.was_under_way(11, at_ms(30)));
  EXPECT_FALSE(under_way.was_under_way(9, at_ms(5)));
  EXPECT_FALSE(under_way.was_under_way(13, at_ms(5)));
}

TEST(TransactionsUnderWay, ForgetsWhatNobodyCanAskFor) {
  TransactionsUnderWay under_way;
  for (uint64_t id = 0; id < 10000; ++id) {
    under_way.began(id, at_ms(static_cast<int64_t>(id) * 10));
    under_way.ended(id, at_ms(static_cast<int64_t>(id) * 10 + 5));
  }
  EXPECT_LE(under_way.entries(), 110u);
  // One that stays holds what has ended since.
  under_way.began(10000, at_ms(100000));
  for (uint64_t id = 10001; id < 10500; ++id) {
    under_way.began(id, at_ms(static_cast<int64_t>(id) * 10));
    under_way.ended(id, at_ms(static_cast<int64_t>(id) * 10 + 5));
  }
  EXPECT_GE(under_way.entries(), 500u);
  under_way.ended(10000, at_ms(105000));
  under_way.began(10500, at_ms(110000));
  EXPECT_EQ(under_way.entries(), 1u);
}

TEST(TransactionsUnderWay, BeginsAnewWhereIdsJump) {
  TransactionsUnderWay under_way;
  under_way.began(1, at_ms(0));
  under_way.began(100, at_ms(1));
  EXPECT_FALSE(under_way.was_under_way(1, at_ms(0)));
  under_way.ended(1, at_ms(2));
  EXPECT_TRUE(under_way.was_under_way(100, at_ms(50)));
  under_way.ended(100, at_ms(3));
  EXPECT_FALSE(under_way.was_under_way(100, at_ms(50)));
}

}  // namespace
}  // namespace workload
