#include "storage/base/event_method.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace storage {
namespace {

using testing::HasSubstr;

TEST(EventMethod, TheProgramsOwnNeedsNoOtherProgram) {
  EXPECT_TRUE(is_event_method(own_event_method()));
  EXPECT_EQ(take_event_method(own_event_method(), {}), "");
}

TEST(EventMethod, AMissingProgramIsNamedWithWhatWouldHelp) {
  for (const char* method : {"epoll", "select", "io_uring"}) {
    EXPECT_TRUE(is_event_method(method));
    if (method == own_event_method()) continue;
    const std::string fault = take_event_method(method, {"--help"});
    EXPECT_THAT(fault, HasSubstr(std::string("unit_storage_test-") + method));
    EXPECT_THAT(fault, HasSubstr("CACHEOFF_EVENT_METHODS"));
  }
  EXPECT_FALSE(is_event_method("poll"));
  EXPECT_FALSE(is_event_method(""));
}

TEST(EventMethod, OnlySelectHasABound) {
  EXPECT_EQ(event_descriptors_max() <= 1024, own_event_method() == "select");
}

}  // namespace
}  // namespace storage
