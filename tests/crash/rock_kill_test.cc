// A process that writes to a rock store is killed at any moment, again and again.
#include <gtest/gtest.h>

#include "tests/crash/committed_survives.h"
#include "tests/crash/crash_rounds.h"
#include "tests/support/rock_under_test.h"

namespace testing_support {
namespace {

KilledStore<RockUnderTest> rock_on(const std::string& engine) {
  KilledStore<RockUnderTest> how;
  how.name = engine;
  how.start = [](RockUnderTest& store) { return store.start_on_its_engine(); };
  how.twin = [](RockUnderTest& store) {
    auto twin =
        std::make_unique<RockUnderTest>(store.spec().capacity_bytes, store.file().parent_path());
    twin->spec() = store.spec();
    return twin;
  };
  how.check_recovery = [](RockUnderTest&, const storage::RecoveryReport& recovery) {
    // A slot that the kill tore looks as a damaged one does; the child does one thing at a time.
    EXPECT_LE(recovery.dropped_damaged, 1u);
  };
  return how;
}

class RockKill : public ::testing::TestWithParam<std::string> {
 protected:
  void kill(uint64_t capacity_bytes, uint64_t seed, bool evicting) {
    RockUnderTest store(capacity_bytes);
    store.spec().options["engine"] = GetParam();
    kill_again_and_again(store, rock_on(GetParam()), crash_rounds(), seed, evicting);
  }
};

INSTANTIATE_TEST_SUITE_P(Engines, RockKill, ::testing::ValuesIn(engines_of_rock()),
                         [](const auto& tested) { return tested.param; });

TEST_P(RockKill, WhatWasCommittedIsThereAndWholeAndWhatWasRemovedIsNot) {
  kill(32 << 20, test_seed(1), false);
}

TEST_P(RockKill, AStoreThatEvictsIsWholeToo) {
  kill(600 << 10, test_seed(2), true);
}

}  // namespace
}  // namespace testing_support
