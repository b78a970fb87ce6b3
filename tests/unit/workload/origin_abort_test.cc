#include "workload/model/origin_abort.h"

#include <gtest/gtest.h>

#include <cmath>

namespace workload {
namespace {

TEST(OriginAbort, IsPlannedForTheStatedShare) {
  ObjectSpec object;
  constexpr double kTransactions = 200000;
  double planned = 0;
  double share_sum = 0;
  for (uint64_t id = 0; id < static_cast<uint64_t>(kTransactions); ++id) {
    object.id = id / 7;
    const auto share = planned_abort(object, id, 5);
    EXPECT_EQ(share, planned_abort(object, id, 5));
    if (!share) continue;
    planned += 1;
    share_sum += *share / 65536.0;
  }
  EXPECT_NEAR(100 * planned / kTransactions, 5, 0.25);
  EXPECT_NEAR(share_sum / planned, 0.5, 0.015);
  EXPECT_FALSE(planned_abort(object, 1, 0));
  EXPECT_TRUE(planned_abort(object, 1, 100));
}

TEST(OriginAbort, DependsOnSeedObjectAndTransaction) {
  ObjectSpec object;
  ObjectSpec other_object;
  other_object.id = 1;
  ObjectSpec other_seed;
  other_seed.seed = 1;
  EXPECT_NE(planned_abort(object, 1, 100), planned_abort(object, 2, 100));
  EXPECT_NE(planned_abort(object, 1, 100), planned_abort(other_object, 1, 100));
  EXPECT_NE(planned_abort(object, 1, 100), planned_abort(other_seed, 1, 100));
}

TEST(OriginAbort, AlwaysLeavesSomethingOut) {
  for (const uint64_t size : {uint64_t{1}, uint64_t{100}, uint64_t{65537}, kObjectSizeBytesMax}) {
    for (const int share : {0, 1, 32768, 65535}) {
      EXPECT_LT(bytes_before_abort(static_cast<uint16_t>(share), size), size);
    }
  }
  EXPECT_EQ(bytes_before_abort(32768, 1000), 500u);
  EXPECT_EQ(bytes_before_abort(65535, 0), 0u);
}

TEST(OriginAbort, ReadsNumbersInItsRangeOnly) {
  EXPECT_EQ(parse_break_off("0"), 0);
  EXPECT_EQ(parse_break_off("65535"), 65535);
  for (const char* text : {"", "65536", "-1", "+1", "1 ", " 1", "1.5", "0x10", "99999999999999"}) {
    EXPECT_FALSE(parse_break_off(text)) << text;
  }
}

}  // namespace
}  // namespace workload
