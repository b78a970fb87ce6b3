#include "workload/model/origin_abort.h"

#include <gtest/gtest.h>

#include "workload/model/object.h"

namespace workload {
namespace {

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
