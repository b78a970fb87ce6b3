#include "storage/layout/key_turns.h"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>

#include "storage/base/guarded_task.h"
#include "tests/support/run_task.h"
#include "tests/support/stored_object.h"

namespace storage {
namespace {

constexpr KeyHash kOne{1, 1};
constexpr KeyHash kTwo{2, 2};

class KeyTurnsTest : public ::testing::Test {
 protected:
  testing_support::Spawned<Result<KeyTurns::Turn>> take(KeyHash hash) {
    return testing_support::spawn_task(io_, guarded(turns_.take(hash)));
  }
  void poll() {
    io_.restart();
    io_.poll();
  }
  boost::asio::io_context io_;
  KeyTurns turns_{io_.get_executor()};
};

TEST_F(KeyTurnsTest, OneHashHasOneTurnAtATimeAndOthersDoNotWaitForIt) {
  auto first = std::make_unique<Result<KeyTurns::Turn>>(take(kOne).finish());
  ASSERT_TRUE(first->has_value());
  EXPECT_TRUE(take(kTwo).finish().has_value());
  auto second = take(kOne);
  poll();
  EXPECT_FALSE(second.ended());
  first.reset();
  EXPECT_TRUE(second.finish().has_value());
}

TEST_F(KeyTurnsTest, ManyTakersNeverOverlapAndLeaveNothing) {
  unsigned inside = 0;
  unsigned done = 0;
  const auto work = [&](KeyHash hash) -> Task<void> {
    const auto turn = co_await turns_.take(hash);
    EXPECT_EQ(inside, 0u);
    ++inside;
    co_await testing_support::yield_to_others();
    co_await testing_support::yield_to_others();
    --inside;
    ++done;
    co_return Result<void>();
  };
  std::vector<testing_support::Spawned<Result<void>>> workers;
  for (int i = 0; i < 20; ++i) workers.push_back(testing_support::spawn_task(io_, work(kOne)));
  for (auto& worker : workers) EXPECT_TRUE(worker.finish().has_value());
  EXPECT_EQ(done, 20u);
  EXPECT_EQ(turns_.size(), 0u);
}

TEST_F(KeyTurnsTest, AWaiterThatIsCancelledGivesUp) {
  auto first = std::make_unique<Result<KeyTurns::Turn>>(take(kOne).finish());
  {
    auto waiting = take(kOne);
    poll();
    waiting.cancel();
    EXPECT_EQ(waiting.finish().error(), Errc::kAborted);
    poll();
  }
  EXPECT_EQ(turns_.size(), 1u);
  first.reset();
  EXPECT_EQ(turns_.size(), 0u);
}

}  // namespace
}  // namespace storage
