#include "workload/experiment/processors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>

#include <fstream>
#include <iterator>

#include "tests/support/temp_dir.h"
#include "workload/experiment/child_process.h"
#include "workload/experiment/options.h"

namespace workload {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// One that this test may use.
unsigned usable_processor() {
  cpu_set_t usable;
  CPU_ZERO(&usable);
  EXPECT_EQ(sched_getaffinity(0, sizeof usable, &usable), 0);
  unsigned number = 0;
  while (!CPU_ISSET(number, &usable)) ++number;
  return number;
}

TEST(Processors, AreReadSortedAndOnce) {
  EXPECT_THAT(*parse_processors("0"), ElementsAre(0));
  EXPECT_THAT(*parse_processors("6,0-3,2"), ElementsAre(0, 1, 2, 3, 6));
  EXPECT_EQ(processors_text({0, 1, 2, 3, 6, 8, 9}), "0-3,6,8-9");
  EXPECT_EQ(processors_text({}), "");
}

TEST(Processors, WhatIsNoListIsRefused) {
  for (const char* wrong : {"", ",", "0,", "3-1", "-1", "1-", "x", "0-4000000000", "1024", " 0"}) {
    const auto read = parse_processors(wrong);
    ASSERT_FALSE(read) << wrong;
    EXPECT_THAT(read.error().text, HasSubstr("such as 0 or 0,2-3"));
  }
}

TEST(Processors, OneThatIsNotThereIsRefusedWithTheOptionsName) {
  ExperimentOptions options;
  const auto set = set_option(options, "load-cpus", {"1023"});
  ASSERT_FALSE(set);
  EXPECT_THAT(set.error().text, HasSubstr("--load-cpus: processor 1023 is none"));
}

TEST(Processors, AChildKeepsToThem) {
  const testing_support::TempDir folder;
  const unsigned number = usable_processor();
  const std::string out = folder / "said";
  ChildOptions options{{"/bin/sh", "-c", "grep Cpus_allowed_list /proc/self/status >&2"}, out, out};
  options.processors = {number};
  auto child = ChildProcess::start(options);
  ASSERT_TRUE(child) << child.error().text;
  EXPECT_EQ(ChildWaiter::wait({&*child}, nullptr, std::chrono::seconds(30)),
            ChildWaiter::Event::kChildEnded);
  child->stop();
  std::ifstream in(out);
  const std::string said(std::istreambuf_iterator<char>(in), {});
  EXPECT_EQ(said, "Cpus_allowed_list:\t" + std::to_string(number) + "\n");
}

}  // namespace
}  // namespace workload
