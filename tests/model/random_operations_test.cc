// Random sequences of operations against a plain map that says what must come out.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "storage/base/random.h"
#include "tests/support/pattern.h"
#include "tests/support/scheme_under_test.h"
#include "tests/support/seed.h"

namespace testing_support {
namespace {

using storage::Errc;

/// Which object a key names: enough to say every byte of it.
struct Expected {
  uint64_t body_id = 0;
  size_t body_size = 0;
  std::string metadata;
};

/// A Reader that was opened some operations ago, and what it has to show.
struct OpenReader {
  std::unique_ptr<storage::Reader> reader;
  Expected expected;
};

/// Applies random operations to a scheme and to the model, and compares at every step.
class RandomOperations {
 public:
  /// With `may_evict`, a miss in place of an object is right, and makes the model forget it.
  RandomOperations(SchemeUnderTest& store, uint64_t seed, bool may_evict, bool may_restart)
      : store_(store), random_(seed), may_evict_(may_evict), may_restart_(may_restart) {}

  void run(int operations) {
    for (int i = 0; i < operations && !::testing::Test::HasFatalFailure(); ++i) {
      SCOPED_TRACE("operation " + std::to_string(i));
      step();
    }
    for (OpenReader& open : readers_) compare(*open.reader, open.expected);
  }

  uint64_t hits() const { return hits_; }
  uint64_t misses_of_known() const { return misses_of_known_; }

 private:
  void step() {
    const std::string key = "key " + std::to_string(random_.below(kKeys));
    const uint64_t what = random_.below(100);
    if (what < 30) return put(key);
    if (what < 70) return get(key);
    if (what < 78) return open_for_later(key);
    if (what < 86) return close_one();
    if (what < 91) return update(key);
    if (what < 96) return remove(key);
    if (what < 99) return abandon_writer(key);
    if (may_restart_ && random_.below(5) == 0) return restart();
  }

  size_t random_size() {
    // Mostly small, some large, as on the web.
    return random_.below(size_t{1} << (4 + random_.below(14)));
  }

  void put(const std::string& key) {
    Expected expected;
    expected.body_id = next_id_++;
    expected.body_size = random_size();
    expected.metadata = pattern_body(expected.body_id, random_.below(300));
    const BodySize told = random_.below(2) == 0 ? BodySize::kKnown : BodySize::kUnknown;
    const auto stored = store_.put(
        key, StoredObject(expected.metadata, pattern_body(expected.body_id, expected.body_size)),
        told);
    ASSERT_TRUE(stored.has_value()) << to_string(stored.error());
    model_[key] = std::move(expected);
  }

  /// Opens `key` if the model knows it; null, after checking that this is right, if not.
  std::unique_ptr<storage::Reader> open_checked(const std::string& key) {
    auto reader = store_.open(key);
    const auto known = model_.find(key);
    if (reader.has_error()) {
      EXPECT_EQ(reader.error(), Errc::kNotFound) << key;
      if (known != model_.end()) {
        EXPECT_TRUE(may_evict_) << key << " is missing";
        ++misses_of_known_;
        model_.erase(known);
      }
      return nullptr;
    }
    EXPECT_NE(known, model_.end()) << key << " should not be there";
    if (known == model_.end()) return nullptr;
    ++hits_;
    return std::move(*reader);
  }

  void get(const std::string& key) {
    const std::unique_ptr<storage::Reader> reader = open_checked(key);
    if (reader) compare(*reader, model_[key]);
  }

  void compare(storage::Reader& reader, const Expected& expected) {
    ASSERT_EQ(reader.metadata().bytes(), expected.metadata);
    ASSERT_EQ(reader.body_size_bytes(), expected.body_size);
    const uint64_t from = random_.below(4) == 0 ? random_.below(expected.body_size + 1) : 0;
    const auto body = store_.run(read_body(reader, from, 1 + random_.below(100'000)));
    ASSERT_TRUE(body.has_value()) << to_string(body.error());
    ASSERT_EQ(body->size(), expected.body_size - from);
    ASSERT_TRUE(matches_pattern(expected.body_id, from, std::as_bytes(std::span(*body))));
  }

  void open_for_later(const std::string& key) {
    if (readers_.size() >= kReadersMax) return;
    std::unique_ptr<storage::Reader> reader = open_checked(key);
    if (reader) readers_.push_back({std::move(reader), model_[key]});
  }

  void close_one() {
    if (readers_.empty()) return;
    const size_t at = random_.below(readers_.size());
    compare(*readers_[at].reader, readers_[at].expected);
    readers_.erase(readers_.begin() + static_cast<std::ptrdiff_t>(at));
  }

  void update(const std::string& key) {
    const std::string metadata = pattern_body(next_id_++, random_.below(2000));
    const auto updated = store_.update(key, metadata);
    const auto known = model_.find(key);
    if (updated.has_value()) {
      ASSERT_NE(known, model_.end()) << key;
      known->second.metadata = metadata;
      return;
    }
    ASSERT_EQ(updated.error(), Errc::kNotFound) << to_string(updated.error());
    if (known == model_.end()) return;
    EXPECT_TRUE(may_evict_) << key << " is missing";
    model_.erase(known);
  }

  void remove(const std::string& key) {
    ASSERT_TRUE(store_.remove(key).has_value());
    model_.erase(key);
  }

  void abandon_writer(const std::string& key) {
    auto writer = store_.create(key, "abandoned");
    ASSERT_TRUE(writer.has_value());
    static_cast<void>(store_.run(append_body(**writer, pattern_body(next_id_++, random_size()))));
  }

  void restart() {
    readers_.clear();
    const auto report = store_.restart(storage::StopMode::kDrain);
    ASSERT_TRUE(report.has_value()) << to_string(report.error());
    EXPECT_TRUE(report->clean);
    EXPECT_EQ(report->dropped_damaged, 0u);
    if (!may_evict_) {
      EXPECT_EQ(report->objects, model_.size());
    }
  }

  static constexpr uint64_t kKeys = 60;
  static constexpr size_t kReadersMax = 5;

  SchemeUnderTest& store_;
  storage::Random random_;
  const bool may_evict_;
  const bool may_restart_;
  std::map<std::string, Expected> model_;
  std::vector<OpenReader> readers_;
  uint64_t next_id_ = 1;
  uint64_t hits_ = 0;
  uint64_t misses_of_known_ = 0;
};

class SchemeModel : public ::testing::TestWithParam<SchemeCase> {};

INSTANTIATE_TEST_SUITE_P(Schemes, SchemeModel, ::testing::ValuesIn(holding_scheme_cases()),
                         case_name);

TEST_P(SchemeModel, WithRoomForAllEveryOpenIsExactlyTheLastVersion) {
  const uint64_t seed = test_seed(20240101);
  SCOPED_TRACE(seed_trace(seed));
  SchemeLimits limits;
  limits.capacity_bytes = 64 << 20;
  SchemeUnderTest store(GetParam(), limits);
  ASSERT_TRUE(store.start().has_value());
  RandomOperations operations(store, seed, false, GetParam().persistent);
  operations.run(4000);
  EXPECT_GE(operations.hits(), 500u);
}

TEST_P(SchemeModel, WithTooLittleRoomEveryOpenIsTheLastVersionOrAMiss) {
  const uint64_t seed = test_seed(20240102);
  SCOPED_TRACE(seed_trace(seed));
  SchemeLimits limits;
  limits.capacity_bytes = 1 << 20;
  limits.object_size_bytes_max = 1 << 18;
  SchemeUnderTest store(GetParam(), limits);
  ASSERT_TRUE(store.start().has_value());
  RandomOperations operations(store, seed, true, GetParam().persistent);
  operations.run(4000);
  EXPECT_GE(operations.hits(), 200u);
}

TEST_P(SchemeModel, WithFewHashBitsEveryOpenIsTheLastVersionOrAMiss) {
  const uint64_t seed = test_seed(20240103);
  SCOPED_TRACE(seed_trace(seed));
  SchemeLimits limits;
  limits.key_hash_bits = 4;
  SchemeUnderTest store(GetParam(), limits);
  ASSERT_TRUE(store.start().has_value());
  RandomOperations operations(store, seed, true, GetParam().persistent);
  operations.run(3000);
  EXPECT_GE(operations.hits(), 200u);
  EXPECT_GE(operations.misses_of_known(), 20u);
}

}  // namespace
}  // namespace testing_support
