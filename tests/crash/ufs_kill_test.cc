// A process that writes to a ufs store is killed at any moment, again and again.
#include <gtest/gtest.h>

#include "tests/crash/committed_survives.h"
#include "tests/crash/crash_rounds.h"
#include "tests/support/ufs_under_test.h"

namespace testing_support {
namespace {

KilledStore<UfsUnderTest> ufs_on(const std::string& engine) {
  KilledStore<UfsUnderTest> how;
  how.name = engine;
  how.start = [](UfsUnderTest& store) { return store.start(); };
  how.twin = [](UfsUnderTest& store) {
    auto twin =
        std::make_unique<UfsUnderTest>(store.spec().capacity_bytes, 16 * 1024, store.folder());
    twin->engine = store.engine;
    return twin;
  };
  how.check_recovery = [](UfsUnderTest& store, const storage::RecoveryReport& recovery) {
    EXPECT_EQ(recovery.dropped_damaged, 0u);
    EXPECT_EQ(recovery.size_bytes, store.allocated_bytes());
    EXPECT_EQ(recovery.objects, store.files().size());
    EXPECT_LE(recovery.size_bytes, store.spec().capacity_bytes);
    EXPECT_TRUE(store.files(true).empty()) << "an unfinished file is left";
    EXPECT_EQ(store.count("dropped_objects_total", "reason=\"missing\""), 0);
  };
  return how;
}

class UfsKill : public ::testing::TestWithParam<std::string> {
 protected:
  void kill(uint64_t capacity_bytes, uint64_t seed, bool evicting) {
    UfsUnderTest store(capacity_bytes);
    store.engine = UfsUnderTest::engine_named(GetParam());
    kill_again_and_again(store, ufs_on(GetParam()), crash_rounds(), seed, evicting);
  }
};

INSTANTIATE_TEST_SUITE_P(Engines, UfsKill, ::testing::ValuesIn(engines_of_ufs()),
                         [](const auto& tested) { return tested.param; });

TEST_P(UfsKill, WhatWasCommittedIsThereAndWholeAndWhatWasRemovedIsNot) {
  kill(256 << 20, test_seed(1), false);
}

TEST_P(UfsKill, AStoreThatEvictsIsWholeToo) {
  kill(400 << 10, test_seed(2), true);
}

}  // namespace
}  // namespace testing_support
