// The queue of the thread pool: its order, its limit, and what cancelling does to it.
#include <gtest/gtest.h>

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "storage/io/thread_pool.h"
#include "tests/support/engine_under_test.h"

namespace testing_support {
namespace {

using storage::Errc;
using storage::Error;
using storage::File;
using storage::OpenMode;
using storage::Result;

// Where a thread waits with a call until it is let go.
class Hold {
 public:
  storage::CallOutcome make(const storage::IoCall& call) {
    if (call.path == kHeldPath && call.mode == OpenMode::kRead) {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return let_go_; });
    }
    return storage::perform(call);
  }
  void let_go() {
    const std::lock_guard lock(mutex_);
    let_go_ = true;
    changed_.notify_all();
  }

  static constexpr const char* kHeldPath = "held";

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool let_go_ = false;
};

// A pool of one thread, which can be held up.
class HeldPool {
 public:
  explicit HeldPool(size_t queue_limit) : tested(pool_of_one(queue_limit, hold_)) {
    (void)tested.make_file(Hold::kHeldPath, "");
  }

  void hold() {
    held_.emplace(spawn_task(tested.io(), tested.engine().open(Hold::kHeldPath, OpenMode::kRead)));
    tested.io().restart();
    tested.io().poll();
    while (tested.count("io_running") != 1) std::this_thread::yield();
  }
  Result<std::unique_ptr<File>> release() {
    hold_->let_go();
    Result<std::unique_ptr<File>> opened = held_->finish();
    held_.reset();
    return opened;
  }
  void cancel_held() { held_->cancel(); }
  bool held_ended() const { return held_->ended(); }

 private:
  static std::shared_ptr<storage::CallQueue> pool_of_one(size_t queue_limit,
                                                         const std::shared_ptr<Hold>& hold) {
    storage::ThreadPoolOptions options(1, queue_limit);
    options.make_call = [hold](const storage::IoCall& call) { return hold->make(call); };
    std::string error;
    auto queue = storage::make_thread_pool(options, error);
    if (queue == nullptr) throw std::runtime_error(error);
    return queue;
  }

  std::shared_ptr<Hold> hold_ = std::make_shared<Hold>();
  std::optional<Spawned<Result<std::unique_ptr<File>>>> held_;

 public:
  EngineUnderTest tested;
};

boost::asio::awaitable<bool> noting(storage::Task<void> task, std::vector<std::string>& order,
                                    std::string name) {
  (void)co_await std::move(task);
  order.push_back(std::move(name));
  co_return true;
}

boost::asio::awaitable<bool> noting_size(File& file, std::vector<std::string>& order,
                                         std::string name) {
  (void)co_await file.size_bytes();
  order.push_back(std::move(name));
  co_return true;
}

void poll(boost::asio::io_context& io) {
  io.restart();
  io.poll();
}

TEST(ThreadPool, ReadsGoFirstButNothingWaitsForEver) {
  HeldPool pool(1000);
  const auto file = pool.tested.make_file("a", "text");
  pool.hold();
  std::vector<std::string> order;
  std::vector<Spawned<bool>> running;
  for (int i = 0; i < 3; ++i) {
    running.push_back(
        spawn_task(pool.tested.io(), noting(pool.tested.engine().unlink("none"), order, "unlink")));
  }
  for (int i = 0; i < 20; ++i) {
    running.push_back(spawn_task(pool.tested.io(), noting_size(*file, order, "size")));
  }
  poll(pool.tested.io());
  EXPECT_EQ(pool.tested.count("io_queue_depth"), 23);
  EXPECT_TRUE(order.empty());
  ASSERT_TRUE(pool.release().has_value());
  for (auto& one : running) EXPECT_TRUE(one.finish());
  // The open that was held up was the first of seven.
  std::vector<std::string> wanted(23, "size");
  wanted[6] = wanted[14] = wanted[22] = "unlink";
  EXPECT_EQ(order, wanted);
  EXPECT_EQ(pool.tested.count("io_queue_depth"), 0);
  EXPECT_EQ(pool.tested.count("io_queue_depth_max"), 23);
}

TEST(ThreadPool, BeyondItsLimitItCreatesNoFilesAndStillReads) {
  HeldPool pool(10);
  const auto file = pool.tested.make_file("a", "text");
  storage::IoEngine& engine = pool.tested.engine();
  pool.hold();
  std::vector<std::string> order;
  std::vector<Spawned<bool>> running;
  for (int i = 0; i < 9; ++i) {
    running.push_back(spawn_task(pool.tested.io(), noting(engine.unlink("none"), order, "-")));
  }
  poll(pool.tested.io());
  EXPECT_FALSE(engine.overloaded());
  running.push_back(spawn_task(pool.tested.io(), noting(engine.unlink("none"), order, "-")));
  poll(pool.tested.io());
  EXPECT_TRUE(engine.overloaded());
  EXPECT_EQ(pool.tested.run(engine.open("b", OpenMode::kCreateExclusive)).error(),
            Error(Errc::kOverloaded, EAGAIN));
  EXPECT_EQ(pool.tested.count("io_refusals_total", "operation=\"open\""), 1);

  // Writes to what is open go on until there are twice as many.
  const std::string text = "more";
  running.push_back(spawn_task(
      pool.tested.io(), noting(file->write(0, std::as_bytes(std::span(text))), order, "write")));
  for (int i = 0; i < 9; ++i) {
    running.push_back(spawn_task(pool.tested.io(), noting(engine.unlink("none"), order, "-")));
  }
  poll(pool.tested.io());
  EXPECT_EQ(pool.tested.count("io_queue_depth"), 20);
  EXPECT_EQ(pool.tested.run(file->write(0, std::as_bytes(std::span(text)))).error(),
            Error(Errc::kOverloaded, EAGAIN));
  EXPECT_EQ(pool.tested.count("io_refusals_total", "operation=\"write\""), 1);

  std::vector<std::byte> buffer(4);
  auto reading = spawn_task(pool.tested.io(), file->read(0, buffer));
  poll(pool.tested.io());
  ASSERT_TRUE(pool.release().has_value());
  EXPECT_EQ(*reading.finish(), 4u);
  for (auto& one : running) EXPECT_TRUE(one.finish());
  EXPECT_FALSE(engine.overloaded());
  EXPECT_TRUE(pool.tested.run(engine.open("b", OpenMode::kCreateExclusive)).has_value());
}

TEST(ThreadPool, ClosesAreNoLoad) {
  HeldPool pool(5);
  std::vector<std::unique_ptr<File>> files;
  for (int i = 0; i < 20; ++i) files.push_back(pool.tested.make_file(std::to_string(i), "text"));
  pool.hold();
  files.clear();
  EXPECT_FALSE(pool.tested.engine().overloaded());
  EXPECT_EQ(pool.tested.count("io_queue_depth"), 0);
  ASSERT_TRUE(pool.release().has_value());
}

TEST(ThreadPool, CancellingEndsWhatWaitsAtOnceAndWhatRunsWhenItEnds) {
  HeldPool pool(100);
  pool.hold();
  auto waiting =
      spawn_task(pool.tested.io(), pool.tested.engine().open("new", OpenMode::kCreateExclusive));
  poll(pool.tested.io());
  waiting.cancel();
  pool.cancel_held();
  poll(pool.tested.io());
  EXPECT_TRUE(waiting.ended()) << "though the only thread is held up";
  EXPECT_EQ(waiting.finish().error().code, Errc::kAborted);
  EXPECT_FALSE(pool.held_ended());
  EXPECT_EQ(pool.tested.count("io_queue_depth"), 0);
  (void)pool.release();
  EXPECT_FALSE(std::filesystem::exists(pool.tested.path_of("new")));
}

}  // namespace
}  // namespace testing_support
