// A rock store on an engine that fails: nothing wrong is ever served, and it goes on.
#include <gtest/gtest.h>

#include <map>
#include <sstream>

#include "storage/base/random.h"
#include "tests/support/effort.h"
#include "tests/support/pattern.h"
#include "tests/support/rock_under_test.h"
#include "tests/support/seed.h"

namespace testing_support {
namespace {

using storage::Errc;
using storage::Error;
using storage::StopMode;

constexpr uint64_t kKeys = 30;

std::string key_of(uint64_t number) {
  return "key " + std::to_string(number);
}

// The metadata names version, body and size, so that nothing can pass for anything else.
StoredObject versioned(uint64_t version, size_t size) {
  std::ostringstream metadata;
  metadata << version << " " << version << " " << size << " ";
  return StoredObject(metadata.str(), pattern_body(version, size));
}

// The version of a stored object, after a look at every byte of it.
uint64_t verified_version(const StoredObject& object) {
  uint64_t version = 0;
  uint64_t body = 0;
  size_t size = 0;
  std::istringstream(object.metadata) >> version >> body >> size;
  EXPECT_EQ(object.body.size(), size);
  EXPECT_TRUE(matches_pattern(body, 0, std::as_bytes(std::span(object.body))));
  return version;
}

/// Operations on a store, and what must be true of each key: it is as the last operation that was
/// reported as done left it, or as a later one that was not.
class History {
 public:
  History(RockUnderTest& store, uint64_t seed, bool evicting)
      : store_(store), random_(seed), evicting_(evicting) {}

  void work(uint64_t operations) {
    for (uint64_t i = 0; i < operations && !::testing::Test::HasFailure(); ++i) operate();
  }
  /// After a start: all keys.
  void check_all() {
    for (uint64_t key = 0; key < kKeys; ++key) check(key, true);
  }
  uint64_t hits() const { return hits_; }

 private:
  struct Known {
    uint64_t done = 0;  // the last operation that was reported as done
    bool there = false;
    uint64_t failed = 0;  // the last one that was not, if it was later
  };

  void operate() {
    const uint64_t key = random_.below(kKeys);
    const uint64_t what = random_.below(10);
    ++version_;
    if (what < 4) {
      const size_t size = random_.below(3) == 0 ? random_.below(40'000) : random_.below(5000);
      const auto told = random_.below(2) == 0 ? BodySize::kKnown : BodySize::kUnknown;
      note(key, true, store_.put(key_of(key), versioned(version_, size), told).has_value());
    } else if (what < 5) {
      note(key, false, store_.remove(key_of(key)).has_value());
    } else if (what < 7) {
      update(key);
    } else {
      check(key, false);
    }
  }
  void update(uint64_t key) {
    const auto found = store_.get(key_of(key));
    if (found.has_error()) return;
    std::istringstream in(found->metadata);
    uint64_t version = 0;
    uint64_t body = 0;
    in >> version >> body;
    std::ostringstream metadata;
    metadata << version_ << " " << body << " " << found->body.size() << " "
             << std::string(random_.below(3) == 0 ? random_.below(9000) : 5, '.');
    const auto updated = store_.update(key_of(key), metadata.str());
    if (updated.has_error() && updated.error().code == Errc::kNotFound) return;
    note(key, true, updated.has_value());
  }
  void note(uint64_t key, bool there, bool done) {
    Known& known = known_[key];
    if (done) {
      known.done = version_;
      known.there = there;
    } else {
      known.failed = version_;
    }
  }
  void check(uint64_t key, bool restarted) {
    const auto found = store_.get(key_of(key));
    Known& known = known_[key];
    if (found.has_error()) {
      const bool lost = known.there && known.failed < known.done && !evicting_;
      EXPECT_TRUE(!lost || store_.plan.failures > 0) << "key " << key << " is lost";
      return;
    }
    ++hits_;
    const uint64_t version = verified_version(*found);
    if (known.there) {
      EXPECT_GE(version, known.done) << "key " << key << " is old";
    } else {
      EXPECT_GT(version, known.done) << "key " << key << " was removed";
    }
    EXPECT_LE(version, std::max(known.done, known.failed)) << "key " << key;
    if (!restarted) return;
    known.done = version;
    known.there = true;
    known.failed = 0;
  }

  RockUnderTest& store_;
  storage::Random random_;
  const bool evicting_;
  uint64_t version_ = 0;
  std::map<uint64_t, Known> known_;
  uint64_t hits_ = 0;
};

void fail_each_operation_in_turn(Error error, bool tear_writes, uint64_t step) {
  bool passed_without_failure = false;
  for (uint64_t fail_at = 0; !passed_without_failure && fail_at < 1500; fail_at += step) {
    SCOPED_TRACE("operation " + std::to_string(fail_at) + " fails");
    RockUnderTest store(256 << 10);
    store.plan.fail_at = fail_at;
    store.plan.error = error;
    store.plan.tear_writes = tear_writes;
    History history(store, 7, true);
    const auto started = store.start();
    EXPECT_TRUE(started.has_value() || store.plan.failures > 0);
    if (started.has_value()) {
      history.work(70);
      // Every other time as a crash would.
      if (fail_at / step % 2 == 0) static_cast<void>(store.stop());
    }
    passed_without_failure = store.plan.failures == 0;
    store.plan.fail_at.reset();
    ASSERT_TRUE(store.start().has_value());
    history.check_all();
    ASSERT_TRUE(store.put("new", versioned(5, 9000)).has_value());
    EXPECT_TRUE(*store.get("new") == versioned(5, 9000));
    if (::testing::Test::HasFailure()) return;
  }
  EXPECT_TRUE(passed_without_failure);
}

TEST(RockFaults, AnyOneIoErrorCostsNoMoreThanObjects) {
  fail_each_operation_in_turn(Error(Errc::kIo, EIO), true, 1);
}

TEST(RockFaults, AnyOneWriteThatFindsNoSpaceCostsNoMoreThanObjects) {
  fail_each_operation_in_turn(Error(Errc::kNoSpace, ENOSPC), true, 4);
}

TEST(RockFaults, AnyOneWriteThatIsSaidToHaveFailedAndHasNotDoneAnythingCostsNoMoreThanObjects) {
  fail_each_operation_in_turn(Error(Errc::kIo, EIO), false, 4);
}

TEST(RockFaults, AHeadSlotWhoseWriteFailedAndIsOnTheDiskAllTheSameDoesNotComeBack) {
  for (const bool removed : {false, true}) {
    RockUnderTest store;
    ASSERT_TRUE(store.start().has_value());
    ASSERT_TRUE(store.put("key", versioned(1, 100)).has_value());
    store.run_the_rest();
    // The first half of the slot, which is written, holds all of this object.
    store.plan.fail_at = store.plan.operations;
    ASSERT_EQ(store.put("key", versioned(2, 100)).error().code, Errc::kIo);
    EXPECT_TRUE(*store.get("key") == versioned(1, 100));
    if (removed) {
      ASSERT_TRUE(store.remove("key").has_value());
    }
    store.run_the_rest();
    store.crash();
    ASSERT_TRUE(store.start().has_value());
    if (removed) {
      EXPECT_EQ(store.get("key").error(), Errc::kNotFound);
    } else {
      EXPECT_TRUE(*store.get("key") == versioned(1, 100));
    }
  }
}

TEST(RockFaults, OfTwoVersionsThatACrashLeavesTheNewerIsKeptAndTheOtherNeverComesBack) {
  RockUnderTest store;
  ASSERT_TRUE(store.start().has_value());
  ASSERT_TRUE(store.put("key", versioned(1, 20'000)).has_value());
  store.run_the_rest();
  store.gate.hold(IoOperation::kWrite, Gate::Side::kAfter);
  auto putting = spawn_task(store.io(), store_object(store.scheme(), "key", versioned(2, 100)));
  store.run_what_can();
  ASSERT_EQ(store.gate.held(), 1u);
  const std::string image = store.image();
  store.gate.release_all();
  ASSERT_TRUE(putting.finish().has_value());
  store.crash();
  store.write_image(image);
  const auto report = store.start();
  ASSERT_TRUE(report.has_value());
  EXPECT_EQ(report->dropped_stray, 1u);
  EXPECT_EQ(report->objects, 1u);
  EXPECT_TRUE(*store.get("key") == versioned(2, 100));
  ASSERT_TRUE(store.remove("key").has_value());
  store.crash();
  ASSERT_TRUE(store.start().has_value());
  EXPECT_EQ(store.get("key").error(), Errc::kNotFound);
}

TEST(RockFaults, ARemovalThatCannotBeWrittenIsAFailureUntilItCan) {
  RockUnderTest store;
  ASSERT_TRUE(store.start().has_value());
  ASSERT_TRUE(store.put("key", versioned(1, 100)).has_value());
  store.plan.fail_always = {IoOperation::kWrite};
  store.plan.tear_writes = false;
  EXPECT_EQ(store.remove("key").error().code, Errc::kIo);
  EXPECT_EQ(store.get("key").error(), Errc::kNotFound);
  EXPECT_EQ(store.remove("key").error().code, Errc::kIo);
  EXPECT_EQ(store.count("condemned_objects"), 1);
  store.plan.fail_always.clear();
  EXPECT_TRUE(store.remove("key").has_value());
  EXPECT_EQ(store.count("condemned_objects"), 0);
  store.crash();
  ASSERT_TRUE(store.start().has_value());
  EXPECT_EQ(store.get("key").error(), Errc::kNotFound);
}

TEST(RockFaults, AStopThatLeavesWhatCouldNotBeClearedIsNotClean) {
  RockUnderTest store;
  ASSERT_TRUE(store.start().has_value());
  ASSERT_TRUE(store.put("key", versioned(1, 100)).has_value());
  ASSERT_TRUE(store.put("other", versioned(2, 100)).has_value());
  store.plan.fail_always = {IoOperation::kWrite};
  store.plan.tear_writes = false;
  EXPECT_TRUE(store.remove("key").has_error());
  EXPECT_TRUE(store.stop().has_error());
  store.plan.fail_always.clear();
  const auto report = store.start();
  ASSERT_TRUE(report.has_value());
  EXPECT_FALSE(report->clean);
  EXPECT_TRUE(*store.get("other") == versioned(2, 100));
}

TEST(RockFaults, OnADiskThatTakesNoWritesFewObjectsAreLost) {
  RockUnderTest store(1 << 20);
  ASSERT_TRUE(store.start().has_value());
  for (uint64_t i = 0; i < 400; ++i) ASSERT_TRUE(store.put(key_of(i), versioned(i, 100)));
  store.run_the_rest();
  const double before = store.count("objects");
  store.plan.fail_always = {IoOperation::kWrite};
  for (uint64_t i = 0; i < 20; ++i) {
    EXPECT_TRUE(store.put("new " + key_of(i), versioned(i, 100)).has_error());
  }
  store.run_the_rest();
  EXPECT_GE(store.count("objects"), before - 120);
  store.plan.fail_always.clear();
  for (uint64_t i = 0; i < 20; ++i) {
    const auto stored = store.put("new " + key_of(i), versioned(i, 100));
    EXPECT_TRUE(stored.has_value()) << to_string(stored.error());
  }
}

TEST(RockFaults, AReadThatFailsIsAFailureAndThenAMiss) {
  RockUnderTest store;
  ASSERT_TRUE(store.start().has_value());
  ASSERT_TRUE(store.put("short", versioned(1, 100)).has_value());
  ASSERT_TRUE(store.put("long", versioned(2, 60'000)).has_value());
  auto reader = store.open("long");
  ASSERT_TRUE(reader.has_value());
  store.plan.fail_always = {IoOperation::kRead};
  EXPECT_EQ(store.get("short").error().code, Errc::kIo);
  EXPECT_EQ(store.get("short").error().code, Errc::kNotFound);
  EXPECT_EQ(store.run((*reader)->read(50'000, 100)).error().code, Errc::kIo);
  EXPECT_EQ(store.run((*reader)->read(50'000, 100)).error().code, Errc::kIo);
  store.plan.fail_always.clear();
  EXPECT_EQ(store.get("long").error().code, Errc::kNotFound);
  EXPECT_EQ(store.count("dropped_objects_total", "reason=\"unreadable\""), 2);
}

// Writes that are on their way at the end are torn, in any order, again and again.
void crash_again_and_again(uint64_t capacity_bytes, uint64_t seed, bool evicting) {
  SCOPED_TRACE(seed_trace(seed));
  storage::Random random(seed);
  RockUnderTest store(capacity_bytes);
  store.plan.random = storage::Random(seed + 1);
  History history(store, seed + 2, evicting);
  ASSERT_TRUE(store.start().has_value());
  for (int round = 0; round < 25 && !::testing::Test::HasFailure(); ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    store.plan.yields_max = 20;
    history.work(random.below(200));
    if (random.below(5) == 0) {
      ASSERT_TRUE(store.stop().has_value());
    } else {
      store.plan.fail_always = {IoOperation::kWrite};
    }
    store.crash();
    store.plan.fail_always.clear();
    store.plan.failures = 0;
    store.plan.yields_max = 0;
    ASSERT_TRUE(store.start().has_value());
    history.check_all();
  }
  EXPECT_GT(history.hits(), 100u);
}

TEST(RockFaults, AfterAnyCrashEveryObjectIsAsItsLastOperationLeftIt) {
  const uint64_t seed = test_seed(1);
  for (uint64_t i = 0; i < effort(4, 1); ++i) crash_again_and_again(16 << 20, seed + i, false);
}

TEST(RockFaults, AfterAnyCrashOfAFullStoreNothingOldIsBack) {
  const uint64_t seed = test_seed(2);
  for (uint64_t i = 0; i < effort(6, 2); ++i)
    crash_again_and_again((150 + 40 * i) << 10, seed + i, true);
}

}  // namespace
}  // namespace testing_support
