// What the conformance suite cannot see of a memory front: what it serves from where, and that
// changes of the disk that overlap, fail or are overtaken never leave an old version in memory.
#include "storage/layout/memory_front.h"

#include <gtest/gtest.h>

#include "storage/layout/memory.h"
#include "tests/support/counts.h"
#include "tests/support/fake_clock.h"
#include "tests/support/gated_scheme.h"
#include "tests/support/pattern.h"
#include "tests/support/run_task.h"
#include "tests/support/stored_object.h"

namespace storage {
namespace {

using testing_support::append_body;
using testing_support::Counts;
using testing_support::FakeClock;
using testing_support::GatedScheme;
using testing_support::load_object;
using testing_support::pattern_body;
using testing_support::read_body;
using testing_support::run_task;
using testing_support::spawn_task;
using testing_support::store_object;
using testing_support::StoredObject;

class MemoryFrontTest : public ::testing::Test {
 protected:
  MemoryFrontTest() {
    SchemeSpec spec;
    spec.capacity_bytes = 1 << 20;
    const SchemeEnvironment environment{io_.get_executor(), clock_, buffers_};
    auto disk = std::make_unique<GatedScheme>(make_memory(spec, environment).scheme);
    disk_ = disk.get();
    front_ = make_memory_front(std::move(disk), MemoryFrontOptions(256 * 1024, 50'000));
    EXPECT_TRUE(run_task(io_, front_->start()).has_value());
  }

  void put(const std::string& body) {
    ASSERT_TRUE(
        run_task(io_, store_object(*front_, "key", StoredObject("head", body))).has_value());
  }
  /// Behind the front's back, as if the object had been on disk from an earlier run.
  void put_on_disk(const std::string& body) {
    ASSERT_TRUE(run_task(io_, store_object(*disk_, "key", StoredObject("head", body))).has_value());
  }
  std::string get() {
    const auto found = run_task(io_, load_object(*front_, "key"));
    return found.has_value() ? found->body : to_string(found.error());
  }
  std::string get_from_disk() {
    const auto found = run_task(io_, load_object(*disk_, "key"));
    return found.has_value() ? found->body : to_string(found.error());
  }
  std::unique_ptr<Reader> open() {
    auto reader = run_task(io_, front_->open(Key("key")));
    EXPECT_TRUE(reader.has_value());
    return std::move(*reader);
  }
  std::unique_ptr<Writer> writer_of(const std::string& body) {
    auto writer = run_task(io_, front_->create(Key("key"), Metadata("head"), body.size()));
    EXPECT_TRUE(writer.has_value());
    EXPECT_TRUE(run_task(io_, append_body(**writer, body)).has_value());
    return std::move(*writer);
  }
  void poll() {
    io_.restart();
    io_.poll();
  }
  double count(const char* name, const char* label = "") const {
    Counts counts;
    front_->visit_counters(counts);
    return counts.of(name, label);
  }
  double memory_hits() const { return count("memory_front_opens_total", "result=\"hit\""); }

  FakeClock clock_;
  boost::asio::io_context io_;
  BufferPool buffers_{io_.get_executor(), 65536, 1 << 20};
  GatedScheme* disk_ = nullptr;
  std::unique_ptr<StorageScheme> front_;
};

TEST_F(MemoryFrontTest, ANewObjectIsServedFromMemoryAndIsOnDiskToo) {
  put("body");
  EXPECT_EQ(get(), "body");
  EXPECT_EQ(memory_hits(), 1);
  EXPECT_EQ(get_from_disk(), "body");
  EXPECT_TRUE(open()->in_memory());
  EXPECT_EQ(count("objects"), 1);
  EXPECT_EQ(count("memory_front_objects"), 1);
}

TEST_F(MemoryFrontTest, AnObjectReadToItsEndMovesIntoMemory) {
  put_on_disk(pattern_body(1, 40'000));
  EXPECT_EQ(get(), pattern_body(1, 40'000));
  EXPECT_EQ(memory_hits(), 0);
  EXPECT_EQ(count("memory_front_promotions_total"), 1);
  EXPECT_EQ(get(), pattern_body(1, 40'000));
  EXPECT_EQ(memory_hits(), 1);
}

TEST_F(MemoryFrontTest, AnEmptyObjectMovesIntoMemoryToo) {
  put_on_disk("");
  EXPECT_EQ(get(), "");
  EXPECT_EQ(get(), "");
  EXPECT_EQ(memory_hits(), 1);
}

TEST_F(MemoryFrontTest, WhatIsReadInPartOrIsTooLargeStaysOnDisk) {
  put_on_disk(pattern_body(1, 40'000));
  EXPECT_TRUE(run_task(io_, read_body(*open(), 1)).has_value());
  EXPECT_FALSE(run_task(io_, open()->read(0, 39'999))->empty());
  put_on_disk(pattern_body(1, 50'001));
  EXPECT_EQ(get().size(), 50'001u);
  put(pattern_body(2, 50'001));
  EXPECT_EQ(get(), pattern_body(2, 50'001));
  EXPECT_EQ(memory_hits(), 0);
  EXPECT_EQ(count("memory_front_size_bytes"), 0);
}

TEST_F(MemoryFrontTest, OnlyOneOfManyReadersCopies) {
  put_on_disk(pattern_body(1, 40'000));
  const auto one = open();
  const auto two = open();
  EXPECT_EQ(run_task(io_, one->read(0, 20'000))->size(), 20'000u);
  EXPECT_EQ(run_task(io_, two->read(0, 20'000))->size(), 20'000u);
  EXPECT_LE(count("memory_front_size_bytes"), 45'000);
  EXPECT_TRUE(run_task(io_, read_body(*one, 20'000)).has_value());
  EXPECT_TRUE(run_task(io_, read_body(*two)).has_value());
  EXPECT_EQ(count("memory_front_promotions_total"), 1);
}

TEST_F(MemoryFrontTest, AReaderOfAnOldVersionDoesNotPutItIntoMemory) {
  put_on_disk("old body");
  const auto replaced = open();
  EXPECT_EQ(run_task(io_, replaced->read(0, 3))->size(), 3u);
  put("new body");
  EXPECT_EQ(run_task(io_, read_body(*replaced, 3)).value(), " body");
  EXPECT_EQ(get(), "new body");

  const auto removed = open();
  ASSERT_TRUE(run_task(io_, front_->remove(Key("key"))).has_value());
  EXPECT_EQ(run_task(io_, read_body(*removed)).value(), "new body");
  EXPECT_EQ(get(), "not_found");
}

TEST_F(MemoryFrontTest, AnOpenThatAChangeOvertakesDoesNotPromote) {
  put_on_disk("old body");
  disk_->after.close();
  auto opening = spawn_task(io_, load_object(*front_, "key"));
  poll();
  ASSERT_EQ(disk_->after.waiting(), 1u);  // It has the old version in its hands.
  disk_->after.open();
  put("new body");
  disk_->after.let_go();
  EXPECT_EQ(opening.finish()->body, "old body");
  EXPECT_EQ(get(), "new body");
}

TEST_F(MemoryFrontTest, CommitsThatOverlapLeaveWhatTheDiskHas) {
  for (const size_t first : {size_t{0}, size_t{1}}) {
    disk_->before.close();
    disk_->after.close();
    const auto writer_one = writer_of("one");
    const auto writer_two = writer_of("two");
    auto one = spawn_task(io_, writer_one->commit());
    auto two = spawn_task(io_, writer_two->commit());
    poll();
    disk_->before.let_go(first);  // Reaches the disk first,
    poll();
    disk_->before.let_go(0);
    poll();
    disk_->after.let_go(1);  // but hears of it last.
    poll();
    disk_->after.let_go(0);
    EXPECT_TRUE(one.finish().has_value() && two.finish().has_value());
    disk_->before.open();
    disk_->after.open();
    EXPECT_EQ(get_from_disk(), first == 0 ? "two" : "one");
    EXPECT_EQ(get(), get_from_disk());
  }
}

TEST_F(MemoryFrontTest, ACommitAndARemovalThatOverlapLeaveWhatTheDiskHas) {
  put("old");
  disk_->after.close();
  const auto writer = writer_of("new");
  auto committing = spawn_task(io_, writer->commit());
  poll();
  auto removing = spawn_task(io_, front_->remove(Key("key")));
  poll();
  disk_->after.let_go(1);
  EXPECT_TRUE(removing.finish().has_value());
  disk_->after.let_go(0);
  EXPECT_TRUE(committing.finish().has_value());
  disk_->after.open();
  EXPECT_EQ(get_from_disk(), "not_found");
  EXPECT_EQ(get(), "not_found");
}

TEST_F(MemoryFrontTest, AfterAFailedChangeTheDiskIsAsked) {
  put("old");
  const auto writer = writer_of("new");
  disk_->failure = Error(Errc::kIo);
  EXPECT_EQ(run_task(io_, writer->commit()).error(), Errc::kIo);
  EXPECT_EQ(count("memory_front_objects"), 0);
  EXPECT_EQ(get(), "old");
  EXPECT_EQ(count("memory_front_objects"), 1);
  EXPECT_EQ(run_task(io_, front_->update(Key("key"), Metadata("new"))).error(), Errc::kIo);
  EXPECT_EQ(count("memory_front_objects"), 0);
  EXPECT_EQ(get(), "old");
  EXPECT_EQ(run_task(io_, front_->remove(Key("key"))).error(), Errc::kIo);
  EXPECT_EQ(count("memory_front_objects"), 0);
}

TEST_F(MemoryFrontTest, AnUpdateReachesBoth) {
  put("body");
  ASSERT_TRUE(run_task(io_, front_->update(Key("key"), Metadata("new head"))).has_value());
  EXPECT_EQ(open()->metadata().bytes(), "new head");
  EXPECT_TRUE(open()->in_memory());
  EXPECT_EQ(run_task(io_, load_object(*disk_, "key"))->metadata, "new head");
}

TEST_F(MemoryFrontTest, AWriterThatGivesUpLeavesTheOldVersionInBoth) {
  put("old");
  writer_of("new").reset();
  EXPECT_EQ(get(), "old");
  EXPECT_EQ(memory_hits(), 1);
  EXPECT_EQ(get_from_disk(), "old");
}

TEST_F(MemoryFrontTest, AFullMemoryIsNoFailure) {
  std::vector<std::unique_ptr<Writer>> writers;
  for (int i = 0; i < 15; ++i) {
    auto writer = run_task(io_, front_->create(Key(std::to_string(i)), Metadata(), 40'000));
    ASSERT_TRUE(writer.has_value()) << i;
    ASSERT_TRUE(run_task(io_, append_body(**writer, pattern_body(1, 40'000))).has_value());
    writers.push_back(std::move(*writer));
  }
  for (auto& writer : writers) EXPECT_TRUE(run_task(io_, writer->commit()).has_value());
  EXPECT_LE(count("memory_front_size_bytes"), 256 * 1024);
  EXPECT_EQ(count("objects"), 15);
}

}  // namespace
}  // namespace storage
