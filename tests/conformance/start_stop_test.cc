// Before start(), after stop(), and from one life of a store to the next.
#include <gtest/gtest.h>

#include "tests/support/counts.h"
#include "tests/support/pattern.h"
#include "tests/support/scheme_under_test.h"

namespace testing_support {
namespace {

using storage::Errc;
using storage::StopMode;

class AnyScheme : public ::testing::TestWithParam<SchemeCase> {
 protected:
  void expect_everything_is_stopped() {
    EXPECT_EQ(store_.open("key").error(), Errc::kStopped);
    EXPECT_EQ(store_.create("key", "head").error(), Errc::kStopped);
    EXPECT_EQ(store_.update("key", "head").error(), Errc::kStopped);
    EXPECT_EQ(store_.remove("key").error(), Errc::kStopped);
  }
  SchemeUnderTest store_{GetParam()};
};

INSTANTIATE_TEST_SUITE_P(Schemes, AnyScheme, ::testing::ValuesIn(all_scheme_cases()), case_name);

TEST_P(AnyScheme, SaysWhatItIs) {
  const storage::SchemeInfo& info = store_.scheme().info();
  EXPECT_EQ(info.name, GetParam().scheme);
  EXPECT_EQ(info.persistent, GetParam().persistent);
  EXPECT_LE(info.object_size_bytes_max, info.capacity_bytes);
  EXPECT_GE(info.alignment_bytes, 1u);
}

TEST_P(AnyScheme, ServesNothingBeforeItIsStarted) {
  expect_everything_is_stopped();
}

TEST_P(AnyScheme, AMissIsAMissAndRemovingItIsNoFailure) {
  ASSERT_TRUE(store_.start().has_value());
  EXPECT_EQ(store_.open("key").error(), Errc::kNotFound);
  EXPECT_EQ(store_.update("key", "head").error(), Errc::kNotFound);
  EXPECT_TRUE(store_.remove("key").has_value());
}

TEST_P(AnyScheme, SaysThatItHoldsNothingWhereItHoldsNothing) {
  const auto report = store_.start();
  ASSERT_TRUE(report.has_value());
  EXPECT_TRUE(report->clean);
  EXPECT_EQ(report->objects, 0u);
  const auto stored = store_.put("key", StoredObject("head", "body"));
  const bool holds_nothing = store_.scheme().info().capacity_bytes == 0;
  EXPECT_EQ(stored.has_error(), holds_nothing);
  EXPECT_EQ(store_.open("key").has_error(), holds_nothing);
}

TEST_P(AnyScheme, StopsOnceAndForAll) {
  for (const StopMode mode : {StopMode::kDrain, StopMode::kAbandon}) {
    SchemeUnderTest store(GetParam());
    ASSERT_TRUE(store.start().has_value());
    EXPECT_TRUE(store.run(store.scheme().stop(mode)).has_value());
    EXPECT_TRUE(store.run(store.scheme().stop(mode)).has_value());
    EXPECT_EQ(store.open("key").error(), Errc::kStopped);
    EXPECT_EQ(store.create("key", "head").error(), Errc::kStopped);
    EXPECT_EQ(store.update("key", "head").error(), Errc::kStopped);
    EXPECT_EQ(store.remove("key").error(), Errc::kStopped);
  }
}

TEST_P(AnyScheme, CountsWhatItDoes) {
  ASSERT_TRUE(store_.start().has_value());
  const bool holds = store_.scheme().info().capacity_bytes != 0;
  static_cast<void>(store_.open("key"));
  static_cast<void>(store_.put("key", StoredObject("head", "12345")));
  Counts counts;
  store_.scheme().visit_counters(counts);
  EXPECT_EQ(counts.of("opens_total", "result=\"miss\""), 1);
  EXPECT_EQ(counts.of("creates_total", "result=\"accepted\""), holds ? 1 : 0);
  EXPECT_EQ(counts.of("creates_total", "result=\"declined\""), holds ? 0 : 1);
  EXPECT_EQ(counts.of("commits_total", "result=\"published\""), holds ? 1 : 0);
  EXPECT_EQ(counts.of("bytes_written_total"), holds ? 5 : 0);
  EXPECT_EQ(counts.of("objects"), holds ? 1 : 0);
  EXPECT_EQ(counts.of("size_bytes") > 0, holds);
}

class HoldingScheme : public AnyScheme {};

INSTANTIATE_TEST_SUITE_P(Schemes, HoldingScheme, ::testing::ValuesIn(holding_scheme_cases()),
                         case_name);

TEST_P(HoldingScheme, AWriterThatStopComesBeforeIsNeverSeen) {
  for (const StopMode mode : {StopMode::kDrain, StopMode::kAbandon}) {
    SchemeUnderTest store(GetParam());
    ASSERT_TRUE(store.start().has_value());
    auto writer = store.create("key", "head");
    ASSERT_TRUE(writer.has_value());
    ASSERT_TRUE(store.run(append_body(**writer, pattern_body(1, 100'000))).has_value());
    ASSERT_TRUE(store.run(store.scheme().stop(mode)).has_value());
    EXPECT_EQ(store.run((*writer)->reserve(10)).error(), Errc::kStopped);
    EXPECT_EQ(store.run((*writer)->commit()).error(), Errc::kStopped);
    writer->reset();
    ASSERT_TRUE(store.restart(mode).has_value());
    EXPECT_EQ(store.open("key").error(), Errc::kNotFound);
  }
}

TEST_P(HoldingScheme, AReaderThatStopComesBeforeGivesItsBytesOrNone) {
  ASSERT_TRUE(store_.start().has_value());
  ASSERT_TRUE(store_.put("key", StoredObject("head", pattern_body(1, 5000))).has_value());
  auto reader = store_.open("key");
  ASSERT_TRUE(reader.has_value());
  ASSERT_TRUE(store_.run(store_.scheme().stop(StopMode::kDrain)).has_value());
  EXPECT_EQ((*reader)->metadata().bytes(), "head");
  const auto piece = store_.run((*reader)->read(0, 5000));
  if (piece.has_value()) {
    EXPECT_TRUE(matches_pattern(1, 0, piece->bytes()));
  } else {
    EXPECT_EQ(piece.error(), Errc::kStopped);
  }
}

class PersistentScheme : public AnyScheme {};

INSTANTIATE_TEST_SUITE_P(Schemes, PersistentScheme, ::testing::ValuesIn(holding_scheme_cases(true)),
                         case_name);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(PersistentScheme);

TEST_P(PersistentScheme, KeepsEverythingOverACleanRestart) {
  ASSERT_TRUE(store_.start().has_value());
  constexpr uint64_t kObjects = 50;
  const auto key_of = [](uint64_t i) { return "key\n" + std::to_string(i); };
  const auto object_of = [](uint64_t i, const char* head) {
    return StoredObject(head + std::to_string(i), pattern_body(i, i * 1000));
  };
  for (uint64_t i = 0; i < kObjects; ++i) {
    ASSERT_TRUE(store_.put(key_of(i), object_of(i, "first ")).has_value());
  }
  for (uint64_t i = 0; i < kObjects; i += 5) {
    ASSERT_TRUE(store_.remove(key_of(i)).has_value());
    ASSERT_TRUE(store_.update(key_of(i + 1), "second " + std::to_string(i + 1)).has_value());
  }
  for (int restart = 0; restart < 2; ++restart) {
    const auto report = store_.restart(StopMode::kDrain);
    ASSERT_TRUE(report.has_value()) << to_string(report.error());
    EXPECT_TRUE(report->clean);
    EXPECT_EQ(report->objects, kObjects * 4 / 5);
    EXPECT_EQ(report->dropped_damaged, 0u);
    for (uint64_t i = 0; i < kObjects; ++i) {
      const auto found = store_.get(key_of(i));
      ASSERT_EQ(found.has_value(), i % 5 != 0) << i;
      if (i % 5 == 0) continue;
      EXPECT_TRUE(*found == object_of(i, i % 5 == 1 ? "second " : "first ")) << i;
    }
  }
}

TEST_P(PersistentScheme, AfterAnAbandonedStopEveryObjectIsWholeOrGone) {
  ASSERT_TRUE(store_.start().has_value());
  constexpr uint64_t kObjects = 50;
  for (uint64_t i = 0; i < kObjects; ++i) {
    ASSERT_TRUE(store_
                    .put("key " + std::to_string(i),
                         StoredObject(std::to_string(i), pattern_body(i, i * 1000)))
                    .has_value());
  }
  auto unfinished = store_.create("unfinished", "head");
  ASSERT_TRUE(unfinished.has_value());
  ASSERT_TRUE(store_.run(append_body(**unfinished, pattern_body(1, 200'000))).has_value());
  ASSERT_TRUE(store_.run(store_.scheme().stop(StopMode::kAbandon)).has_value());
  unfinished->reset();
  const auto report = store_.restart(StopMode::kAbandon);
  ASSERT_TRUE(report.has_value()) << to_string(report.error());
  EXPECT_EQ(store_.open("unfinished").error(), Errc::kNotFound);
  uint64_t found_count = 0;
  for (uint64_t i = 0; i < kObjects; ++i) {
    const auto found = store_.get("key " + std::to_string(i));
    if (found.has_error()) {
      EXPECT_EQ(found.error(), Errc::kNotFound) << i;
      continue;
    }
    ++found_count;
    EXPECT_TRUE(*found == StoredObject(std::to_string(i), pattern_body(i, i * 1000))) << i;
  }
  EXPECT_EQ(found_count, report->objects);
  ASSERT_TRUE(store_.put("new", StoredObject("head", "body")).has_value());
  EXPECT_EQ(*store_.get("new"), StoredObject("head", "body"));
}

TEST_P(PersistentScheme, ASmallerCapacityHoldsFromTheNextStartOn) {
  ASSERT_TRUE(store_.start().has_value());
  constexpr uint64_t kObjects = 100;
  constexpr size_t kSize = 100'000;
  for (uint64_t i = 0; i < kObjects; ++i) {
    ASSERT_TRUE(
        store_.put(std::to_string(i), StoredObject("", pattern_body(i, kSize))).has_value());
  }
  SchemeLimits smaller;
  smaller.capacity_bytes = 4 << 20;
  smaller.object_size_bytes_max = 1 << 20;
  store_.set_limits(smaller);
  ASSERT_TRUE(store_.restart(StopMode::kDrain).has_value());
  ASSERT_TRUE(store_.put("newest", StoredObject("head", "body")).has_value());
  uint64_t found_bytes = 0;
  for (uint64_t i = 0; i < kObjects; ++i) {
    const auto found = store_.get(std::to_string(i));
    if (found.has_error()) continue;
    found_bytes += kSize;
    EXPECT_TRUE(found->body == pattern_body(i, kSize)) << i;
  }
  EXPECT_LE(found_bytes, smaller.capacity_bytes + smaller.capacity_bytes / 4);
  EXPECT_GE(found_bytes, smaller.capacity_bytes / 2);
  EXPECT_EQ(*store_.get("newest"), StoredObject("head", "body"));
}

}  // namespace
}  // namespace testing_support
