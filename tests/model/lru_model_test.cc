// Least recently used as a plain list says it, and as published figures of a real trace say it.
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <list>
#include <sstream>
#include <unordered_map>

#include "storage/base/random.h"
#include "storage/base/units.h"
#include "storage/replacement/lru.h"
#include "tests/support/counts.h"
#include "tests/support/pattern.h"
#include "tests/support/scheme_under_test.h"
#include "tests/support/seed.h"

namespace testing_support {
namespace {

/// The obvious LRU: a list of keys, the newest first.
class PlainLru {
 public:
  explicit PlainLru(uint64_t capacity_bytes) : capacity_bytes_(capacity_bytes) {}

  bool hit(uint64_t key) {
    const auto found = places_.find(key);
    if (found == places_.end()) return false;
    order_.splice(order_.begin(), order_, found->second);
    return true;
  }

  void insert(uint64_t key, uint64_t size_bytes) {
    while (used_bytes_ + size_bytes > capacity_bytes_ && !order_.empty()) {
      used_bytes_ -= order_.back().second;
      places_.erase(order_.back().first);
      order_.pop_back();
    }
    order_.emplace_front(key, size_bytes);
    places_[key] = order_.begin();
    used_bytes_ += size_bytes;
  }

 private:
  using Order = std::list<std::pair<uint64_t, uint64_t>>;
  const uint64_t capacity_bytes_;
  uint64_t used_bytes_ = 0;
  Order order_;
  std::unordered_map<uint64_t, Order::iterator> places_;
};

const SchemeCase& memory_case() {
  static const SchemeCase kCase = [] {
    for (const SchemeCase& found : all_scheme_cases()) {
      if (found.name == "memory") return found;
    }
    throw std::runtime_error("no memory scheme in the registry");
  }();
  return kCase;
}

constexpr size_t kBodySizes = 8;
size_t body_size(uint64_t key) {
  return 500 + 3000 * (key % kBodySizes);
}
// Keys of one length, so that only the body's size makes a difference to what they take.
std::string key_text(uint64_t key) {
  return "key " + std::to_string(100'000 + key);
}

/// What an object of each body size takes of the capacity, asked of the scheme itself.
std::vector<uint64_t> measured_charges() {
  std::vector<uint64_t> charges;
  for (uint64_t key = 0; key < kBodySizes; ++key) {
    SchemeUnderTest store(memory_case());
    EXPECT_TRUE(store.start().has_value());
    EXPECT_TRUE(
        store.put(key_text(key), StoredObject("", pattern_body(key, body_size(key)))).has_value());
    Counts counts;
    store.scheme().visit_counters(counts);
    charges.push_back(static_cast<uint64_t>(counts.of("object_bytes")));
    EXPECT_GE(charges.back(), body_size(key));
    EXPECT_LE(charges.back(), body_size(key) + 1024);
  }
  return charges;
}

TEST(LruModel, TheMemorySchemeHitsExactlyWhatAPlainListHits) {
  const uint64_t seed = test_seed(20240104);
  SCOPED_TRACE(seed_trace(seed));
  const std::vector<uint64_t> charges = measured_charges();
  SchemeLimits limits;
  limits.capacity_bytes = 1 << 20;
  limits.object_size_bytes_max = 1 << 18;
  SchemeUnderTest store(memory_case(), limits);
  ASSERT_TRUE(store.start().has_value());
  PlainLru model(limits.capacity_bytes);
  storage::Random random(seed);
  uint64_t hits = 0;
  for (int request = 0; request < 10'000; ++request) {
    // Skewed: small numbers are asked for more often.
    const uint64_t key = random.below(1 + random.below(600));
    const bool hit = store.get(key_text(key)).has_value();
    ASSERT_EQ(hit, model.hit(key)) << "request " << request;
    if (hit) {
      ++hits;
      continue;
    }
    ASSERT_TRUE(
        store.put(key_text(key), StoredObject("", pattern_body(key, body_size(key)))).has_value());
    model.insert(key, charges[key % kBodySizes]);
  }
  EXPECT_GE(hits, 1000u);
  EXPECT_LE(hits, 9000u);
}

/// Object numbers of a trace in the oracleGeneral format: packed 24-byte records, the number at
/// byte 4.
std::vector<uint64_t> read_oracle_general(const std::string& path) {
  constexpr size_t kRecordSize = 24;
  std::ifstream file(path, std::ios::binary);
  std::vector<uint64_t> numbers;
  std::array<char, kRecordSize> record;
  while (file.read(record.data(), kRecordSize)) {
    uint64_t number = 0;
    std::memcpy(&number, record.data() + 4, sizeof number);
    numbers.push_back(number);
  }
  return numbers;
}

uint64_t lru_misses(const std::vector<uint64_t>& requests, uint64_t objects_max) {
  storage::LruPolicy policy;
  std::unordered_map<uint64_t, storage::PolicyEntry> entries;
  uint64_t misses = 0;
  for (const uint64_t number : requests) {
    const auto [found, is_new] = entries.try_emplace(number, storage::KeyHash{0, number}, 1);
    if (!is_new) {
      policy.touch(found->second);
      continue;
    }
    ++misses;
    if (policy.count() == objects_max) entries.erase(policy.take_victim()->hash.low);
    policy.insert(found->second);
  }
  return misses;
}

TEST(LruModel, MissesOnARealTraceAreThePublishedOnes) {
  const std::string folder = CACHEOFF_SOURCE_DIR "/../shared";
  const std::string trace = folder + "/traces/cloudphysics.oracleGeneral.bin";
  std::ifstream published(folder + "/facts/policy-misses.csv");
  const std::vector<uint64_t> requests = read_oracle_general(trace);
  if (requests.empty() || !published) {
    GTEST_SKIP() << "the trace and its published misses are not in " << folder;
  }
  EXPECT_EQ(requests.size(), 113'872u);
  int compared = 0;
  for (std::string line; std::getline(published, line);) {
    if (line.rfind("lru,", 0) != 0) continue;
    std::istringstream columns(line.substr(4));
    uint64_t objects_max = 0;
    uint64_t misses = 0;
    char comma = 0;
    ASSERT_TRUE(columns >> objects_max >> comma >> misses) << line;
    EXPECT_EQ(lru_misses(requests, objects_max), misses) << line;
    ++compared;
  }
  EXPECT_GE(compared, 3);
}

}  // namespace
}  // namespace testing_support
