#include "storage/base/buffer_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <thread>

#include "tests/support/counts.h"
#include "tests/support/run_task.h"

namespace storage {
namespace {

namespace asio = boost::asio;
using testing_support::Counts;
using testing_support::run_task;
using testing_support::spawn_task;
using testing_support::Spawned;

constexpr size_t kBufferSize = 8192;

/// acquire() as a caller who wants errors in place of exceptions.
Task<Space> acquire(BufferPool& pool, std::chrono::milliseconds wait_max) {
  co_await asio::this_coro::throw_if_cancelled(false);
  co_return co_await pool.acquire(wait_max);
}

class BufferPoolTest : public ::testing::Test {
 protected:
  Spawned<Result<Space>> spawn_acquire(std::chrono::milliseconds wait_max = std::chrono::hours(1)) {
    Spawned<Result<Space>> spawned = spawn_task(io_, acquire(*pool_, wait_max));
    poll();
    return spawned;
  }
  void poll() {
    io_.restart();
    io_.poll();
  }
  double count(const char* name) const {
    Counts counts;
    pool_->visit_counters(counts);
    return counts.of(name);
  }

  asio::io_context io_;
  std::unique_ptr<BufferPool> pool_ =
      std::make_unique<BufferPool>(io_.get_executor(), kBufferSize, 3 * kBufferSize);
};

TEST_F(BufferPoolTest, LendsAlignedBuffersUpToItsBound) {
  std::vector<Space> spaces;
  for (int i = 0; i < 3; ++i) {
    auto space = run_task(io_, pool_->acquire());
    ASSERT_TRUE(space.has_value());
    EXPECT_EQ(space->size(), kBufferSize);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(space->bytes().data()) % 4096, 0u);
    std::ranges::fill(space->bytes(), std::byte{0xff});
    spaces.push_back(std::move(*space));
  }
  EXPECT_EQ(pool_->try_acquire().error(), Errc::kOverloaded);
  EXPECT_EQ(count("buffer_pool_leased_bytes"), 3 * kBufferSize);
  EXPECT_EQ(count("buffer_pool_refusals_total"), 1);
  spaces.clear();
  EXPECT_EQ(count("buffer_pool_leased_bytes"), 0);
  EXPECT_TRUE(pool_->try_acquire().has_value());
}

TEST_F(BufferPoolTest, OneBufferIsAlwaysAllowed) {
  BufferPool tiny(io_.get_executor(), kBufferSize, 1);
  const auto space = tiny.try_acquire();
  EXPECT_TRUE(space.has_value());
  EXPECT_TRUE(tiny.try_acquire().has_error());
}

TEST_F(BufferPoolTest, APieceKeepsTheBufferOut) {
  Piece piece = pool_->try_acquire()->share(10);
  EXPECT_EQ(count("buffer_pool_leased_bytes"), kBufferSize);
  piece = Piece();
  EXPECT_EQ(count("buffer_pool_leased_bytes"), 0);
}

TEST_F(BufferPoolTest, WaitersAreServedInOrderOfArrival) {
  std::vector<Space> spaces;
  for (int i = 0; i < 3; ++i) spaces.push_back(pool_->try_acquire().value());
  auto first = spawn_acquire();
  auto second = spawn_acquire();
  EXPECT_EQ(count("buffer_pool_waits_total"), 2);
  spaces.pop_back();
  // Nobody overtakes those who wait, not even before they have run.
  EXPECT_TRUE(pool_->try_acquire().has_error());
  poll();
  EXPECT_TRUE(first.ended());
  EXPECT_FALSE(second.ended());
  spaces.pop_back();
  EXPECT_TRUE(second.finish().has_value());
  EXPECT_TRUE(first.finish().has_value());
}

TEST_F(BufferPoolTest, AWaitHasALimit) {
  std::vector<Space> spaces;
  for (int i = 0; i < 3; ++i) spaces.push_back(pool_->try_acquire().value());
  EXPECT_EQ(run_task(io_, pool_->acquire(std::chrono::milliseconds(1))).error(), Errc::kOverloaded);
  EXPECT_EQ(count("buffer_pool_refusals_total"), 1);
  spaces.pop_back();
  EXPECT_TRUE(pool_->try_acquire().has_value()) << "the waiter that gave up is still in the queue";
}

TEST_F(BufferPoolTest, ACancelledWaitIsAbortedAndLeavesTheQueue) {
  std::vector<Space> spaces;
  for (int i = 0; i < 3; ++i) spaces.push_back(pool_->try_acquire().value());
  auto cancelled = spawn_acquire();
  auto other = spawn_acquire();
  cancelled.cancel();
  EXPECT_EQ(cancelled.finish().error(), Errc::kAborted);
  spaces.pop_back();
  EXPECT_TRUE(other.finish().has_value());
}

TEST_F(BufferPoolTest, ABufferGrantedToACancelledWaiterGoesToTheNext) {
  std::vector<Space> spaces;
  for (int i = 0; i < 3; ++i) spaces.push_back(pool_->try_acquire().value());
  auto cancelled = spawn_acquire();
  auto other = spawn_acquire();
  spaces.pop_back();   // Granted to the first,
  cancelled.cancel();  // which is cancelled before it can run.
  EXPECT_EQ(cancelled.finish().error(), Errc::kAborted);
  EXPECT_TRUE(other.finish().has_value());
  spaces.clear();
  EXPECT_EQ(count("buffer_pool_leased_bytes"), 0);
}

TEST_F(BufferPoolTest, WaitersOfAPoolThatGoesAreStopped) {
  std::vector<Space> spaces;
  for (int i = 0; i < 3; ++i) spaces.push_back(pool_->try_acquire().value());
  auto waiting = spawn_acquire();
  pool_.reset();
  EXPECT_EQ(waiting.finish().error(), Errc::kStopped);
}

TEST_F(BufferPoolTest, LeasesOutliveThePool) {
  Space space = pool_->try_acquire().value();
  pool_.reset();
  std::ranges::fill(space.bytes(), std::byte{1});
}

TEST_F(BufferPoolTest, AWaiterDestroyedWithItsContextHarmsNobody) {
  std::vector<Space> spaces;
  auto io = std::make_unique<asio::io_context>();
  BufferPool pool(io->get_executor(), kBufferSize, kBufferSize);
  Space space = pool.try_acquire().value();
  asio::co_spawn(*io, pool.acquire(std::chrono::hours(1)),
                 [](std::exception_ptr, Result<Space>) { FAIL() << "it was destroyed"; });
  io->poll();
  io.reset();
  space = Space();
  EXPECT_TRUE(pool.try_acquire().has_value());
}

TEST_F(BufferPoolTest, LeasesComeBackFromOtherThreads) {
  constexpr int kRounds = 2000;
  std::vector<std::jthread> threads;
  std::mutex mutex;
  std::vector<Space> lent;
  std::atomic<bool> done{false};
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([&] {
      while (!done) {
        std::vector<Space> mine;
        const std::lock_guard lock(mutex);
        mine.swap(lent);
      }
    });
  }
  for (int round = 0; round < kRounds; ++round) {
    auto space = run_task(io_, pool_->acquire(std::chrono::minutes(1)));
    ASSERT_TRUE(space.has_value());
    space->bytes()[0] = std::byte{1};
    const std::lock_guard lock(mutex);
    lent.push_back(std::move(*space));
  }
  done = true;
  threads.clear();
  lent.clear();
  EXPECT_EQ(count("buffer_pool_leased_bytes"), 0);
}

}  // namespace
}  // namespace storage
