// A ufs store whose operations are held up at the moments that matter most.
#include <gtest/gtest.h>

#include "tests/support/pattern.h"
#include "tests/support/ufs_under_test.h"

namespace testing_support {
namespace {

using storage::Errc;
using Side = Gate::Side;

StoredObject object_of(uint64_t id, size_t size) {
  return StoredObject("object " + std::to_string(id), pattern_body(id, size));
}

class UfsGated : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(store_.start().has_value()); }

  // Starts it and lets it run until as many as that stand at the gate.
  template <class T>
  Spawned<T> until_held(boost::asio::awaitable<T> task, size_t held = 1) {
    auto spawned = spawn_task(store_.io(), std::move(task));
    run_until(store_.io(), [&] { return store_.gate.held() >= held; });
    return spawned;
  }
  auto putting(std::string key, StoredObject object) {
    return store_object(store_.scheme(), std::move(key), std::move(object));
  }
  auto getting(std::string key) { return load_object(store_.scheme(), std::move(key)); }
  auto updating(std::string key, std::string metadata) {
    return store_.scheme().update(storage::Key(std::move(key)),
                                  storage::Metadata(std::move(metadata)));
  }

  void expect_in_order() {
    store_.run_the_rest();
    EXPECT_EQ(store_.count("reserved_bytes"), 0);
    EXPECT_EQ(store_.count("unremovable_bytes"), 0);
    EXPECT_EQ(store_.count("size_bytes"), static_cast<double>(store_.allocated_bytes()));
    EXPECT_EQ(store_.count("objects"), static_cast<double>(store_.files().size()));
    EXPECT_EQ(store_.count("dropped_objects_total", "reason=\"damaged\""), 0);
    EXPECT_EQ(store_.count("dropped_objects_total", "reason=\"missing\""), 0);
    EXPECT_TRUE(store_.files(true).empty()) << "an unfinished file is left";
  }

  UfsUnderTest store_;
};

TEST_F(UfsGated, AnObjectThatGoesWhileItIsOpenedIsAMiss) {
  ASSERT_TRUE(store_.put("key", object_of(1, 50'000)).has_value());
  store_.gate.hold(IoOperation::kOpen, Side::kBefore);
  auto reading = until_held(getting("key"));
  ASSERT_TRUE(store_.remove("key").has_value());
  store_.gate.release_all();
  EXPECT_EQ(reading.finish().error().code, Errc::kNotFound);
  expect_in_order();
}

TEST_F(UfsGated, AnObjectThatIsReplacedWhileItIsOpenedIsTheNewOne) {
  ASSERT_TRUE(store_.put("key", object_of(1, 50'000)).has_value());
  store_.gate.hold(IoOperation::kOpen, Side::kBefore);
  auto reading = until_held(getting("key"));
  ASSERT_TRUE(store_.put("key", object_of(2, 9000)).has_value());
  store_.gate.release_all();
  const auto found = reading.finish();
  ASSERT_TRUE(found.has_value());
  EXPECT_TRUE(*found == object_of(2, 9000));
  expect_in_order();
}

TEST_F(UfsGated, AnObjectThatIsReplacedWhileItIsReadStaysTheOldOne) {
  ASSERT_TRUE(store_.put("key", object_of(1, 200'000)).has_value());
  for (int reads = 1; reads < 6; ++reads) {
    ASSERT_TRUE(store_.put("key", object_of(1, 200'000)).has_value());
    store_.gate.hold(IoOperation::kRead, Side::kBefore, reads);
    auto reading = until_held(getting("key"));
    for (int passed = 1; passed < reads; ++passed) {
      store_.gate.release();
      run_until(store_.io(), [&] { return store_.gate.held() > 0; });
    }
    ASSERT_TRUE(store_.put("key", object_of(2, 9000)).has_value());
    ASSERT_TRUE(store_.remove("key").has_value());
    store_.gate.release_all();
    const auto found = reading.finish();
    ASSERT_TRUE(found.has_value()) << reads;
    EXPECT_TRUE(*found == object_of(1, 200'000));
    expect_in_order();
  }
}

TEST_F(UfsGated, OfTwoCommitsOfAKeyOneStaysWhole) {
  for (const Side side : {Side::kBefore, Side::kAfter}) {
    store_.gate.hold(IoOperation::kRename, side);
    auto slow = until_held(putting("key", object_of(1, 50'000)));
    ASSERT_TRUE(store_.put("key", object_of(2, 30'000)).has_value());
    store_.gate.release_all();
    ASSERT_TRUE(slow.finish().has_value());
    const auto found = store_.get("key");
    ASSERT_TRUE(found.has_value());
    EXPECT_TRUE(*found == object_of(1, 50'000)) << "the last that was published";
    EXPECT_EQ(store_.files().size(), 1u);
    expect_in_order();
  }
}

TEST_F(UfsGated, AnObjectIsSeenOnlyWhenItsCommitHasEnded) {
  store_.gate.hold(IoOperation::kRename, Side::kAfter);
  auto storing = until_held(putting("key", object_of(1, 50'000)));
  EXPECT_EQ(store_.get("key").error().code, Errc::kNotFound);
  auto stopping = spawn_task(store_.io(), store_.scheme().stop(storage::StopMode::kDrain));
  store_.io().restart();
  store_.io().poll();
  EXPECT_FALSE(stopping.ended()) << "a commit is under way";
  store_.gate.release_all();
  EXPECT_TRUE(storing.finish().has_value());
  EXPECT_TRUE(stopping.finish().has_value());
  const auto report = store_.start();
  ASSERT_TRUE(report.has_value());
  EXPECT_TRUE(report->clean);
  EXPECT_EQ(report->objects, 1u);
  EXPECT_TRUE(store_.get("key").has_value());
}

TEST_F(UfsGated, AnUpdateByRewritingGivesWayToANewObject) {
  for (const Side side : {Side::kBefore, Side::kAfter}) {
    ASSERT_TRUE(store_.put("key", object_of(1, 50'000)).has_value());
    store_.gate.hold(IoOperation::kRename, side);
    auto rewriting = until_held(updating("key", std::string(5000, 'u')));
    ASSERT_TRUE(store_.put("key", object_of(2, 30'000)).has_value());
    store_.gate.release_all();
    EXPECT_EQ(rewriting.finish().error().code, Errc::kNotFound);
    const auto found = store_.get("key");
    ASSERT_TRUE(found.has_value());
    EXPECT_TRUE(*found == object_of(2, 30'000));
    expect_in_order();
  }
}

TEST_F(UfsGated, AnUpdateOfARemovedObjectBringsNothingBack) {
  for (const Side side : {Side::kBefore, Side::kAfter}) {
    for (const size_t size : {size_t{10}, size_t{5000}}) {  // in place, and by rewriting
      ASSERT_TRUE(store_.put("key", object_of(1, 50'000)).has_value());
      store_.gate.hold(IoOperation::kWrite, side);
      auto updating_it = until_held(updating("key", std::string(size, 'u')));
      ASSERT_TRUE(store_.remove("key").has_value());
      store_.gate.release_all();
      (void)updating_it.finish();
      EXPECT_EQ(store_.get("key").error().code, Errc::kNotFound);
      expect_in_order();
    }
  }
}

TEST_F(UfsGated, TwoUpdatesAtOnceLeaveOneOfThem) {
  ASSERT_TRUE(store_.put("key", object_of(1, 50'000)).has_value());
  store_.gate.hold(IoOperation::kWrite, Side::kBefore);
  auto first = until_held(updating("key", "first"));
  ASSERT_TRUE(store_.update("key", "second").has_value());
  store_.gate.release_all();
  (void)first.finish();
  const auto found = store_.get("key");
  ASSERT_TRUE(found.has_value());
  EXPECT_TRUE(found->metadata == "first" || found->metadata == "second") << found->metadata;
  EXPECT_TRUE(found->body == pattern_body(1, 50'000));
  expect_in_order();
}

TEST_F(UfsGated, SpaceIsNotGivenAwayBeforeItIsFree) {
  const uint64_t capacity = store_.spec().capacity_bytes;
  for (uint64_t i = 0; i < 40; ++i) {
    ASSERT_TRUE(store_.put(std::to_string(i), object_of(i, 300'000)).has_value());
  }
  store_.gate.hold(IoOperation::kUnlink, Side::kBefore, 1000);
  std::vector<Spawned<storage::Result<void>>> storing;
  for (uint64_t i = 100; i < 110; ++i) {
    storing.push_back(spawn_task(store_.io(), putting(std::to_string(i), object_of(i, 300'000))));
  }
  run_until(store_.io(), [&] { return store_.gate.held() > 0; });
  for (int steps = 0; steps < 3000; ++steps) {
    store_.io().restart();
    store_.io().poll();
    EXPECT_LE(store_.allocated_bytes(), capacity);
    if (store_.gate.held() == 0) break;
    store_.gate.release();
  }
  store_.gate.release_all();
  for (auto& one : storing) EXPECT_TRUE(one.finish().has_value());
  EXPECT_LE(store_.allocated_bytes(), capacity);
  expect_in_order();
}

TEST_F(UfsGated, AWriterThatIsGivenUpLeavesNothingHoweverLateItsFileCloses) {
  {
    auto writer = store_.run(
        store_.scheme().create(storage::Key("key"), storage::Metadata(std::string("m")), {}));
    ASSERT_TRUE(writer.has_value());
    ASSERT_TRUE(store_.run(append_body(**writer, pattern_body(1, 100'000))).has_value());
    EXPECT_EQ(store_.files(true).size(), 1u);
    store_.gate.hold(IoOperation::kClose, Side::kBefore, 1, ".tmp");
  }
  run_until(store_.io(), [&] { return store_.gate.held() > 0; });
  ASSERT_TRUE(store_.put("key", object_of(2, 30'000)).has_value());
  auto stopping = spawn_task(store_.io(), store_.scheme().stop(storage::StopMode::kDrain));
  store_.io().restart();
  store_.io().poll();
  EXPECT_FALSE(stopping.ended());
  store_.gate.release_all();
  EXPECT_TRUE(stopping.finish().has_value());
  EXPECT_TRUE(store_.files(true).empty());
  const auto report = store_.start();
  ASSERT_TRUE(report.has_value());
  EXPECT_TRUE(report->clean);
  EXPECT_EQ(report->objects, 1u);
}

TEST_F(UfsGated, TheLogKeepsUpWithChangesDuringItsOwnWrites) {
  // It was written under this name, before it took the place of an older one.
  store_.gate.hold(IoOperation::kWrite, Side::kBefore, 1, "swap.log.new");
  std::vector<Spawned<storage::Result<void>>> storing;
  for (uint64_t i = 0; i < 300; ++i) {
    storing.push_back(spawn_task(store_.io(), putting(std::to_string(i), object_of(i, 100))));
  }
  run_until(store_.io(), [&] { return store_.gate.held() > 0; });
  store_.io().restart();
  store_.io().poll();
  EXPECT_EQ(store_.count("objects"), 300) << "nobody waits for the log but who writes it";
  store_.gate.release_all();
  for (auto& one : storing) EXPECT_TRUE(one.finish().has_value());
  for (uint64_t i = 0; i < 300; i += 2) {
    ASSERT_TRUE(store_.remove(std::to_string(i)).has_value());
  }
  EXPECT_EQ(store_.count("swap_log_errors_total"), 0);
  const auto report = store_.start();
  ASSERT_TRUE(report.has_value());
  EXPECT_EQ(report->dropped_damaged, 0u);
  EXPECT_EQ(report->objects, 150u);
}

}  // namespace
}  // namespace testing_support
