// Full, too large, colliding, cancelled: what a scheme does when it cannot do as asked.
#include <gtest/gtest.h>

#include <boost/system/system_error.hpp>

#include "tests/support/pattern.h"
#include "tests/support/scheme_under_test.h"

namespace testing_support {
namespace {

using storage::Errc;

class Limits : public ::testing::TestWithParam<SchemeCase> {};

INSTANTIATE_TEST_SUITE_P(Schemes, Limits, ::testing::ValuesIn(holding_scheme_cases()), case_name);

SchemeLimits small_limits() {
  SchemeLimits limits;
  limits.capacity_bytes = 4 << 20;
  limits.object_size_bytes_max = 1 << 20;
  return limits;
}

TEST_P(Limits, WhatCanBeFoundFitsIntoTheCapacityAndTheNewestIsThere) {
  SchemeUnderTest store(GetParam(), small_limits());
  ASSERT_TRUE(store.start().has_value());
  constexpr size_t kSize = 40'000;
  constexpr uint64_t kObjects = 400;
  for (uint64_t i = 0; i < kObjects; ++i) {
    ASSERT_TRUE(store.put(std::to_string(i), StoredObject("", pattern_body(i, kSize))).has_value());
  }
  uint64_t found_bytes = 0;
  for (uint64_t i = 0; i < kObjects; ++i) {
    const auto found = store.get(std::to_string(i));
    if (found.has_error()) {
      ASSERT_EQ(found.error(), Errc::kNotFound) << i;
      EXPECT_NE(i, kObjects - 1) << "the newest object is missing";
      continue;
    }
    found_bytes += found->body.size();
    EXPECT_TRUE(found->body == pattern_body(i, kSize)) << i;
  }
  const uint64_t memory_bytes = GetParam().behind_memory ? store.limits().capacity_bytes / 4 : 0;
  EXPECT_LE(found_bytes, store.scheme().info().capacity_bytes + memory_bytes);
  EXPECT_GE(found_bytes, store.scheme().info().capacity_bytes / 2);
}

TEST_P(Limits, ABodyThatIsTooLargeIsDeclinedAtOnceWhereItsSizeIsKnown) {
  SchemeUnderTest store(GetParam(), small_limits());
  ASSERT_TRUE(store.start().has_value());
  const uint64_t size_max = store.scheme().info().object_size_bytes_max;
  EXPECT_EQ(size_max, store.limits().object_size_bytes_max);
  for (const uint64_t size : {size_max + 1, store.limits().capacity_bytes,
                              2 * store.limits().capacity_bytes, ~uint64_t{0}}) {
    EXPECT_EQ(store.create("key", "head", size).error(), Errc::kTooLarge) << size;
  }
  ASSERT_TRUE(store.put("key", StoredObject("head", pattern_body(1, size_max))).has_value());
  EXPECT_EQ(store.get("key")->body.size(), size_max);
}

TEST_P(Limits, ABodyThatGrowsTooLargeIsDeclinedOnTheWayAndTheOldOneStays) {
  SchemeUnderTest store(GetParam(), small_limits());
  ASSERT_TRUE(store.start().has_value());
  ASSERT_TRUE(store.put("key", StoredObject("old", "old body")).has_value());
  const uint64_t size_max = store.scheme().info().object_size_bytes_max;
  const auto stored =
      store.put("key", StoredObject("new", pattern_body(1, size_max + 1)), BodySize::kUnknown);
  EXPECT_EQ(stored.error(), Errc::kTooLarge);
  EXPECT_EQ(*store.get("key"), StoredObject("old", "old body"));
  EXPECT_TRUE(store.put("key", StoredObject("new", pattern_body(1, size_max)), BodySize::kUnknown)
                  .has_value());
  EXPECT_EQ(store.get("key")->metadata, "new");
}

TEST_P(Limits, ManyOpenWritersNeverBreakWhatIsStored) {
  SchemeUnderTest store(GetParam(), small_limits());
  ASSERT_TRUE(store.start().has_value());
  // Together they want more than the capacity: some are declined, the others come out whole.
  std::vector<std::unique_ptr<storage::Writer>> writers;
  std::vector<uint64_t> ids;
  for (uint64_t i = 0; i < 60; ++i) {
    auto writer = store.create(std::to_string(i), "head",
                               i % 2 == 0 ? std::optional<uint64_t>(200'000) : std::nullopt);
    if (writer.has_error()) {
      EXPECT_TRUE(writer.error() == Errc::kNoSpace || writer.error() == Errc::kOverloaded);
      continue;
    }
    const auto appended = store.run(append_body(**writer, pattern_body(i, 200'000)));
    if (appended.has_error()) {
      EXPECT_TRUE(appended.error() == Errc::kNoSpace || appended.error() == Errc::kOverloaded)
          << to_string(appended.error());
      continue;
    }
    writers.push_back(std::move(*writer));
    ids.push_back(i);
  }
  ASSERT_GE(writers.size(), 3u);
  for (size_t i = 0; i < writers.size(); ++i) {
    EXPECT_TRUE(store.run(writers[i]->commit()).has_value());
    writers[i].reset();
    const auto found = store.get(std::to_string(ids[i]));
    if (found.has_error()) {
      EXPECT_EQ(found.error(), Errc::kNotFound) << ids[i];  // Evicted for the others.
      continue;
    }
    EXPECT_TRUE(found->body == pattern_body(ids[i], 200'000));
  }
  EXPECT_TRUE(store.get(std::to_string(ids.back())).has_value());
}

TEST_P(Limits, KeysOfOneHashNeverGetEachOthersObject) {
  SchemeLimits limits;
  limits.key_hash_bits = 8;
  SchemeUnderTest store(GetParam(), limits);
  ASSERT_TRUE(store.start().has_value());
  constexpr uint64_t kKeys = 700;
  uint64_t hits = 0;
  for (int round = 0; round < 2; ++round) {
    for (uint64_t i = 0; i < kKeys; ++i) {
      const std::string key = "key " + std::to_string(i);
      ASSERT_TRUE(store.put(key, StoredObject(key, pattern_body(i, 100 + i))).has_value());
      EXPECT_TRUE(store.get(key).has_value()) << key;
    }
    for (uint64_t i = 0; i < kKeys; ++i) {
      const std::string key = "key " + std::to_string(i);
      const auto found = store.get(key);
      if (found.has_error()) {
        ASSERT_EQ(found.error(), Errc::kNotFound);
        EXPECT_EQ(store.update(key, "other").error(), Errc::kNotFound);
        continue;
      }
      ++hits;
      EXPECT_TRUE(*found == StoredObject(key, pattern_body(i, 100 + i)));
    }
  }
  EXPECT_GE(hits, 100u);
  // In each round one for each hash, in each directory.
  EXPECT_LE(hits, 2 * 256u * std::max<size_t>(GetParam().directories.size(), 1));
}

/// Ends as `task` does where the awaiting coroutine has asked for errors in place of exceptions;
/// `begun` tells that it has asked, since a coroutine cancelled before that throws all the same.
template <class T>
storage::Task<T> without_cancellation_exceptions(storage::Task<T> task, bool& begun) {
  co_await boost::asio::this_coro::throw_if_cancelled(false);
  begun = true;
  co_return co_await std::move(task);
}

/// Runs `io` until `begun`, and then `steps` handlers more.
void run_steps(boost::asio::io_context& io, const bool& begun, int steps) {
  run_until(io, [&begun] { return begun; });
  io.restart();
  for (int step = 0; step < steps; ++step) io.poll_one();
}

TEST_P(Limits, ACancelledReadEndsOnceAndHarmsNothing) {
  SchemeUnderTest store(GetParam());
  ASSERT_TRUE(store.start().has_value());
  const StoredObject object("head", pattern_body(5, 500'000));
  ASSERT_TRUE(store.put("key", object).has_value());
  // Cancelled after each number of steps in turn, until it ends before it is cancelled.
  bool ended_first = false;
  for (int steps = 0; !ended_first && steps < 1000; ++steps) {
    auto reader = store.open("key");
    ASSERT_TRUE(reader.has_value());
    bool begun = false;
    auto reading =
        spawn_task(store.io(), without_cancellation_exceptions(read_body(**reader), begun));
    run_steps(store.io(), begun, steps);
    ended_first = reading.ended();
    reading.cancel();
    const auto body = reading.finish();
    if (body.has_value()) {
      EXPECT_TRUE(*body == object.body);
    } else {
      EXPECT_EQ(body.error(), Errc::kAborted);
    }
  }
  EXPECT_TRUE(ended_first);
  EXPECT_TRUE(*store.get("key") == object);
}

/// All buffers of the pool, so that whoever needs one has to wait.
std::vector<storage::Space> take_all_buffers(storage::BufferPool& pool) {
  std::vector<storage::Space> taken;
  while (true) {
    auto space = pool.try_acquire();
    if (space.has_error()) return taken;
    taken.push_back(std::move(*space));
  }
}

TEST_P(Limits, AReadThatWaitsForABufferCanBeCancelledAndGoesOnWhenThereIsOne) {
  SchemeUnderTest store(GetParam());
  ASSERT_TRUE(store.start().has_value());
  const uint64_t size = std::min<uint64_t>(2'000'000, store.limits().object_size_bytes_max);
  const StoredObject object("head", pattern_body(5, size));
  ASSERT_TRUE(store.put("key", object).has_value());
  auto reader = store.open("key");
  ASSERT_TRUE(reader.has_value());
  std::vector<storage::Space> taken = take_all_buffers(store.buffers());
  bool begun = false;
  auto cancelled =
      spawn_task(store.io(), without_cancellation_exceptions((*reader)->read(0, 1000), begun));
  run_steps(store.io(), begun, 0);
  cancelled.cancel();
  const auto piece = cancelled.finish();
  if (piece.has_error()) {
    EXPECT_EQ(piece.error(), Errc::kAborted);
  }
  auto reading = spawn_task(store.io(), read_body(**reader));
  store.io().restart();
  store.io().poll();
  taken.clear();
  const auto body = reading.finish();
  ASSERT_TRUE(body.has_value()) << to_string(body.error());
  EXPECT_TRUE(*body == object.body);
}

TEST_P(Limits, AReserveThatWaitsForABufferCanBeCancelledAndHarmsNothing) {
  SchemeUnderTest store(GetParam());
  ASSERT_TRUE(store.start().has_value());
  auto writer = store.create("key", "head");
  ASSERT_TRUE(writer.has_value());
  std::vector<storage::Space> taken = take_all_buffers(store.buffers());
  bool begun = false;
  auto reserving =
      spawn_task(store.io(), without_cancellation_exceptions((*writer)->reserve(1000), begun));
  run_steps(store.io(), begun, 0);
  reserving.cancel();
  const auto space = reserving.finish();
  if (space.has_error()) {
    EXPECT_EQ(space.error(), Errc::kAborted);
  }
  taken.clear();
  writer->reset();
  EXPECT_EQ(store.open("key").error(), Errc::kNotFound);
  ASSERT_TRUE(store.put("key", StoredObject("head", "body")).has_value());
  EXPECT_EQ(*store.get("key"), StoredObject("head", "body"));
}

}  // namespace
}  // namespace testing_support
