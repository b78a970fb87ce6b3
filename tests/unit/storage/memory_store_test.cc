#include "storage/layout/memory_store.h"

#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <thread>

#include "storage/replacement/lru.h"
#include "tests/support/counts.h"
#include "tests/support/pattern.h"

namespace storage {
namespace {

using testing_support::Counts;
using testing_support::matches_pattern;
using testing_support::pattern_body;

constexpr uint64_t kCapacity = 1 << 20;

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

class MemoryStoreTest : public ::testing::Test {
 protected:
  Result<void> put(const std::string& key, const std::string& body, bool told = true) {
    auto draft =
        store_.begin(Key(key), Metadata(), told ? std::optional(body.size()) : std::nullopt);
    if (draft.has_error()) return draft.error();
    const Result<void> appended = (*draft)->append_copy(bytes_of(body));
    if (appended.has_error()) return appended;
    return (*draft)->publish();
  }
  bool holds(const std::string& key) { return store_.find(Key(key)) != nullptr; }
  double count(const char* name) const {
    Counts counts;
    store_.visit_counters(counts, "");
    return counts.of(name);
  }

  MemoryStore store_{kCapacity, kCapacity / 2, 128, std::make_unique<LruPolicy>()};
};

TEST_F(MemoryStoreTest, SmallObjectsTakeLittleMoreThanTheirSize) {
  for (const bool told : {true, false}) {
    ASSERT_TRUE(put("key", pattern_body(1, 100), told).has_value());
    EXPECT_GE(count("size_bytes"), 100 + 3);
    EXPECT_LE(count("size_bytes"), told ? 700 : 1200);
    ASSERT_TRUE(put("key", pattern_body(1, 70'000), told).has_value());
    EXPECT_LE(count("size_bytes"), 70'000 * 1.15);
    store_.remove(Key("key"));
    EXPECT_EQ(count("size_bytes"), 0);
  }
}

TEST_F(MemoryStoreTest, ReadingCopiesNothing) {
  auto draft = store_.begin(Key("key"), Metadata(), 1000);
  auto space = (*draft)->reserve(1000);
  const std::byte* const filled_at = space->bytes().data();
  ASSERT_TRUE((*draft)->append(*space, 1000).has_value());
  ASSERT_TRUE((*draft)->publish().has_value());
  EXPECT_EQ(store_.find(Key("key"))->body()->piece(0, 1000).bytes().data(), filled_at);
}

TEST_F(MemoryStoreTest, AppendsFillAPageBeforeTheNextIsTaken) {
  auto draft = store_.begin(Key("key"), Metadata(), std::nullopt);
  for (int i = 0; i < 40; ++i) {
    auto space = (*draft)->reserve(100);
    ASSERT_TRUE(space.has_value());
    ASSERT_TRUE((*draft)->append(*space, 100).has_value());
  }
  EXPECT_LE(count("size_bytes"), 4096 + 1024);
}

TEST_F(MemoryStoreTest, UnfinishedDraftsCountAndGiveEverythingBack) {
  std::vector<std::unique_ptr<MemoryDraft>> drafts;
  while (true) {
    auto draft = store_.begin(Key(std::to_string(drafts.size())), Metadata(), 100'000);
    if (draft.has_error()) {
      EXPECT_EQ(draft.error(), Errc::kNoSpace);
      break;
    }
    drafts.push_back(std::move(*draft));
    EXPECT_LE(count("size_bytes"), kCapacity);
  }
  EXPECT_EQ(drafts.size(), 10u);
  // None of unknown size gets past what is left either.
  auto unknown = store_.begin(Key("unknown"), Metadata(), std::nullopt);
  ASSERT_TRUE(unknown.has_value());
  EXPECT_EQ((*unknown)->append_copy(bytes_of(pattern_body(1, 200'000))).error(), Errc::kNoSpace);
  EXPECT_EQ((*unknown)->publish().error(), Errc::kAborted);
  unknown->reset();
  drafts.clear();
  EXPECT_EQ(count("size_bytes"), 0);
}

TEST_F(MemoryStoreTest, WhatIsStillReadIsCountedAndNotEvicted) {
  ASSERT_TRUE(put("read", pattern_body(1, 300'000)).has_value());
  ASSERT_TRUE(put("lent", pattern_body(2, 300'000)).has_value());
  std::shared_ptr<const MemoryObject> reader = store_.find(Key("read"));
  Piece piece = store_.find(Key("lent"))->body()->piece(0, 10);
  EXPECT_EQ(put("new", pattern_body(3, 500'000)).error(), Errc::kNoSpace);
  EXPECT_TRUE(holds("read") && holds("lent"));
  store_.remove(Key("lent"));
  // The page that is lent stays and is counted; the others are free.
  EXPECT_TRUE(matches_pattern(2, 0, piece.bytes()));
  EXPECT_GE(count("size_bytes"), 300'000 + 65'536);
  EXPECT_LE(count("size_bytes"), 300'000 + 65'536 + 4096);
  reader.reset();
  EXPECT_TRUE(put("new", pattern_body(3, 500'000)).has_value());
  EXPECT_TRUE(put("newer", pattern_body(3, 500'000)).has_value());
  EXPECT_FALSE(holds("read") || holds("new"));
  EXPECT_EQ(count("evictions_total"), 2);
  EXPECT_LE(count("size_bytes"), kCapacity);
}

TEST_F(MemoryStoreTest, EvictsTheLeastRecentlyUsed) {
  for (int i = 0; i < 3; ++i)
    ASSERT_TRUE(put(std::to_string(i), pattern_body(1, 300'000)).has_value());
  EXPECT_TRUE(holds("0"));
  ASSERT_TRUE(store_.update(Key("1"), Metadata("head")).has_value());
  ASSERT_TRUE(put("3", pattern_body(1, 300'000)).has_value());
  EXPECT_FALSE(holds("2"));
  EXPECT_TRUE(holds("0") && holds("1") && holds("3"));
  EXPECT_EQ(count("evictions_total"), 1);
  EXPECT_GE(count("evicted_bytes_total"), 300'000);
}

TEST_F(MemoryStoreTest, AnUpdateThatFindsNoRoomLeavesTheOldVersion) {
  MemoryStore tight(64 * 1024, 60'000, 128, std::make_unique<LruPolicy>());
  auto draft = tight.begin(Key("key"), Metadata("old"), 60'000);
  ASSERT_TRUE((*draft)->append_copy(bytes_of(pattern_body(1, 60'000))).has_value());
  ASSERT_TRUE((*draft)->publish().has_value());
  EXPECT_EQ(tight.update(Key("key"), Metadata(std::string(10'000, 'x'))).error(), Errc::kNoSpace);
  ASSERT_NE(tight.find(Key("key")), nullptr);
  EXPECT_EQ(tight.find(Key("key"))->metadata().bytes(), "old");
}

TEST_F(MemoryStoreTest, ObjectsThatGiveWayToAnotherKeyOfTheirHashAreCounted) {
  MemoryStore colliding(kCapacity, kCapacity, 0, std::make_unique<LruPolicy>());
  for (const char* key : {"one", "two", "two"}) {
    auto draft = colliding.begin(Key(key), Metadata(), 0);
    ASSERT_TRUE((*draft)->publish().has_value());
  }
  EXPECT_EQ(colliding.find(Key("one")), nullptr);
  EXPECT_EQ(colliding.update(Key("one"), Metadata("head")).error(), Errc::kNotFound);
  colliding.remove(Key("one"));
  EXPECT_NE(colliding.find(Key("two")), nullptr);
  Counts counts;
  colliding.visit_counters(counts, "");
  EXPECT_EQ(counts.of("hash_collisions_total"), 1);
  EXPECT_EQ(counts.of("objects"), 1);
}

TEST_F(MemoryStoreTest, PiecesMayEndOnAnyThread) {
  std::mutex mutex;
  std::vector<Piece> lent;
  std::atomic<bool> done{false};
  std::jthread ender([&] {
    while (!done) {
      std::vector<Piece> mine;
      const std::lock_guard lock(mutex);
      mine.swap(lent);
    }
  });
  for (int round = 0; round < 1000; ++round) {
    const std::string key = std::to_string(round % 20);
    ASSERT_TRUE(put(key, pattern_body(3, 90'000)).has_value());
    Piece piece = store_.find(Key(key))->body()->piece(70'000, 100);
    ASSERT_TRUE(matches_pattern(3, 70'000, piece.bytes()));
    const std::lock_guard lock(mutex);
    if (lent.size() < 3) lent.push_back(std::move(piece));
  }
  done = true;
  ender.join();
  lent.clear();
  store_.close();
  EXPECT_EQ(count("size_bytes"), 0);
}

TEST_F(MemoryStoreTest, NothingIsPublishedAfterClose) {
  auto draft = store_.begin(Key("key"), Metadata(), 0);
  store_.close();
  EXPECT_EQ((*draft)->publish().error(), Errc::kStopped);
  EXPECT_EQ((*draft)->reserve(1).error(), Errc::kStopped);
  EXPECT_EQ(store_.begin(Key("key"), Metadata(), 0).error(), Errc::kStopped);
  EXPECT_FALSE(holds("key"));
}

}  // namespace
}  // namespace storage
