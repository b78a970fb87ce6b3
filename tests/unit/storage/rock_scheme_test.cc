#include "storage/layout/rock_scheme.h"

#include <gtest/gtest.h>

#include "storage/layout/rock_options.h"
#include "tests/support/pattern.h"
#include "tests/support/rock_under_test.h"

namespace testing_support {
namespace {

using storage::Errc;

std::string error_of(RockUnderTest& store) {
  return storage::make_bare_scheme(store.spec(), store.environment()).error;
}

TEST(RockScheme, BadOptionsAreNamedInOneLine) {
  const std::vector<std::pair<std::string, std::string>> wrong = {
      {"slot-size", "5000"},  {"slot-size", "2K"},      {"slot-size", "2M"},
      {"max-object", "100G"}, {"max-object", "0"},      {"policy", "best"},
      {"free-slots", "-1"},   {"direct", "yes"},        {"max-swap-rate", "fast"},
      {"swap-timeout", "1s"}, {"engine", "steam"},      {"engine", "libaio"},
      {"threads", "0"},       {"free-slots", "1000000"}};
  for (const auto& [name, value] : wrong) {
    RockUnderTest store;
    store.spec().options[name] = value;
    const std::string error = error_of(store);
    EXPECT_NE(error.find(name + "=" + value), std::string::npos) << name << ": " << error;
    EXPECT_EQ(error.find('\n'), std::string::npos);
  }
  RockUnderTest store(64 << 10);
  store.spec().options["slot-size"] = "16K";
  EXPECT_NE(error_of(store).find("too small"), std::string::npos) << error_of(store);
}

TEST(RockScheme, ALimitedRateBringsABoundOfItsOwnOnWaiting) {
  const auto timeout_with = [](std::map<std::string, std::string> given) {
    RockUnderTest store;
    store.spec().options.merge(given);
    std::string error;
    const auto options = storage::parse_rock_options(store.spec(), error);
    EXPECT_EQ(error, "");
    return options.swap_timeout.count();
  };
  EXPECT_EQ(timeout_with({}), 0);
  EXPECT_EQ(timeout_with({{"max-swap-rate", "100"}}), 1000);
  EXPECT_EQ(timeout_with({{"max-swap-rate", "100"}, {"swap-timeout", "50"}}), 50);
  EXPECT_EQ(timeout_with({{"max-swap-rate", "100"}, {"swap-timeout", "0"}}), 0);
}

TEST(RockScheme, AStoreOfAnotherSlotSizeOrSchemeIsRefused) {
  RockUnderTest store;
  ASSERT_TRUE(store.start().has_value());
  ASSERT_TRUE(store.stop().has_value());
  store.crash();
  store.spec().options["slot-size"] = "8K";
  EXPECT_NE(error_of(store).find("was made with slot-size=4096"), std::string::npos);
  store.spec().scheme = "coss";
  store.spec().options.clear();
  EXPECT_NE(error_of(store).find("holds something else than a coss store"), std::string::npos);
}

TEST(RockScheme, OneSlotObjectsAreOneReadAndOneWrite) {
  RockUnderTest store;
  ASSERT_TRUE(store.start().has_value());
  const uint64_t before = store.plan.operations;
  ASSERT_TRUE(store.put("key", StoredObject("head", pattern_body(1, 2000))).has_value());
  EXPECT_EQ(store.plan.operations - before, 1u);
  ASSERT_TRUE(store.get("key").has_value());
  EXPECT_EQ(store.plan.operations - before, 2u);
}

TEST(RockScheme, SlotsThatLieSideBySideAreReadTogether) {
  RockUnderTest store;
  ASSERT_TRUE(store.start().has_value());
  ASSERT_TRUE(store.put("key", StoredObject("head", pattern_body(1, 60'000))).has_value());
  const uint64_t before = store.plan.operations;
  ASSERT_TRUE(store.get("key").has_value());
  // 16 slots, 4 of which a buffer holds.
  EXPECT_EQ(store.plan.operations - before, 4u);
}

TEST(RockScheme, AnUpdateLeavesTheBodyWhereItIs) {
  RockUnderTest store;
  ASSERT_TRUE(store.start().has_value());
  ASSERT_TRUE(store.put("key", StoredObject("head", pattern_body(1, 200'000))).has_value());
  const uint64_t before = store.plan.operations;
  ASSERT_TRUE(store.update("key", "tail").has_value());
  store.run_the_rest();
  EXPECT_EQ(store.plan.operations - before, 3u);  // a read, the new head, the old one cleared
  EXPECT_TRUE(*store.get("key") == StoredObject("tail", pattern_body(1, 200'000)));
}

TEST(RockScheme, WhatIsGivenUpRemovedAndReplacedGivesItsSlotsBack) {
  RockUnderTest store;
  ASSERT_TRUE(store.start().has_value());
  const double free_slots = store.count("free_slots");
  for (int round = 0; round < 20; ++round) {
    const std::string body = pattern_body(1, 5000 * round);
    ASSERT_TRUE(store.put("key", StoredObject("head", body)).has_value());
    ASSERT_TRUE(store.update("key", std::string(700 * round, 'm')).has_value());
    auto writer = store.run(
        store.scheme().create(storage::Key("other"), storage::Metadata("head"), std::nullopt));
    ASSERT_TRUE(writer.has_value());
    ASSERT_TRUE(store.run(append_body(**writer, body)).has_value());
  }
  ASSERT_TRUE(store.remove("key").has_value());
  store.run_the_rest();
  EXPECT_EQ(store.count("free_slots"), free_slots);
  EXPECT_EQ(store.count("slots_being_cleared"), 0);
}

TEST(RockScheme, SwapTimeoutDeclinesWhatWouldWaitForTooLong) {
  RockUnderTest store;
  store.spec().options["swap-timeout"] = "20";
  ASSERT_TRUE(store.start().has_value());
  ASSERT_TRUE(store.put("key", StoredObject("head", "body")).has_value());
  store.gate.hold(IoOperation::kRead, Gate::Side::kBefore);
  auto reading = spawn_task(store.io(), load_object(store.scheme(), "key"));
  store.run_what_can();
  ASSERT_EQ(store.gate.held(), 1u);
  EXPECT_TRUE(store.put("new", StoredObject("head", "body")).has_value());
  store.clock().advance(std::chrono::milliseconds(21));
  EXPECT_EQ(store.get("key").error(), Errc::kOverloaded);
  EXPECT_EQ(store.put("newer", StoredObject("head", "body")).error(), Errc::kOverloaded);
  EXPECT_EQ(store.count("overloads_total", "reason=\"swap_timeout_read\""), 1);
  EXPECT_EQ(store.count("overloads_total", "reason=\"swap_timeout_write\""), 1);
  store.gate.release_all();
  EXPECT_TRUE(reading.finish().has_value());
  EXPECT_TRUE(store.get("key").has_value());
}

TEST(RockScheme, MaxSwapRatePacesReadsAndWrites) {
  RockUnderTest store;
  store.spec().options["max-swap-rate"] = "500";
  ASSERT_TRUE(store.start().has_value());
  for (int i = 0; i < 10; ++i) {
    ASSERT_TRUE(store.put(std::to_string(i), StoredObject("head", "body")).has_value());
    ASSERT_TRUE(store.get(std::to_string(i)).has_value());
  }
  // The clock stands still, so that all but the first wait for their turn.
  EXPECT_EQ(store.count("paced_operations_total"), 19);
}

TEST(RockScheme, WhereDirectTransfersAreRefusedAWarningSaysSo) {
  RockUnderTest store;
  store.spec().options["direct"] = "on";
  store.plan.refuse_direct = true;
  ASSERT_TRUE(store.start().has_value());
  ASSERT_EQ(store.scheme().info().warnings.size(), 1u);
  EXPECT_NE(store.scheme().info().warnings[0].find("O_DIRECT"), std::string::npos);
  ASSERT_TRUE(store.put("key", StoredObject("head", pattern_body(1, 50'000))).has_value());
  EXPECT_TRUE(store.get("key").has_value());
}

TEST(RockScheme, DirectTransfersWorkWhereTheyAreAllowed) {
  for (const char* engine : {"blocking", "thread_pool", "libaio"}) {
    RockUnderTest store;
    store.spec().options["direct"] = "on";
    store.spec().options["engine"] = engine;
    ASSERT_TRUE(store.start_on_its_engine().has_value());
    for (const size_t size : {0, 100, 4000, 50'000}) {
      const StoredObject object("head", pattern_body(size, size));
      ASSERT_TRUE(store.put("key", object).has_value());
      EXPECT_TRUE(*store.get("key") == object);
    }
    ASSERT_TRUE(store.stop().has_value());
    ASSERT_TRUE(store.start_on_its_engine().has_value());
    EXPECT_EQ(store.get("key")->body.size(), 50'000u);
  }
}

TEST(RockScheme, ASmallerStoreForgetsWhatLayBeyondForGood) {
  RockUnderTest store;
  ASSERT_TRUE(store.start().has_value());
  for (uint64_t i = 0; i < 200; ++i) {
    ASSERT_TRUE(
        store.put(std::to_string(i), StoredObject("head", pattern_body(i, 20'000))).has_value());
  }
  ASSERT_TRUE(store.stop().has_value());
  store.spec().capacity_bytes = 2 << 20;
  auto report = store.start();
  ASSERT_TRUE(report.has_value());
  const uint64_t kept = report->objects;
  EXPECT_GT(kept, 50u);
  EXPECT_LT(kept, 110u);
  store.spec().capacity_bytes = 8 << 20;
  report = store.start();  // as after a crash
  ASSERT_TRUE(report.has_value());
  EXPECT_EQ(report->objects, kept);
}

}  // namespace
}  // namespace testing_support
