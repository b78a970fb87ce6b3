// A ufs store on an engine whose operations overlap in random order.
#include <gtest/gtest.h>

#include "storage/base/random.h"
#include "tests/support/pattern.h"
#include "tests/support/seed.h"
#include "tests/support/ufs_under_test.h"

namespace testing_support {
namespace {

using storage::Errc;

constexpr uint64_t kKeys = 6;

std::string key_of(uint64_t number) {
  return "key " + std::to_string(number);
}

// The metadata names the key and the body, so nothing can pass for anything else.
std::string metadata_of(uint64_t key, uint64_t body, size_t size, size_t padding) {
  return std::to_string(key) + " " + std::to_string(body) + " " + std::to_string(size) + " " +
         std::string(padding, '.');
}

void expect_belongs_to(uint64_t key, const StoredObject& object) {
  uint64_t named_key = 0;
  uint64_t body = 0;
  uint64_t size = 0;
  std::istringstream(object.metadata) >> named_key >> body >> size;
  EXPECT_EQ(named_key, key);
  ASSERT_EQ(object.body.size(), size);
  EXPECT_TRUE(matches_pattern(body, 0, std::as_bytes(std::span(object.body))));
}

bool expected_failure(Errc code) {
  return code == Errc::kNotFound || code == Errc::kNoSpace || code == Errc::kIo ||
         code == Errc::kStopped || code == Errc::kCorrupt;
}

// One of many that work on the same few keys. All bodies of a key have one size, so that an
// update, which keeps the body that it meets, can name it.
class Worker {
 public:
  Worker(storage::StorageScheme& scheme, uint64_t seed) : scheme_(scheme), random_(seed) {}

  boost::asio::awaitable<bool> work(int rounds) {
    for (int round = 0; round < rounds; ++round) {
      const uint64_t key = random_.below(kKeys);
      switch (random_.below(8)) {
        case 0:
          check(co_await scheme_.remove(storage::Key(key_of(key))));
          break;
        case 1: {
          storage::Metadata metadata(metadata_of(key, key, size_of(key), random_.below(300)));
          check(co_await scheme_.update(storage::Key(key_of(key)), std::move(metadata)));
          break;
        }
        case 2:
        case 3: {
          StoredObject object(metadata_of(key, key, size_of(key), random_.below(300)),
                              pattern_body(key, size_of(key)));
          const auto size = random_.below(2) == 0 ? BodySize::kKnown : BodySize::kUnknown;
          check(co_await store_object(scheme_, key_of(key), std::move(object), size, 7000));
          break;
        }
        case 4: {  // a write that is given up
          auto writer = co_await scheme_.create(storage::Key(key_of(key)),
                                                storage::Metadata(std::string("wrong")), {});
          if (writer.has_value()) (void)co_await append_body(**writer, std::string(50'000, 'w'));
          break;
        }
        default: {
          const auto found = co_await load_object(scheme_, key_of(key), 5000);
          if (found.has_value()) expect_belongs_to(key, *found);
          if (found.has_error()) check(found.error());
        }
      }
    }
    co_return true;
  }

 private:
  static size_t size_of(uint64_t key) { return key * key * 3000; }
  void check(const storage::Result<void>& result) {
    if (result.has_error()) {
      EXPECT_TRUE(expected_failure(result.error().code)) << to_string(result.error());
    }
  }

  storage::StorageScheme& scheme_;
  storage::Random random_;
};

// `capacity_bytes` decides whether eviction takes part.
void run_workers(UfsUnderTest& store, uint64_t seed) {
  std::vector<std::unique_ptr<Worker>> workers;
  std::vector<Spawned<bool>> running;
  for (uint64_t i = 0; i < 8; ++i) {
    workers.push_back(std::make_unique<Worker>(store.scheme(), seed * 100 + i));
    running.push_back(spawn_task(store.io(), workers.back()->work(60)));
  }
  for (Spawned<bool>& one : running) EXPECT_TRUE(one.finish());
  store.run_the_rest();
}

class UfsInterleaving : public ::testing::TestWithParam<std::string> {};

INSTANTIATE_TEST_SUITE_P(Engines, UfsInterleaving, ::testing::ValuesIn(engines_of_ufs()),
                         [](const auto& tested) { return tested.param; });

TEST_P(UfsInterleaving, OverlappingOperationsNeverMixObjects) {
  const uint64_t seed = test_seed(1);
  SCOPED_TRACE(seed_trace(seed));
  for (const uint64_t capacity : {uint64_t{64} << 20, uint64_t{400} << 10}) {
    UfsUnderTest store(capacity);
    store.engine = UfsUnderTest::engine_named(GetParam());
    store.plan.random = storage::Random(seed);
    ASSERT_TRUE(store.start().has_value());
    store.plan.yields_max = 4;
    run_workers(store, seed);
    EXPECT_EQ(store.count("reserved_bytes"), 0);
    EXPECT_EQ(store.count("unremovable_bytes"), 0);
    EXPECT_EQ(store.count("size_bytes"), static_cast<double>(store.allocated_bytes()));
    EXPECT_EQ(store.count("dropped_objects_total", "reason=\"damaged\""), 0);
    EXPECT_EQ(store.count("dropped_objects_total", "reason=\"missing\""), 0);
    EXPECT_TRUE(store.files(true).empty());
    const auto objects = store.count("objects");
    ASSERT_TRUE(store.stop().has_value());
    const auto report = store.start();
    ASSERT_TRUE(report.has_value());
    EXPECT_EQ(static_cast<double>(report->objects), objects);
    EXPECT_EQ(store.files().size(), report->objects);
  }
}

TEST_P(UfsInterleaving, StopWaitsForWhatRunsAndLeavesACleanStore) {
  const uint64_t seed = test_seed(2);
  SCOPED_TRACE(seed_trace(seed));
  for (uint64_t round = 0; round < 40; ++round) {
    UfsUnderTest store(4 << 20);
    store.engine = UfsUnderTest::engine_named(GetParam());
    store.plan.random = storage::Random(seed + round);
    ASSERT_TRUE(store.start().has_value());
    store.plan.yields_max = 3;
    std::vector<std::unique_ptr<Worker>> workers;
    std::vector<Spawned<bool>> running;
    for (uint64_t i = 0; i < 5; ++i) {
      workers.push_back(std::make_unique<Worker>(store.scheme(), seed + round * 100 + i));
      running.push_back(spawn_task(store.io(), workers.back()->work(20)));
    }
    store.io().restart();
    for (uint64_t steps = 0; steps < round * 20; ++steps) store.io().run_one();
    const bool drain = round % 3 != 0;
    auto first = spawn_task(store.io(), store.scheme().stop(drain ? storage::StopMode::kDrain
                                                                  : storage::StopMode::kAbandon));
    auto second = spawn_task(store.io(), store.scheme().stop(storage::StopMode::kDrain));
    EXPECT_TRUE(first.finish().has_value());
    EXPECT_TRUE(second.finish().has_value());
    for (Spawned<bool>& one : running) EXPECT_TRUE(one.finish());
    store.run_the_rest();
    store.plan.yields_max = 0;
    const auto report = store.start();
    ASSERT_TRUE(report.has_value()) << to_string(report.error());
    EXPECT_EQ(report->clean, drain);
    EXPECT_EQ(report->dropped_damaged, 0u);
    EXPECT_EQ(report->objects, store.files().size());
    EXPECT_EQ(report->size_bytes, store.allocated_bytes());
    EXPECT_TRUE(store.files(true).empty());
    for (uint64_t key = 0; key < kKeys; ++key) {
      const auto found = store.get(key_of(key));
      if (found.has_value()) expect_belongs_to(key, *found);
    }
  }
}

TEST_P(UfsInterleaving, ACancelledCommitIsWholeOrGone) {
  bool ended_first = false;
  for (int steps = 0; !ended_first && steps < 500; ++steps) {
    UfsUnderTest store;
    store.engine = UfsUnderTest::engine_named(GetParam());
    ASSERT_TRUE(store.start().has_value());
    store.plan.random = storage::Random(3);
    store.plan.yields_max = 3;
    StoredObject object(metadata_of(1, 1, 60'000, 0), pattern_body(1, 60'000));
    auto storing = spawn_task(store.io(), store_object(store.scheme(), "key", object));
    store.io().restart();
    for (int step = 0; step < steps && !storing.ended(); ++step) store.io().run_one();
    ended_first = storing.ended();
    storing.cancel();
    try {
      (void)storing.finish();
    } catch (const boost::system::system_error&) {
      // The test's own coroutine was cancelled between two operations of the store.
    }
    store.run_the_rest();
    const auto found = store.get("key");
    if (found.has_value()) {
      EXPECT_TRUE(*found == object);
    }
    store.run_the_rest();
    EXPECT_EQ(store.count("reserved_bytes"), 0);
    EXPECT_EQ(store.count("size_bytes"), static_cast<double>(store.allocated_bytes()));
    EXPECT_TRUE(store.files(true).empty());
  }
  EXPECT_TRUE(ended_first);
}

TEST_P(UfsInterleaving, AReaderKeepsItsVersionWhateverHappensToTheObject) {
  UfsUnderTest store;
  store.engine = UfsUnderTest::engine_named(GetParam());
  ASSERT_TRUE(store.start().has_value());
  constexpr size_t size = 300'000;
  const auto make = [](uint64_t body) {
    return StoredObject(metadata_of(1, body, size, 0), pattern_body(body, size));
  };
  ASSERT_TRUE(store.put("key", make(1)).has_value());
  std::vector<std::unique_ptr<storage::Reader>> readers;
  const auto open = [&] {
    readers.push_back(*store.run(store.scheme().open(storage::Key("key"))));
  };
  open();
  ASSERT_TRUE(store.update("key", metadata_of(1, 1, size, 10)).has_value());
  open();
  ASSERT_TRUE(store.update("key", metadata_of(1, 1, size, 5000)).has_value());
  open();
  ASSERT_TRUE(store.put("key", make(2)).has_value());
  open();
  ASSERT_TRUE(store.remove("key").has_value());
  const std::vector<std::pair<uint64_t, size_t>> versions = {{1, 0}, {1, 10}, {1, 5000}, {2, 0}};
  for (size_t i = 0; i < versions.size(); ++i) {
    const auto [body, padding] = versions[i];
    EXPECT_EQ(readers[i]->metadata().bytes(), metadata_of(1, body, size, padding));
    const auto read = store.run(read_body(*readers[i], 0, 10'000));
    ASSERT_TRUE(read.has_value());
    EXPECT_TRUE(*read == pattern_body(body, size)) << i;
  }
  EXPECT_TRUE(store.files().empty());
}

}  // namespace
}  // namespace testing_support
