// Runs every fuzz target on its seeds and on a fixed set of mutations of them, so that each build,
// whatever the compiler, tests what the fuzzers test.
#include <gtest/gtest.h>

#include <string>

#include "tests/fuzz/proxy/targets.h"

namespace testing_support {
namespace {

class MutatedSeeds : public testing::TestWithParam<FuzzTarget> {};

TEST_P(MutatedSeeds, KeepTheProperties) {
  ASSERT_FALSE(GetParam().seeds.empty());
  run_mutated_seeds(GetParam());
}

INSTANTIATE_TEST_SUITE_P(All, MutatedSeeds, testing::ValuesIn(fuzz_targets()),
                         [](const auto& tested) { return std::string(tested.param.name); });

}  // namespace
}  // namespace testing_support
