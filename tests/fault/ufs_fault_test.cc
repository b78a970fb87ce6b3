// A ufs store whose file operations fail one after the other.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "tests/support/pattern.h"
#include "tests/support/ufs_under_test.h"

namespace testing_support {
namespace {

using storage::Errc;
using storage::Error;

// Objects say by their metadata which body they have: "ID SIZE anything". So any mixture of a
// version's metadata with another's body is seen.
StoredObject versioned(uint64_t id, size_t size, const std::string& more = "") {
  return StoredObject(std::to_string(id) + " " + std::to_string(size) + " " + more,
                      pattern_body(id, size));
}

void expect_matches_itself(const StoredObject& object) {
  const size_t blank = object.metadata.find(' ');
  const uint64_t id = std::stoull(object.metadata);
  const size_t size = std::stoull(object.metadata.substr(blank));
  ASSERT_EQ(object.body.size(), size);
  ASSERT_TRUE(matches_pattern(id, 0, std::as_bytes(std::span(object.body))));
}

// A sequence of changes whose results are known. What a failed operation leaves is not, so from
// then on only the object's truth about itself can be checked.
class Scenario {
 public:
  explicit Scenario(UfsUnderTest& store) : store_(store) {}

  void run() {
    put("small", versioned(1, 3000));
    put("large", versioned(2, 100'000));
    put("empty", versioned(3, 0));
    check_all();
    put("large", versioned(4, 50'000), BodySize::kUnknown);
    update("small", versioned(1, 3000, "updated"));
    update("large", versioned(4, 50'000, std::string(5000, 'x')));
    check_all();
    remove("small");
    put("small", versioned(5, 20'000));
    remove("empty");
    check_all();
  }

  void check_all() {
    for (const auto& [key, wanted] : wanted_) {
      const auto found = store_.get(key);
      if (found.has_value()) expect_matches_itself(*found);
      if (unsure_.contains(key)) continue;
      if (found.has_error() && store_.plan.failures > 0) {
        unsure_.insert(key);  // a failed read may have cost the object
      } else if (wanted) {
        ASSERT_TRUE(found.has_value()) << key << ": " << to_string(found.error());
        EXPECT_TRUE(*found == *wanted) << key;
      } else {
        EXPECT_EQ(found.error(), Error(Errc::kNotFound)) << key;
      }
    }
  }

 private:
  void put(const std::string& key, const StoredObject& object, BodySize size = BodySize::kKnown) {
    note(key, store_.put(key, object, size), object);
  }
  void update(const std::string& key, const StoredObject& object) {
    // The metadata names a body: it must not meet another one that a failed put has left.
    if (unsure_.contains(key)) return;
    note(key, store_.update(key, object.metadata), object);
  }
  void remove(const std::string& key) { note(key, store_.remove(key), std::nullopt); }

  void note(const std::string& key, const storage::Result<void>& result,
            const std::optional<StoredObject>& outcome) {
    if (result.has_error()) {
      EXPECT_GT(store_.plan.failures, 0u) << key << ": " << to_string(result.error());
      unsure_.insert(key);
    } else {
      unsure_.erase(key);
    }
    wanted_[key] = outcome;
  }

  UfsUnderTest& store_;
  std::map<std::string, std::optional<StoredObject>> wanted_;
  std::set<std::string> unsure_;
};

void expect_space_is_accounted_for(UfsUnderTest& store) {
  EXPECT_EQ(store.count("reserved_bytes"), 0);
  EXPECT_EQ(store.count("size_bytes") + store.count("unremovable_bytes"),
            static_cast<double>(store.allocated_bytes()));
  EXPECT_TRUE(store.files(true).empty()) << "a temporary file is left";
}

class UfsFault : public ::testing::TestWithParam<Error> {};

INSTANTIATE_TEST_SUITE_P(Errors, UfsFault,
                         ::testing::Values(Error(Errc::kIo, 5), Error(Errc::kNoSpace, 28),
                                           Error(Errc::kOverloaded, 24)),
                         [](const auto& tested) { return storage::name_of(tested.param.code); });

TEST_P(UfsFault, EachOperationFailsInTurnAndNothingIsWrongOrLost) {
  bool passed_without_failure = false;
  for (uint64_t n = 0; !passed_without_failure && n < 2000; ++n) {
    SCOPED_TRACE("operation " + std::to_string(n) + " fails");
    UfsUnderTest store;
    ASSERT_TRUE(store.start().has_value());
    store.plan.operations = 0;
    store.plan.fail_at = n;
    store.plan.error = GetParam();
    Scenario scenario(store);
    scenario.run();
    if (HasFatalFailure()) return;
    passed_without_failure = store.plan.failures == 0;
    store.plan.fail_at.reset();
    // What could not be removed at first is removed by a later change.
    ASSERT_TRUE(store.put("later", versioned(6, 10)).has_value());
    ASSERT_TRUE(store.remove("later").has_value());
    store.run_the_rest();
    expect_space_is_accounted_for(store);

    ASSERT_TRUE(store.stop().has_value());
    const auto report = store.start();
    ASSERT_TRUE(report.has_value());
    EXPECT_TRUE(report->clean);
    EXPECT_EQ(report->size_bytes, store.allocated_bytes());
    EXPECT_EQ(report->objects, store.files().size());
    scenario.check_all();
    if (HasFatalFailure()) return;
    expect_space_is_accounted_for(store);
  }
  EXPECT_TRUE(passed_without_failure);
}

TEST_P(UfsFault, StartAndStopFailCleanlyOrNotAtAll) {
  bool passed_without_failure = false;
  for (uint64_t n = 0; !passed_without_failure && n < 500; ++n) {
    SCOPED_TRACE("operation " + std::to_string(n) + " fails");
    UfsUnderTest store;
    ASSERT_TRUE(store.start().has_value());
    for (uint64_t i = 0; i < 5; ++i) {
      ASSERT_TRUE(store.put(std::to_string(i), versioned(i, 10'000)).has_value());
    }
    store.plan.operations = 0;
    store.plan.fail_at = n;
    store.plan.error = GetParam();
    const bool stopped = store.stop().has_value();
    bool started = store.start().has_value();  // from a clean log, where that could be written
    if (started) {
      ASSERT_TRUE(store.stop(storage::StopMode::kAbandon).has_value());
      started = store.start().has_value();  // from a dirty one
    }
    passed_without_failure = store.plan.failures == 0;
    EXPECT_TRUE((stopped && started) || store.plan.failures > 0);
    store.plan.fail_at.reset();
    const auto report = store.start();
    ASSERT_TRUE(report.has_value()) << to_string(report.error());
    // A full disk may cost the oldest object, for the room that the log of a clean stop needs.
    const uint64_t least = GetParam().code == Errc::kNoSpace ? 4 : 5;
    EXPECT_GE(report->objects, least);
    EXPECT_EQ(report->size_bytes, store.allocated_bytes());
    for (uint64_t i = 5 - least; i < 5; ++i) {
      const auto found = store.get(std::to_string(i));
      ASSERT_TRUE(found.has_value()) << i;
      EXPECT_TRUE(*found == versioned(i, 10'000));
    }
  }
  EXPECT_TRUE(passed_without_failure);
}

TEST(UfsFaults, AFullDiskCostsObjectsAndNoFailures) {
  UfsUnderTest store(8 << 20);
  ASSERT_TRUE(store.start().has_value());
  store.plan.disk_size_bytes = 1 << 20;  // an eighth of what the store thinks it has
  for (uint64_t i = 0; i < 300; ++i) {
    const size_t size = 1000 + i * 157 % 60'000;
    const auto stored = store.put(std::to_string(i), versioned(i, size));
    ASSERT_TRUE(stored.has_value()) << i << ": " << to_string(stored.error());
    const auto found = store.get(std::to_string(i));
    ASSERT_TRUE(found.has_value()) << i;
    expect_matches_itself(*found);
  }
  EXPECT_GT(store.count("disk_full_total"), 0);
  EXPECT_GT(store.count("evictions_total"), 0);
  expect_space_is_accounted_for(store);
}

TEST(UfsFaults, ADiskFilledByOthersIsNoSpaceUntilThereIsSomeAgain) {
  UfsUnderTest store;
  ASSERT_TRUE(store.start().has_value());
  store.plan.disk_size_bytes = 0;
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(store.put("key", versioned(1, 5000)).error().code, Errc::kNoSpace);
    EXPECT_EQ(store.get("key").error().code, Errc::kNotFound);
  }
  store.run_the_rest();
  EXPECT_GE(store.count("disk_full_total"), 3);
  expect_space_is_accounted_for(store);
  store.plan.disk_size_bytes.reset();
  ASSERT_TRUE(store.put("key", versioned(1, 5000)).has_value());
  EXPECT_TRUE(store.get("key").has_value());
}

TEST(UfsFaults, AFullDiskStillGetsACleanLog) {
  UfsUnderTest store;
  ASSERT_TRUE(store.start().has_value());
  for (uint64_t i = 0; i < 30; ++i) {
    ASSERT_TRUE(store.put(std::to_string(i), versioned(i, 2000)).has_value());
  }
  store.plan.disk_size_bytes = store.plan.disk_used_bytes();
  ASSERT_TRUE(store.stop().has_value());
  store.plan.disk_size_bytes.reset();
  const auto report = store.start();
  ASSERT_TRUE(report.has_value());
  EXPECT_TRUE(report->clean);
  EXPECT_LT(report->objects, 30u);
  EXPECT_GE(report->objects, 20u);
  EXPECT_EQ(report->objects, store.files().size());
  EXPECT_TRUE(store.get("29").has_value()) << "the last used stay";
}

TEST(UfsFaults, TooManyOpenFilesIsOverloadAndCostsNoObject) {
  UfsUnderTest store;
  ASSERT_TRUE(store.start().has_value());
  ASSERT_TRUE(store.put("key", versioned(1, 5000)).has_value());
  store.plan.error = Error(Errc::kOverloaded, 24);
  store.plan.fail_always = {IoOperation::kOpen, IoOperation::kCreate};
  EXPECT_EQ(store.get("key").error().code, Errc::kOverloaded);
  EXPECT_EQ(store.put("other", versioned(2, 5000)).error().code, Errc::kOverloaded);
  EXPECT_EQ(store.update("key", "1 5000 new").error().code, Errc::kOverloaded);
  store.plan.fail_always.clear();
  EXPECT_TRUE(*store.get("key") == versioned(1, 5000));
}

TEST(UfsFaults, AnUpdateThatFailsLeavesTheOldMetadataOrTheNew) {
  UfsUnderTest store;
  ASSERT_TRUE(store.start().has_value());
  for (const size_t room : {size_t{10}, size_t{10'000}}) {  // in place, and by rewriting
    ASSERT_TRUE(store.put("key", versioned(1, 50'000)).has_value());
    store.plan.fail_always = {IoOperation::kWrite};
    const std::string padding(room, 'x');
    EXPECT_TRUE(store.update("key", "1 50000 " + padding).has_error());
    store.plan.fail_always.clear();
    const auto found = store.get("key");
    ASSERT_TRUE(found.has_value());
    EXPECT_TRUE(*found == versioned(1, 50'000) || *found == versioned(1, 50'000, padding));
  }
  ASSERT_TRUE(store.update("key", "1 50000 new").has_value());
  EXPECT_EQ(store.get("key")->metadata, "1 50000 new");
}

TEST(UfsFaults, WhatCannotBeRemovedCountsUntilItIs) {
  UfsUnderTest store(1 << 20);
  ASSERT_TRUE(store.start().has_value());
  for (uint64_t i = 0; i < 10; ++i) {
    ASSERT_TRUE(store.put(std::to_string(i), versioned(i, 50'000)).has_value());
  }
  store.plan.fail_always = {IoOperation::kUnlink};
  for (uint64_t i = 0; i < 10; ++i) {
    EXPECT_EQ(store.remove(std::to_string(i)).error().code, Errc::kIo);
    EXPECT_EQ(store.get(std::to_string(i)).error().code, Errc::kNotFound);
  }
  EXPECT_EQ(store.count("unremovable_bytes"), static_cast<double>(store.allocated_bytes()));
  EXPECT_GE(store.allocated_bytes(), 500'000u);
  // The space is not there, whatever is tried.
  EXPECT_EQ(store.put("big", versioned(77, 260'000)).has_value(), true);
  EXPECT_EQ(store.put("bigger", versioned(78, 262'000)).error().code, Errc::kNoSpace);
  store.plan.fail_always.clear();
  for (uint64_t i = 0; i < 12; ++i) {
    ASSERT_TRUE(store.put("x", versioned(i, 100)).has_value());
  }
  expect_space_is_accounted_for(store);
  EXPECT_EQ(store.count("unremovable_bytes"), 0);
}

TEST(UfsFaults, OfTwoVersionsThatACrashLeavesTheNewerCounts) {
  for (const bool with_log : {true, false}) {
    UfsUnderTest store;
    ASSERT_TRUE(store.start().has_value());
    ASSERT_TRUE(store.put("key", versioned(1, 50'000)).has_value());
    store.plan.fail_always = {IoOperation::kUnlink};
    ASSERT_TRUE(store.put("key", versioned(2, 10'000)).has_value());
    // With enough records both are in the log, else neither is.
    for (uint64_t i = 0; with_log && i < 100; ++i) {
      ASSERT_TRUE(store.put(std::to_string(i), versioned(i, 10)).has_value());
    }
    EXPECT_EQ(store.files().size(), with_log ? 102u : 2u);
    ASSERT_TRUE(store.stop(storage::StopMode::kAbandon).has_value());
    store.plan.fail_always.clear();
    const auto report = store.start();
    ASSERT_TRUE(report.has_value());
    EXPECT_EQ(report->dropped_stray, 1u);
    EXPECT_TRUE(*store.get("key") == versioned(2, 10'000));
    expect_space_is_accounted_for(store);
  }
}

TEST(UfsFaults, ALogThatCannotBeWrittenFailsNothing) {
  UfsUnderTest store(64 << 20);
  ASSERT_TRUE(store.start().has_value());
  // More records than are gathered before they are written.
  for (uint64_t i = 0; i < 200; ++i) {
    ASSERT_TRUE(store.put(std::to_string(i), versioned(i, 10)).has_value());
    if (i == 50) {  // as an administrator might
      std::filesystem::remove(store.folder() / "swap.log");
    }
  }
  const auto report = store.start();
  ASSERT_TRUE(report.has_value());
  EXPECT_FALSE(report->clean);
  EXPECT_EQ(report->objects, 200u);
}

}  // namespace
}  // namespace testing_support
