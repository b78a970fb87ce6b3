#include "storage/layout/directories.h"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>

#include "tests/support/counts.h"
#include "tests/support/fake_clock.h"
#include "tests/support/gated_scheme.h"
#include "tests/support/pattern.h"
#include "tests/support/run_task.h"
#include "tests/support/stored_object.h"
#include "tests/support/temp_dir.h"

namespace storage {
namespace {

using testing_support::BodySize;
using testing_support::GatedScheme;
using testing_support::pattern_body;
using testing_support::StoredObject;

/// Something that runs stores, whatever they are made of.
class StoreTest : public ::testing::Test {
 protected:
  SchemeEnvironment environment() {
    return SchemeEnvironment{io_.get_executor(), clock_, buffers_};
  }
  template <class T>
  Result<T> run(Task<T> task) {
    return testing_support::run_task(io_, std::move(task));
  }
  Result<void> put(const std::string& key, const std::string& body,
                   BodySize told = BodySize::kKnown) {
    return run(testing_support::store_object(*store_, key, StoredObject("head", body), told));
  }
  std::string get(const std::string& key) {
    const auto found = run(testing_support::load_object(*store_, key));
    return found ? found->body : name_of(found.error().code);
  }
  Result<std::unique_ptr<Writer>> create(const std::string& key,
                                         std::optional<uint64_t> size_bytes = {}) {
    return run(store_->create(Key(key), Metadata("head"), size_bytes));
  }
  double count(std::string_view name, std::string_view label = "") {
    testing_support::Counts counts;
    store_->visit_counters(counts);
    return counts.of(name, label);
  }
  double count_in(size_t directory, std::string_view name) {
    return count("directory_" + std::string(name), "dir=\"" + std::to_string(directory) + "\"");
  }

  testing_support::FakeClock clock_;
  boost::asio::io_context io_;
  BufferPool buffers_{io_.get_executor(), 65536, 4 << 20};
  std::unique_ptr<StorageScheme> store_;
};

/// Several directories in memory, with a gate before each.
class DirectoriesTest : public StoreTest {
 protected:
  void make(size_t directories, StoreSelection selection, bool started = true) {
    std::vector<CacheDirectory> given;
    gates_.clear();
    for (size_t i = 0; i < directories; ++i) {
      SchemeSpec spec;
      spec.scheme = "memory";
      spec.capacity_bytes = 1 << 20;
      auto gated = std::make_unique<GatedScheme>(make_bare_scheme(spec, environment()).scheme);
      gates_.push_back(gated.get());
      given.emplace_back().scheme = std::move(gated);
    }
    store_ = make_directories(std::move(given), selection, environment());
    if (started) {
      ASSERT_TRUE(run(store_->start()).has_value());
    }
  }
  std::vector<GatedScheme*> gates_;
};

TEST_F(DirectoriesTest, RoundRobinTakesEachInTurn) {
  make(3, StoreSelection::kRoundRobin);
  for (int i = 0; i < 6; ++i) ASSERT_TRUE(put(std::to_string(i), "body").has_value());
  for (size_t directory = 0; directory < 3; ++directory) {
    EXPECT_EQ(count_in(directory, "chosen_total"), 2);
    EXPECT_EQ(count_in(directory, "objects"), 2);
  }
  EXPECT_EQ(count("objects"), 6);
  for (int i = 0; i < 6; ++i) EXPECT_EQ(get(std::to_string(i)), "body");
}

TEST_F(DirectoriesTest, LeastLoadAvoidsWhereObjectsAreBeingWritten) {
  make(2, StoreSelection::kLeastLoad);
  auto slow = create("slow");
  ASSERT_TRUE(slow.has_value());
  ASSERT_EQ(count_in(0, "load"), 1);
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(put(std::to_string(i), "body").has_value());
  EXPECT_EQ(count_in(0, "chosen_total"), 1);
  EXPECT_EQ(count_in(1, "chosen_total"), 5);
  slow->reset();
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(put("equal " + std::to_string(i), "body").has_value());
  EXPECT_EQ(count_in(0, "chosen_total"), 3);
  EXPECT_EQ(count_in(0, "load"), 0);
}

TEST_F(DirectoriesTest, LeastLoadAvoidsWhereCallsWait) {
  make(2, StoreSelection::kLeastLoad);
  ASSERT_TRUE(put("in 0", "body").has_value());
  gates_[0]->before.close();
  auto opening = testing_support::spawn_task(io_, store_->open(Key("in 0")));
  testing_support::run_until(io_, [this] { return gates_[0]->before.waiting() == 1; });
  gates_[0]->before.open();
  EXPECT_EQ(count_in(0, "load"), 1);
  auto first = create("new");
  EXPECT_EQ(count_in(1, "chosen_total"), 1);
  gates_[0]->before.let_go();
  EXPECT_TRUE(opening.finish().has_value());
}

TEST_F(DirectoriesTest, ANewVersionElsewhereReplacesTheOldOne) {
  make(2, StoreSelection::kRoundRobin);
  ASSERT_TRUE(put("key", "old").has_value());
  ASSERT_TRUE(put("key", "new").has_value());
  EXPECT_EQ(count_in(0, "objects"), 0);
  EXPECT_EQ(count_in(1, "objects"), 1);
  EXPECT_EQ(get("key"), "new");
  ASSERT_TRUE(run(store_->update(Key("key"), Metadata("newer head"))).has_value());
  EXPECT_EQ(run(testing_support::load_object(*store_, "key"))->metadata, "newer head");
  ASSERT_TRUE(run(store_->remove(Key("key"))).has_value());
  EXPECT_EQ(get("key"), "not_found");
  EXPECT_EQ(run(store_->update(Key("key"), Metadata())).error(), Errc::kNotFound);
}

TEST_F(DirectoriesTest, AnOldVersionThatCannotBeRemovedIsNotReplaced) {
  make(2, StoreSelection::kRoundRobin);
  ASSERT_TRUE(put("key", "old").has_value());
  gates_[0]->failure = Error(Errc::kIo, 5);
  EXPECT_EQ(put("key", "new").error(), Error(Errc::kIo, 5));
  EXPECT_EQ(get("key"), "old");
  EXPECT_EQ(count("objects"), 1);
}

TEST_F(DirectoriesTest, OfTwoCommitsAtOnceInDifferentDirectoriesOneIsKept) {
  make(2, StoreSelection::kRoundRobin);
  auto first = create("key");
  auto second = create("key");
  ASSERT_TRUE(first.has_value() && second.has_value());
  ASSERT_TRUE(run(testing_support::append_body(**first, "first")).has_value());
  ASSERT_TRUE(run(testing_support::append_body(**second, "second")).has_value());
  // The first one has removed what is in the other directory, and waits before its commit.
  gates_[0]->before.close();
  auto committing = testing_support::spawn_task(io_, (*first)->commit());
  testing_support::run_until(io_, [this] { return gates_[0]->before.waiting() == 1; });
  gates_[0]->before.open();
  auto waiting = testing_support::spawn_task(io_, (*second)->commit());
  io_.restart();
  io_.poll();
  EXPECT_FALSE(waiting.ended());
  gates_[0]->before.let_go();
  EXPECT_TRUE(committing.finish().has_value());
  EXPECT_TRUE(waiting.finish().has_value());
  EXPECT_EQ(count("objects"), 1);
  EXPECT_EQ(get("key"), "second");
}

TEST_F(DirectoriesTest, ACommitThatWaitsForItsTurnCanBeCancelled) {
  make(2, StoreSelection::kRoundRobin);
  auto first = create("key");
  auto second = create("key");
  gates_[0]->before.close();
  auto committing = testing_support::spawn_task(io_, (*first)->commit());
  testing_support::run_until(io_, [this] { return gates_[0]->before.waiting() == 1; });
  gates_[0]->before.open();
  auto waiting = testing_support::spawn_task(io_, (*second)->commit());
  io_.restart();
  io_.poll();
  waiting.cancel();
  EXPECT_EQ(waiting.finish().error(), Errc::kAborted);
  gates_[0]->before.let_go();
  EXPECT_TRUE(committing.finish().has_value());
  EXPECT_EQ(count("objects"), 1);
}

TEST_F(DirectoriesTest, AnOpenThatMeetsAMoveGivesOneVersion) {
  make(2, StoreSelection::kRoundRobin);
  ASSERT_TRUE(put("key", "old").has_value());
  // It has found the old version in one directory when the other one gets the new version.
  gates_[0]->after.close();
  auto opening = testing_support::spawn_task(io_, testing_support::load_object(*store_, "key"));
  testing_support::run_until(io_, [this] { return gates_[0]->after.waiting() == 1; });
  gates_[0]->after.open();
  ASSERT_TRUE(put("key", "new").has_value());
  gates_[0]->after.let_go();
  const auto found = opening.finish();
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->body, "new");
  EXPECT_EQ(count("duplicates_removed_total"), 0);
}

TEST_F(DirectoriesTest, OfTwoVersionsOfUnknownAgeNoneIsServed) {
  make(3, StoreSelection::kRoundRobin);
  for (const size_t directory : {0, 2}) {
    ASSERT_TRUE(run(testing_support::store_object(*gates_[directory], "key",
                                                  StoredObject("", std::to_string(directory))))
                    .has_value());
  }
  EXPECT_EQ(get("key"), "not_found");
  EXPECT_EQ(count("duplicates_removed_total"), 1);
  EXPECT_EQ(count("objects"), 0);
}

TEST_F(DirectoriesTest, ADirectoryThatCannotBeStartedFailsTheStartAndIsNamed) {
  make(3, StoreSelection::kRoundRobin, false);
  ASSERT_TRUE(run(gates_[1]->stop(StopMode::kDrain)).has_value());
  EXPECT_EQ(run(store_->start()).error(), Errc::kStopped);
  ASSERT_EQ(store_->info().warnings.size(), 1u);
  EXPECT_EQ(store_->info().warnings[0], "cache directory 1 (memory): cannot be started: stopped");
  EXPECT_EQ(run(store_->open(Key("key"))).error(), Errc::kStopped);
  EXPECT_EQ(run(gates_[0]->open(Key("key"))).error(), Errc::kStopped);
}

/// Stores made of what a user writes.
class MadeStoreTest : public StoreTest {
 protected:
  std::string make(std::vector<std::string> texts) {
    std::vector<SchemeSpec> specs;
    for (std::string& text : texts) {
      if (const size_t at = text.find("DIR"); at != std::string::npos) {
        text.replace(at, 3, folder_.path().string());
      }
      std::string error;
      specs.push_back(parse_scheme_spec(text, error));
      EXPECT_EQ(error, "");
    }
    store_.reset();
    SchemeOrError made = make_store(specs, StoreSelection::kRoundRobin, environment());
    store_ = std::move(made.scheme);
    if (store_) {
      EXPECT_TRUE(run(store_->start()).has_value());
    }
    return made.error;
  }
  testing_support::TempDir folder_;
};

TEST_F(MadeStoreTest, ObjectsGoWhereTheirSizeIsWelcome) {
  ASSERT_EQ(make({"scheme=ufs,path=DIR/small,size=4M,l1=1,l2=1,max-size=10K",
                  "scheme=ufs,path=DIR/large,size=4M,l1=1,l2=1,min-size=10241,max-size=100K"}),
            "");
  for (int i = 0; i < 3; ++i) {
    const std::string name = std::to_string(i);
    ASSERT_TRUE(put("small " + name, pattern_body(1, 10240)).has_value());
    ASSERT_TRUE(put("large " + name, pattern_body(2, 10241)).has_value());
    ASSERT_TRUE(put("unknown " + name, pattern_body(3, 100), BodySize::kUnknown).has_value());
  }
  EXPECT_EQ(count_in(0, "objects"), 6);
  EXPECT_EQ(count_in(1, "objects"), 3);
  EXPECT_EQ(put("huge", pattern_body(4, 102401)).error(), Errc::kTooLarge);
  EXPECT_EQ(put("growing", pattern_body(4, 20000), BodySize::kUnknown).error(), Errc::kTooLarge);
  EXPECT_EQ(get("growing"), "not_found");
  EXPECT_EQ(count("objects"), 9);
  EXPECT_EQ(store_->info().object_size_bytes_max, 100u * 1024);
  EXPECT_EQ(store_->info().capacity_bytes, 8u << 20);
}

TEST_F(MadeStoreTest, UnknownSizesGoFirstWhereEverySizeIsWelcome) {
  ASSERT_EQ(make({"scheme=ufs,path=DIR/small,size=4M,l1=1,l2=1,max-size=10K",
                  "scheme=ufs,path=DIR/any,size=4M,l1=1,l2=1"}),
            "");
  for (int i = 0; i < 4; ++i) {
    ASSERT_TRUE(put(std::to_string(i), pattern_body(1, 20000), BodySize::kUnknown).has_value());
  }
  EXPECT_EQ(count_in(1, "objects"), 4);
}

TEST_F(MadeStoreTest, BoundsHoldForASingleDirectoryToo) {
  ASSERT_EQ(make({"scheme=ufs,path=DIR/one,size=4M,l1=1,l2=1,min-size=1K"}), "");
  EXPECT_EQ(put("small", pattern_body(1, 1023)).error(), Errc::kTooSmall);
  EXPECT_EQ(put("unknown", pattern_body(1, 2000), BodySize::kUnknown).error(), Errc::kTooSmall);
  EXPECT_TRUE(put("large", pattern_body(1, 1024)).has_value());
  EXPECT_EQ(count("declines_total", "reason=\"too_small\""), 2);
}

TEST_F(MadeStoreTest, WhatOneDeclinesGoesToTheNext) {
  ASSERT_EQ(make({"scheme=memory,size=1M,max-object=1K", "scheme=memory,size=1M"}), "");
  for (int i = 0; i < 4; ++i) {
    ASSERT_TRUE(put(std::to_string(i), pattern_body(1, 2000)).has_value());
  }
  EXPECT_EQ(count_in(1, "chosen_total"), 4);
  EXPECT_EQ(put("huge", pattern_body(1, 1 << 20)).error(), Errc::kTooLarge);
}

TEST_F(MadeStoreTest, SaysWhatItIs) {
  ASSERT_EQ(make({}), "");
  EXPECT_EQ(store_->info().name, "none");
  ASSERT_EQ(make({"scheme=memory,size=1M"}), "");
  EXPECT_EQ(store_->info().name, "memory");
  EXPECT_EQ(count("directory_info", "dir=\"0\",type=\"memory\",path=\"\""), -1);
  ASSERT_EQ(make({"scheme=memory,size=1M", "scheme=ufs,path=DIR/a,size=4M,l1=1,l2=1",
                  "scheme=memory,size=2M"}),
            "");
  EXPECT_EQ(store_->info().name, "memory+ufs");
  EXPECT_FALSE(store_->info().persistent);
  EXPECT_EQ(store_->info().capacity_bytes, 7u << 20);
  EXPECT_EQ(count("directory_info",
                  "dir=\"1\",type=\"ufs\",path=\"" + (folder_.path() / "a").string() + "\""),
            1);
  EXPECT_GE(count_in(2, "writers_open"), 0) << "each is measured";
}

TEST_F(MadeStoreTest, SaysInOneLineWhatIsWrong) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> wrong = {
      {{"scheme=ufs,path=DIR/a,size=4M", "scheme=ufs,path=DIR/b/../a,size=4M"},
       "two cache directories have path="},
      {{"scheme=none", "scheme=memory,size=1M"}, "scheme none holds nothing"},
      {{"scheme=memory,size=1M", "scheme=memory"}, "scheme memory needs size="},
      {{"scheme=memory,size=1M,min-size=1K"}, "has no option 'min-size'"},
      {{"scheme=ufs,path=DIR/a,size=4M,min-size=x"}, "option min-size=x of scheme ufs: give"},
      {{"scheme=ufs,path=DIR/a,size=4M,min-size=2K,max-size=1K"}, "min-size must not be above"},
      {{"scheme=memory,size=1M", "scheme=ufs,path=DIR/a,size=4M,max-size=-1"},
       "option max-size=-1 of scheme ufs: give"},
      {{"scheme=ufs,path=DIR/a,size=4M,policy=fifo"}, "unknown replacement policy 'fifo'"},
      {{"scheme=memory,size=1M,policy=fifo"}, "known are lru, heap-gdsf,"},
  };
  for (const auto& [texts, message] : wrong) {
    const std::string error = make(texts);
    EXPECT_FALSE(store_) << texts.front();
    EXPECT_NE(error.find(message), std::string::npos) << texts.front() << " gave: " << error;
  }
}

TEST(StoreSelectionText, IsReadAsUsersWriteIt) {
  EXPECT_EQ(parse_store_selection("round-robin"), StoreSelection::kRoundRobin);
  EXPECT_EQ(parse_store_selection("least-load"), StoreSelection::kLeastLoad);
  EXPECT_EQ(parse_store_selection("random"), std::nullopt);
}

}  // namespace
}  // namespace storage
