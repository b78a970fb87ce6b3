// An open Reader sees its own version to the end, and an open() the last one, whatever happens
// meanwhile.
#include <gtest/gtest.h>

#include "storage/base/random.h"
#include "tests/support/pattern.h"
#include "tests/support/scheme_under_test.h"

namespace testing_support {
namespace {

using storage::Errc;

constexpr size_t kSize = 300'000;

class Versions : public ::testing::TestWithParam<SchemeCase> {
 protected:
  void SetUp() override {
    ASSERT_TRUE(store_.start().has_value());
    ASSERT_TRUE(store_.put("key", first_).has_value());
    auto reader = store_.open("key");
    ASSERT_TRUE(reader.has_value());
    reader_ = std::move(*reader);
    const auto piece = store_.run(reader_->read(0, 10));
    ASSERT_TRUE(piece.has_value());
  }

  void expect_reader_still_sees_the_first() {
    EXPECT_EQ(reader_->metadata().bytes(), first_.metadata);
    EXPECT_EQ(reader_->body_size_bytes(), kSize);
    const auto body = store_.run(read_body(*reader_));
    ASSERT_TRUE(body.has_value()) << to_string(body.error());
    EXPECT_TRUE(*body == first_.body);
  }

  const StoredObject first_{"first", pattern_body(1, kSize)};
  SchemeUnderTest store_{GetParam()};
  std::unique_ptr<storage::Reader> reader_;
};

INSTANTIATE_TEST_SUITE_P(Schemes, Versions, ::testing::ValuesIn(holding_scheme_cases()), case_name);

TEST_P(Versions, ReplacementLeavesAnOpenReaderAlone) {
  const StoredObject second("second", pattern_body(2, kSize - 1));
  ASSERT_TRUE(store_.put("key", second).has_value());
  expect_reader_still_sees_the_first();
  EXPECT_TRUE(*store_.get("key") == second);
}

TEST_P(Versions, UpdateChangesMetadataAloneAndForNewReadersAlone) {
  for (const size_t size : {size_t{6}, size_t{0}, size_t{20'000}, size_t{3}}) {
    const std::string metadata = pattern_body(size, size);
    ASSERT_TRUE(store_.update("key", metadata).has_value()) << size;
    const auto found = store_.get("key");
    ASSERT_TRUE(found.has_value()) << size;
    EXPECT_TRUE(*found == StoredObject(metadata, first_.body)) << size;
  }
  expect_reader_still_sees_the_first();
}

TEST_P(Versions, RemovalLeavesAnOpenReaderAlone) {
  ASSERT_TRUE(store_.remove("key").has_value());
  EXPECT_EQ(store_.open("key").error(), Errc::kNotFound);
  expect_reader_still_sees_the_first();
  EXPECT_TRUE(store_.remove("key").has_value());
  EXPECT_EQ(store_.update("key", "second").error(), Errc::kNotFound);
}

TEST_P(Versions, EvictionLeavesAnOpenReaderAlone) {
  const uint64_t objects = 3 * store_.limits().capacity_bytes / kSize;
  for (uint64_t i = 0; i < objects; ++i) {
    const auto stored =
        store_.put("other " + std::to_string(i), StoredObject("", pattern_body(100 + i, kSize)));
    ASSERT_TRUE(stored.has_value()) << to_string(stored.error());
  }
  expect_reader_still_sees_the_first();
}

TEST_P(Versions, AWriterIsUnseenUntilItCommits) {
  auto writer = store_.create("key", "second");
  ASSERT_TRUE(writer.has_value());
  ASSERT_TRUE(store_.run(append_body(**writer, pattern_body(2, kSize))).has_value());
  EXPECT_TRUE(*store_.get("key") == first_);
  ASSERT_TRUE(store_.run((*writer)->commit()).has_value());
  EXPECT_EQ(store_.get("key")->metadata, "second");
  expect_reader_still_sees_the_first();
}

TEST_P(Versions, OfTwoWritersTheLastToCommitIsKept) {
  auto one = store_.create("key", "one");
  auto two = store_.create("key", "two");
  ASSERT_TRUE(one.has_value() && two.has_value());
  ASSERT_TRUE(store_.run(append_body(**one, pattern_body(11, 70'000))).has_value());
  ASSERT_TRUE(store_.run(append_body(**two, pattern_body(12, 80'000))).has_value());
  ASSERT_TRUE(store_.run((*two)->commit()).has_value());
  EXPECT_TRUE(*store_.get("key") == StoredObject("two", pattern_body(12, 80'000)));
  ASSERT_TRUE(store_.run((*one)->commit()).has_value());
  EXPECT_TRUE(*store_.get("key") == StoredObject("one", pattern_body(11, 70'000)));
}

TEST_P(Versions, RemovalWhileAWriterIsOpenDoesNotTouchIt) {
  auto writer = store_.create("key", "second");
  ASSERT_TRUE(writer.has_value());
  ASSERT_TRUE(store_.remove("key").has_value());
  ASSERT_TRUE(store_.run(append_body(**writer, "body")).has_value());
  ASSERT_TRUE(store_.run((*writer)->commit()).has_value());
  EXPECT_EQ(*store_.get("key"), StoredObject("second", "body"));
}

/// One of many users of a few keys. A body says by its metadata which one it is, so that any
/// mixture of two versions is found.
storage::Task<void> use_keys(storage::StorageScheme& scheme, uint64_t seed) {
  storage::Random random(seed);
  for (int turn = 0; turn < 60; ++turn) {
    co_await yield_to_others();
    const std::string key = "shared " + std::to_string(random.below(4));
    const uint64_t what = random.below(10);
    if (what < 4) {
      const uint64_t id = random() >> 1;
      const size_t size = random.below(100'000);
      StoredObject object(std::to_string(id), pattern_body(id, size));
      const BodySize told = random.below(2) == 0 ? BodySize::kKnown : BodySize::kUnknown;
      const auto stored = co_await store_object(scheme, key, std::move(object), told, 20'000);
      if (stored.has_error()) co_return stored.error();
    } else if (what < 9) {
      const auto found = co_await load_object(scheme, key, 10'000);
      if (found.has_error() && found.error().code == Errc::kNotFound) continue;
      if (found.has_error()) co_return found.error();
      const uint64_t id = std::stoull(found->metadata);
      if (found->body != pattern_body(id, found->body.size())) {
        co_return storage::Error(Errc::kCorrupt);
      }
    } else {
      const auto removed = co_await scheme.remove(storage::Key(key));
      if (removed.has_error()) co_return removed.error();
    }
  }
  co_return storage::Result<void>();
}

TEST_P(Versions, ManyInterleavedWritersAndReadersNeverSeeAMixture) {
  std::vector<Spawned<storage::Result<void>>> users;
  for (uint64_t seed = 1; seed <= 12; ++seed) {
    users.push_back(spawn_task(store_.io(), use_keys(store_.scheme(), seed)));
  }
  for (auto& user : users) {
    const auto ended = user.finish();
    EXPECT_TRUE(ended.has_value()) << to_string(ended.error());
  }
}

}  // namespace
}  // namespace testing_support
