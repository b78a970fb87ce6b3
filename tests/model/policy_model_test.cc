// Replacement policies as plain lists say them, and as published figures of a real trace say them.
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <map>
#include <sstream>
#include <unordered_map>

#include "storage/base/random.h"
#include "storage/replacement/policies.h"
#include "tests/support/counts.h"
#include "tests/support/pattern.h"
#include "tests/support/plain_policies.h"
#include "tests/support/scheme_under_test.h"
#include "tests/support/seed.h"

namespace testing_support {
namespace {

std::vector<std::string> policy_names() {
  std::vector<std::string> names;
  for (const storage::PolicyRow& row : storage::policies()) names.emplace_back(row.name);
  return names;
}

std::string test_name(const ::testing::TestParamInfo<std::string>& instance) {
  std::string name = instance.param;
  std::ranges::replace(name, '-', '_');
  return name;
}

std::unique_ptr<storage::ReplacementPolicy> make_policy(const std::string& name,
                                                        uint64_t capacity_bytes) {
  std::string error;
  auto policy = storage::make_policy(name, capacity_bytes, error);
  if (policy == nullptr) throw std::runtime_error(error);
  return policy;
}

/// A cache without objects, run by a policy as a store runs it.
class PolicyCache {
 public:
  PolicyCache(const std::string& policy, uint64_t capacity_bytes)
      : capacity_bytes_(capacity_bytes), policy_(make_policy(policy, capacity_bytes)) {}

  bool request(uint64_t key, uint64_t size_bytes) {
    if (const auto found = entries_.find(key); found != entries_.end()) {
      policy_->touch(found->second);
      return true;
    }
    while (policy_->size_bytes() + size_bytes > capacity_bytes_) {
      entries_.erase(policy_->take_victim()->hash.low);
    }
    policy_->insert(entries_.try_emplace(key, storage::KeyHash{0, key}, size_bytes).first->second);
    return false;
  }
  void remove(uint64_t key) {
    const auto found = entries_.find(key);
    if (found == entries_.end()) return;
    policy_->remove(found->second);
    entries_.erase(found);
  }

 private:
  const uint64_t capacity_bytes_;
  std::unique_ptr<storage::ReplacementPolicy> policy_;
  std::unordered_map<uint64_t, storage::PolicyEntry> entries_;
};

class PolicyModel : public ::testing::TestWithParam<std::string> {};

INSTANTIATE_TEST_SUITE_P(Policies, PolicyModel, ::testing::ValuesIn(policy_names()), test_name);

/// Requests that are skewed, shift slowly, and hold runs of what is asked for only once.
uint64_t next_key(storage::Random& random, int request) {
  if (random.below(8) == 0) return 1'000'000 + static_cast<uint64_t>(request);
  return random.below(1 + random.below(500)) + static_cast<uint64_t>(request) / 100;
}

TEST_P(PolicyModel, HitsExactlyWhatThePlainModelHits) {
  const uint64_t seed = test_seed(20240104);
  SCOPED_TRACE(seed_trace(seed));
  for (const uint64_t sizes : {1, 2, 100, 997}) {
    for (const uint64_t capacity_bytes : {sizes, sizes * 7, sizes * 60, sizes * 101, sizes * 150}) {
      SCOPED_TRACE(std::to_string(capacity_bytes) + " bytes for sizes up to " +
                   std::to_string(sizes));
      PolicyCache cache(GetParam(), capacity_bytes);
      const auto model = make_plain_cache(GetParam(), capacity_bytes);
      storage::Random random(seed + capacity_bytes);
      int hits = 0;
      constexpr int kRequests = 15'000;
      for (int request = 0; request < kRequests; ++request) {
        const uint64_t key = next_key(random, request);
        const uint64_t size_bytes = 1 + storage::mix64(key) % sizes;
        const bool hit = cache.request(key, size_bytes);
        ASSERT_EQ(hit, model->request(key, size_bytes)) << "request " << request;
        hits += hit;
        if (random.below(20) != 0) continue;
        const uint64_t gone = next_key(random, request);
        cache.remove(gone);
        model->remove(gone);
      }
      if (capacity_bytes >= 60 * sizes) {
        EXPECT_GE(hits, kRequests / 20);
        EXPECT_LE(hits, kRequests * 9 / 10);
      }
    }
  }
}

TEST(PolicyModel, PopularObjectsOutliveAScanWhereThePolicyResistsScans) {
  for (const std::string name : {"heap-lfuda", "heap-gdsf", "sieve", "s3-fifo", "w-tinylfu"}) {
    PolicyCache cache(name, 100);
    for (int round = 0; round < 5; ++round) {
      for (uint64_t key = 0; key < 50; ++key) (void)cache.request(key, 1);
    }
    for (uint64_t key = 1000; key < 1120; ++key) (void)cache.request(key, 1);
    int hits = 0;
    for (uint64_t key = 0; key < 50; ++key) hits += cache.request(key, 1);
    // w-tinylfu may lose the one that is in its window when the cache becomes full.
    EXPECT_GE(hits, 49) << name;
  }
}

TEST(PolicyModel, GdsfPrefersSmallObjectsAndLfudaDoesNot) {
  for (const auto& [name, kept] : {std::pair("heap-gdsf", true), std::pair("heap-lfuda", false)}) {
    PolicyCache cache(name, 1000);
    (void)cache.request(1, 10);
    (void)cache.request(2, 900);
    (void)cache.request(3, 100);  // One has to go.
    EXPECT_EQ(cache.request(1, 10), kept) << name;
  }
}

constexpr size_t kBodySizes = 8;
size_t body_size(uint64_t key) {
  return 500 + 3000 * (key % kBodySizes);
}
// Keys of one length, so that only the body's size makes a difference to what they take.
std::string key_text(uint64_t key) {
  return "key " + std::to_string(100'000 + key);
}

SchemeCase memory_case(const std::string& policy) {
  for (SchemeCase found : all_scheme_cases()) {
    if (found.name != "memory") continue;
    found.options["policy"] = policy;
    return found;
  }
  throw std::runtime_error("no memory scheme in the registry");
}

/// What an object of each body size takes of the capacity, asked of the scheme itself.
std::vector<uint64_t> measured_charges() {
  std::vector<uint64_t> charges;
  for (uint64_t key = 0; key < kBodySizes; ++key) {
    SchemeUnderTest store(memory_case("lru"));
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

TEST_P(PolicyModel, TheMemorySchemeHitsExactlyWhatThePlainModelHits) {
  const uint64_t seed = test_seed(20240104);
  SCOPED_TRACE(seed_trace(seed));
  const std::vector<uint64_t> charges = measured_charges();
  SchemeLimits limits;
  limits.capacity_bytes = 1 << 20;
  limits.object_size_bytes_max = 1 << 18;
  limits.key_hash_bits = 64;  // The model has as many.
  SchemeUnderTest store(memory_case(GetParam()), limits);
  ASSERT_TRUE(store.start().has_value());
  const auto model = make_plain_cache(GetParam(), limits.capacity_bytes);
  storage::Random random(seed);
  uint64_t hits = 0;
  for (int request = 0; request < 5'000; ++request) {
    // Skewed: small numbers are asked for more often.
    const uint64_t key = random.below(1 + random.below(600));
    const uint64_t hash = storage::Key(key_text(key)).hash().low;
    const bool hit = store.get(key_text(key)).has_value();
    ASSERT_EQ(hit, model->request(hash, charges[key % kBodySizes])) << "request " << request;
    hits += hit ? 1 : 0;
    if (hit) continue;
    ASSERT_TRUE(
        store.put(key_text(key), StoredObject("", pattern_body(key, body_size(key)))).has_value());
  }
  EXPECT_GE(hits, 500u);
  EXPECT_LE(hits, 4500u);
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

const std::string kSharedFolder = CACHEOFF_SOURCE_DIR "/../shared";

std::vector<uint64_t> real_requests() {
  return read_oracle_general(kSharedFolder + "/traces/cloudphysics.oracleGeneral.bin");
}

uint64_t misses(const std::string& policy, const std::vector<uint64_t>& requests,
                uint64_t objects_max) {
  PolicyCache cache(policy, objects_max);
  uint64_t count = 0;
  for (const uint64_t number : requests) count += cache.request(number, 1) ? 0 : 1;
  return count;
}

TEST(PolicyModel, MissesOnARealTraceAreThePublishedOnes) {
  std::ifstream published(kSharedFolder + "/facts/policy-misses.csv");
  const std::vector<uint64_t> requests = real_requests();
  if (requests.empty() || !published) {
    GTEST_SKIP() << "the trace and its published misses are not in " << kSharedFolder;
  }
  EXPECT_EQ(requests.size(), 113'872u);
  std::map<std::string, int> compared;
  for (std::string line; std::getline(published, line);) {
    std::istringstream columns(line);
    std::string policy;
    uint64_t objects_max = 0;
    uint64_t misses_published = 0;
    char comma = 0;
    std::getline(columns, policy, ',');
    if (policy != "lru" && policy != "sieve") continue;
    ASSERT_TRUE(columns >> objects_max >> comma >> misses_published) << line;
    EXPECT_EQ(misses(policy, requests, objects_max), misses_published) << line;
    ++compared[policy];
  }
  EXPECT_EQ(compared, (std::map<std::string, int>{{"lru", 3}, {"sieve", 3}}));
}

TEST(PolicyModel, WithObjectsOfOneSizeGdsfIsTextbookLfudaOnARealTrace) {
  const std::vector<uint64_t> requests = real_requests();
  if (requests.empty()) GTEST_SKIP() << "the trace is not in " << kSharedFolder;
  // The plain model searches all its objects at each miss: a small cache.
  constexpr uint64_t kObjects = 490;
  const auto model = make_plain_cache("heap-lfuda", kObjects);
  uint64_t model_misses = 0;
  for (const uint64_t number : requests) model_misses += model->request(number, 1) ? 0 : 1;
  EXPECT_EQ(misses("heap-gdsf", requests, kObjects), model_misses);
  EXPECT_EQ(misses("heap-lfuda", requests, kObjects), model_misses);
  for (const uint64_t objects_max : {4897, 14692}) {
    EXPECT_EQ(misses("heap-gdsf", requests, objects_max),
              misses("heap-lfuda", requests, objects_max));
  }
}

}  // namespace
}  // namespace testing_support
