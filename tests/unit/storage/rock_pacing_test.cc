#include "storage/layout/rock_pacing.h"

#include <gtest/gtest.h>

#include "tests/support/fake_clock.h"

namespace storage {
namespace {

using namespace std::chrono_literals;
using testing_support::FakeClock;

TEST(RockPacing, WithoutARateNothingWaits) {
  const FakeClock clock;
  RockPacing pacing(0, 0ms);
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(pacing.take_turn(clock.steady_now()), 0ns);
  EXPECT_TRUE(pacing.admits(clock.steady_now()));
}

TEST(RockPacing, TurnsAreOneIntervalApart) {
  const FakeClock clock;
  RockPacing pacing(100, 0ms);
  for (int i = 0; i < 50; ++i) EXPECT_EQ(pacing.take_turn(clock.steady_now()), i * 10ms);
}

TEST(RockPacing, TheRateHoldsOverAnyTimeWhateverTheArrivals) {
  FakeClock clock;
  RockPacing pacing(250, 0ms);
  const SteadyTime begin = clock.steady_now();
  SteadyTime last = begin;
  for (int i = 0; i < 2000; ++i) {
    if (i % 7 == 0) clock.advance(std::chrono::milliseconds(i % 40));
    last = std::max(last, clock.steady_now() + pacing.take_turn(clock.steady_now()));
  }
  // A pause may be made up for by 10 ms, and the first turn takes no time.
  EXPECT_GE(last - begin, 1999 * 4ms - 10ms);
}

TEST(RockPacing, APauseIsMadeUpForByTenMillisecondsAtMost) {
  FakeClock clock;
  RockPacing pacing(1000, 0ms);
  EXPECT_EQ(pacing.take_turn(clock.steady_now()), 0ns);
  clock.advance(10s);
  for (int i = 0; i < 11; ++i) EXPECT_EQ(pacing.take_turn(clock.steady_now()), 0ns) << i;
  EXPECT_EQ(pacing.take_turn(clock.steady_now()), 1ms);
}

TEST(RockPacing, WhatWouldWaitForTooLongInTheScheduleIsDeclinedUntilItIsShorter) {
  FakeClock clock;
  RockPacing pacing(100, 50ms);
  for (int i = 0; i < 5; ++i) {
    EXPECT_TRUE(pacing.admits(clock.steady_now()));
    pacing.take_turn(clock.steady_now());
  }
  EXPECT_EQ(pacing.expected_wait(clock.steady_now()), 50ms);
  EXPECT_TRUE(pacing.admits(clock.steady_now()));
  pacing.take_turn(clock.steady_now());
  EXPECT_FALSE(pacing.admits(clock.steady_now()));
  clock.advance(10ms);
  EXPECT_TRUE(pacing.admits(clock.steady_now()));
}

TEST(RockPacing, NothingIsAdmittedWhileTheOldestOperationHasWaitedForTooLong) {
  FakeClock clock;
  RockPacing pacing(0, 20ms);
  {
    const RockPacing::UnderWay first(pacing, clock.steady_now());
    clock.advance(15ms);
    const RockPacing::UnderWay second(pacing, clock.steady_now());
    EXPECT_TRUE(pacing.admits(clock.steady_now()));
    clock.advance(6ms);
    EXPECT_EQ(pacing.expected_wait(clock.steady_now()), 21ms);
    EXPECT_FALSE(pacing.admits(clock.steady_now()));
  }
  EXPECT_TRUE(pacing.admits(clock.steady_now()));
}

TEST(RockPacing, AVeryHighRateIsNoLimit) {
  const FakeClock clock;
  RockPacing pacing(10'000'000'000, 1ms);
  for (int i = 0; i < 100; ++i) EXPECT_LE(pacing.take_turn(clock.steady_now()), 100ns);
}

}  // namespace
}  // namespace storage
