// A coss store on an engine that fails: nothing wrong is ever served, and it goes on.
#include <gtest/gtest.h>

#include <sstream>

#include "storage/base/random.h"
#include "tests/support/coss_under_test.h"
#include "tests/support/durable_history.h"
#include "tests/support/effort.h"
#include "tests/support/pattern.h"
#include "tests/support/seed.h"

namespace testing_support {
namespace {

using storage::Errc;
using storage::Error;
using storage::StopMode;

constexpr size_t kSize = 12'000;

std::string key_of(uint64_t number) {
  return "key " + std::to_string(number);
}

// The metadata names version and size, so that nothing can pass for anything else.
StoredObject versioned(uint64_t version, size_t size = kSize) {
  return StoredObject(std::to_string(version) + " " + std::to_string(size) + " ",
                      pattern_body(version, size));
}

uint64_t verified_version(const StoredObject& object) {
  uint64_t version = 0;
  size_t size = 0;
  std::istringstream(object.metadata) >> version >> size;
  EXPECT_EQ(object.body.size(), size);
  EXPECT_TRUE(matches_pattern(version, 0, std::as_bytes(std::span(object.body))));
  return version;
}

TEST(CossFaults, AnyOneFailureCostsNoMoreThanObjects) {
  bool passed_without_failure = false;
  for (uint64_t fail_at = 0; !passed_without_failure && fail_at < 200; ++fail_at) {
    SCOPED_TRACE(fail_at);
    CossUnderTest store(1 << 20);
    store.plan.refuse_direct = true;  // the page cache is quicker
    store.plan.fail_at = fail_at;
    const auto started = store.start();
    std::map<uint64_t, uint64_t> stored;
    if (started.has_value()) {
      for (uint64_t i = 0; i < 150; ++i) {
        const uint64_t key = i % 90;
        if (store.put(key_of(key), versioned(i)).has_value()) stored[key] = i;
        if (i % 10 == 3) {
          static_cast<void>(store.remove(key_of(key / 2)));
          stored.erase(key / 2);
        }
        const auto found = store.get(key_of(i * 7 % 90));
        if (found.has_value()) {
          EXPECT_EQ(verified_version(*found), stored[i * 7 % 90]);
        }
      }
      static_cast<void>(store.stop());
    }
    passed_without_failure = store.plan.failures == 0;
    EXPECT_TRUE(started.has_value() || store.plan.failures > 0);
    store.plan.fail_at.reset();
    ASSERT_TRUE(store.start().has_value());
    for (uint64_t key = 0; key < 90; ++key) {
      const auto found = store.get(key_of(key));
      if (found.has_value()) {
        verified_version(*found);
      }
    }
    ASSERT_TRUE(store.put("new", versioned(5)).has_value());
    EXPECT_TRUE(*store.get("new") == versioned(5));
  }
  EXPECT_TRUE(passed_without_failure);
}

TEST(CossFaults, AStripeThatCannotBeWrittenLosesOnlyItself) {
  CossUnderTest store;
  ASSERT_TRUE(store.start().has_value());
  for (uint64_t i = 0; i < 20; ++i) ASSERT_TRUE(store.put(key_of(i), versioned(i)).has_value());
  store.run_the_rest();
  store.plan.fail_always = {IoOperation::kWrite};
  for (uint64_t i = 20; i < 30; ++i) ASSERT_TRUE(store.put(key_of(i), versioned(i)).has_value());
  store.run_the_rest();
  store.plan.fail_always.clear();
  for (uint64_t i = 30; i < 50; ++i) ASSERT_TRUE(store.put(key_of(i), versioned(i)).has_value());
  store.run_the_rest();
  uint64_t missing = 0;
  for (uint64_t i = 0; i < 50; ++i) {
    const auto found = store.get(key_of(i));
    missing += found.has_error() ? 1 : 0;
    if (found.has_error()) {
      EXPECT_TRUE(i >= 15 && i < 30) << i;
    }
  }
  EXPECT_GE(missing, 5u);
  EXPECT_LE(missing, 10u);
  EXPECT_GE(store.count("stripe_write_errors_total"), 1);
  EXPECT_EQ(store.count("dropped_objects_total", "reason=\"unwritten\""),
            static_cast<double>(missing));
  ASSERT_TRUE(store.stop().has_value());
  ASSERT_TRUE(store.start().has_value());
  EXPECT_EQ(store.count("objects"), static_cast<double>(50 - missing));
}

TEST(CossFaults, WhatALostStripeReplacedAndWasThenRemovedStaysAway) {
  CossUnderTest store;
  ASSERT_TRUE(store.start().has_value());
  const auto fill = [&](const std::string& name) {
    for (uint64_t i = 0; i < 8; ++i) {
      ASSERT_TRUE(store.put(name + key_of(i), versioned(i)).has_value());
    }
    store.run_the_rest();
  };
  ASSERT_TRUE(store.put("key", versioned(1)).has_value());
  fill("first ");
  store.plan.fail_always = {IoOperation::kWrite};
  ASSERT_TRUE(store.put("key", versioned(2)).has_value());
  fill("second ");
  store.plan.fail_always.clear();
  ASSERT_EQ(store.get("key").error(), Errc::kNotFound);
  ASSERT_TRUE(store.remove("key").has_value());
  fill("third ");
  fill("fourth ");
  store.crash();
  ASSERT_TRUE(store.start().has_value());
  EXPECT_EQ(store.get("key").error(), Errc::kNotFound) << "the first version is back";
}

TEST(CossFaults, AReadThatFailsIsAFailureAndThenAMiss) {
  CossUnderTest store;
  ASSERT_TRUE(store.start().has_value());
  for (uint64_t i = 0; i < 20; ++i) ASSERT_TRUE(store.put(key_of(i), versioned(i)).has_value());
  ASSERT_TRUE(store.put("long", versioned(50, 60'000)).has_value());
  for (uint64_t i = 20; i < 30; ++i) ASSERT_TRUE(store.put(key_of(i), versioned(i)).has_value());
  store.run_the_rest();
  auto reader = store.open("long");
  ASSERT_TRUE(reader.has_value());
  store.plan.fail_always = {IoOperation::kRead};
  EXPECT_EQ(store.get(key_of(0)).error().code, Errc::kIo);
  EXPECT_EQ(store.get(key_of(0)).error().code, Errc::kNotFound);
  EXPECT_EQ(store.run((*reader)->read(50'000, 100)).error().code, Errc::kIo);
  EXPECT_EQ(store.run((*reader)->read(50'000, 100)).error().code, Errc::kIo);
  store.plan.fail_always.clear();
  EXPECT_EQ(store.get("long").error().code, Errc::kNotFound);
  EXPECT_EQ(store.count("dropped_objects_total", "reason=\"unreadable\""), 2);
  EXPECT_TRUE(*store.get(key_of(1)) == versioned(1));
}

TEST(CossFaults, ReadersKeepTheirStripeWhileTheLogGoesRound) {
  CossUnderTest store(1 << 20);
  ASSERT_TRUE(store.start().has_value());
  ASSERT_TRUE(store.put("key", versioned(1, 60'000)).has_value());
  for (uint64_t i = 0; i < 10; ++i) ASSERT_TRUE(store.put(key_of(i), versioned(i)).has_value());
  store.run_the_rest();
  auto reader = store.open("key");
  ASSERT_TRUE(reader.has_value());
  for (uint64_t i = 0; i < 300; ++i) {
    ASSERT_TRUE(store.put(key_of(i), versioned(i)).has_value());
    store.run_the_rest();
  }
  EXPECT_GE(store.count("stripes_skipped_total", "reason=\"being_read\""), 1);
  EXPECT_EQ(store.get("key").error(), Errc::kNotFound);
  EXPECT_TRUE(*store.run(read_body(**reader)) == pattern_body(1, 60'000));
}

TEST(CossFaults, ADrainFinishesWhatWaitsForRoomAndAnAbandonGivesItUp) {
  for (const StopMode mode : {StopMode::kDrain, StopMode::kAbandon}) {
    CossUnderTest store;
    store.spec().options["membufs"] = "3";
    ASSERT_TRUE(store.start().has_value());
    auto writer =
        store.run(store.scheme().create(storage::Key("late"), storage::Metadata(), kSize));
    ASSERT_TRUE(writer.has_value());
    ASSERT_TRUE(store.run(append_body(**writer, pattern_body(7, kSize))).has_value());
    store.gate.hold(IoOperation::kWrite, Gate::Side::kBefore, 1000);
    for (uint64_t i = 0; store.put(key_of(i), versioned(i)).has_value();) ++i;
    auto committing = spawn_task(store.io(), (*writer)->commit());
    store.run_what_can();
    ASSERT_FALSE(committing.ended());
    auto stopping = spawn_task(store.io(), store.scheme().stop(mode));
    store.run_what_can();
    EXPECT_EQ(committing.ended(), mode == StopMode::kAbandon);
    store.gate.release_all();
    const auto committed = committing.finish();
    ASSERT_TRUE(stopping.finish().has_value());
    writer = storage::Error(Errc::kNotFound);
    ASSERT_TRUE(store.start().has_value());
    if (mode == StopMode::kDrain) {
      EXPECT_TRUE(committed.has_value());
      EXPECT_EQ(store.get("late")->body, pattern_body(7, kSize));
    } else {
      EXPECT_EQ(committed.error(), Errc::kStopped);
      EXPECT_EQ(store.get("late").error(), Errc::kNotFound);
    }
  }
}

TEST(CossFaults, ACommitThatIsCancelledWhileItWaitsPublishesNothing) {
  CossUnderTest store;
  store.spec().options["membufs"] = "3";
  ASSERT_TRUE(store.start().has_value());
  auto writer = store.run(store.scheme().create(storage::Key("late"), storage::Metadata(), kSize));
  ASSERT_TRUE(writer.has_value());
  ASSERT_TRUE(store.run(append_body(**writer, pattern_body(7, kSize))).has_value());
  store.gate.hold(IoOperation::kWrite, Gate::Side::kBefore, 1000);
  for (uint64_t i = 0; store.put(key_of(i), versioned(i)).has_value();) ++i;
  auto committing = spawn_task(store.io(), (*writer)->commit());
  store.run_what_can();
  committing.cancel();
  EXPECT_EQ(committing.finish().error(), Errc::kAborted);
  writer = storage::Error(Errc::kNotFound);
  EXPECT_EQ(store.count("draft_bytes"), 0);
  store.gate.release_all();
  store.run_the_rest();
  EXPECT_EQ(store.get("late").error(), Errc::kNotFound);
  ASSERT_TRUE(store.stop().has_value());
}

// One run of a store on a disk that writes several stripes at once, in any order, until nothing
// reaches it any more.
class CrashingRun {
 public:
  CrashingRun(CossUnderTest& store, storage::Random& random, DurableHistory& history,
              uint64_t& version)
      : store_(store), random_(random), history_(history), version_(version) {}

  void work(uint64_t operations) {
    for (uint64_t i = 0; i < operations; ++i) operate();
  }

 private:
  void operate() {
    const uint64_t key = random_.below(30);
    const uint64_t what = random_.below(10);
    ++version_;
    if (what < 5) {
      if (store_.put(key_of(key), versioned(version_, random_.below(20'000)))) note(key, version_);
    } else if (what < 6) {
      if (store_.remove(key_of(key))) note(key, std::nullopt);
    } else if (what < 7) {
      const auto found = store_.get(key_of(key));
      if (found.has_error()) return;
      // The body stays that of an older version, so this one is told by the padding.
      if (store_.update(key_of(key), found->metadata + ".")) {
        note(key, verified_version(*found));
      }
    } else {
      const auto found = store_.get(key_of(key));
      if (found.has_value()) verified_version(*found);
    }
    if (store_.count("stripes_in_flight") == 0) {
      history_.settle(static_cast<uint64_t>(store_.count("stripes_written_total")));
    }
  }
  void note(uint64_t key, std::optional<uint64_t> version) {
    // The stripe that is being filled; a removal may have had no room in it.
    const double stripe = store_.count("stripes_written_total") +
                          store_.count("stripes_in_flight") + (version ? 1 : 2);
    history_.note(key, version, static_cast<uint64_t>(stripe));
  }

  CossUnderTest& store_;
  storage::Random& random_;
  DurableHistory& history_;
  uint64_t& version_;
};

// `evicting`: an object may also have gone because the log has overwritten it.
void crash_again_and_again(uint64_t capacity_bytes, uint64_t seed, bool evicting) {
  SCOPED_TRACE(seed_trace(seed));
  storage::Random random(seed);
  CossUnderTest store(capacity_bytes);
  store.plan.refuse_direct = true;  // the page cache is quicker
  store.plan.random = storage::Random(seed + 1);
  DurableHistory history;
  uint64_t version = 0;
  uint64_t found_count = 0;
  for (int round = 0; round < 25 && !::testing::Test::HasFailure(); ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    store.plan.yields_max = 40;
    ASSERT_TRUE(store.start().has_value());
    CrashingRun run(store, random, history, version);
    run.work(random.below(300));
    if (random.below(5) == 0) {
      ASSERT_TRUE(store.stop().has_value());
      history.settle_all();
    } else {
      // What is on its way now, and all that comes later, is torn.
      store.plan.fail_always = {IoOperation::kWrite};
    }
    store.crash();
    store.plan.fail_always.clear();
    store.plan.yields_max = 0;
    const auto report = store.start();
    ASSERT_TRUE(report.has_value());
    for (uint64_t key = 0; key < 30; ++key) {
      const auto found = store.get(key_of(key));
      std::optional<uint64_t> seen;
      if (found.has_value()) seen = verified_version(*found);
      found_count += seen ? 1 : 0;
      EXPECT_TRUE(history.allows(key, seen) || (evicting && !seen))
          << "key " << key << " is version " << seen.value_or(0);
      history.found(key, seen);
    }
    // A crash at once changes nothing.
    store.crash();
  }
  EXPECT_GT(found_count, 50u);
}

TEST(CossFaults, AfterAnyCrashEveryObjectIsAsItsLastDurableOperationLeftItOrLater) {
  const uint64_t seed = test_seed(1);
  for (uint64_t i = 0; i < effort(3, 1); ++i) crash_again_and_again(32 << 20, seed + i, false);
}

TEST(CossFaults, AfterAnyCrashOfAFullStoreNothingOldIsBack) {
  const uint64_t seed = test_seed(2);
  for (uint64_t i = 0; i < effort(6, 2); ++i)
    crash_again_and_again((512 + 128 * i) << 10, seed + i, true);
}

}  // namespace
}  // namespace testing_support
