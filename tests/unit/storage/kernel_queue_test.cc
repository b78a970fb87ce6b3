// The kernel's queues when signals come in between and when the kernel refuses.
#include <gtest/gtest.h>
#include <pthread.h>

#include <atomic>
#include <csignal>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "storage/io/libaio.h"
#include "tests/support/engine_under_test.h"

namespace testing_support {
namespace {

// Interrupts this thread's system calls until it is destroyed.
class Interruptions {
 public:
  Interruptions() {
    struct sigaction ignore {};
    ignore.sa_handler = [](int) {};  // without SA_RESTART
    ::sigaction(SIGUSR1, &ignore, &before_);
    sender_ = std::thread([this, target = ::pthread_self()] {
      while (!done_.load()) {
        ::pthread_kill(target, SIGUSR1);
        std::this_thread::yield();
      }
    });
  }
  ~Interruptions() {
    done_.store(true);
    sender_.join();
    ::sigaction(SIGUSR1, &before_, nullptr);
  }
  Interruptions(const Interruptions&) = delete;
  Interruptions& operator=(const Interruptions&) = delete;

 private:
  struct sigaction before_ {};
  std::atomic<bool> done_{false};
  std::thread sender_;
};

class KernelQueues : public ::testing::TestWithParam<std::string> {};

std::vector<std::string> kernel_queues() {
  std::vector<std::string> names;
  for (const std::string& name : usable_engines()) {
    if (name == "libaio" || name == "posix_aio" || name == "io_uring") names.push_back(name);
  }
  return names;
}

INSTANTIATE_TEST_SUITE_P(Engines, KernelQueues, ::testing::ValuesIn(kernel_queues()),
                         [](const auto& tested) { return tested.param; });

// Going away waits for everything in the kernel: neither for ever, after an interruption that
// came when some had been reaped, nor too short.
TEST_P(KernelQueues, AnInterruptedWaitForTheRestGetsAllOfIt) {
  constexpr size_t kSize = 256 * 1024;
  constexpr size_t kCount = 100;
  storage::EngineChoice choice;
  choice.name = GetParam();
  EngineUnderTest tested(choice);
  const auto file = tested.make_direct_file("a", kCount * 4096);
  if (file == nullptr) GTEST_SKIP() << "the filesystem has no direct transfers";
  std::vector<std::unique_ptr<AlignedBuffer>> buffers;
  std::vector<Spawned<storage::Result<void>>> running;
  for (size_t i = 0; i < kCount; ++i) {
    buffers.push_back(std::make_unique<AlignedBuffer>(kSize));
    std::ranges::fill(buffers.back()->bytes(), std::byte{1});
    running.push_back(spawn_task(tested.io(), file->write(i * kSize, buffers.back()->bytes())));
  }
  tested.io().restart();
  for (size_t i = 0; i < kCount; ++i) tested.io().poll_one();
  EXPECT_GT(tested.count("io_in_flight_max"), 1);
  {
    const Interruptions interruptions;
    tested.destroy_engine();
  }
  for (auto& one : running) EXPECT_TRUE(one.finish().has_value());
}

TEST(Libaio, SaysWhichLimitOfTheKernelIsTooLow) {
  boost::asio::io_context io;
  std::string error;
  uint64_t limit = 0;
  std::ifstream("/proc/sys/fs/aio-max-nr") >> limit;
  if (limit > 1'000'000'000) GTEST_SKIP() << "there is hardly a limit here";
  const auto queue =
      storage::make_libaio_queue(io.get_executor(), static_cast<unsigned>(limit + 1), error);
  EXPECT_EQ(queue, nullptr);
  EXPECT_NE(error.find("fs.aio-max-nr"), std::string::npos) << error;
  EXPECT_NE(error.find(std::to_string(limit)), std::string::npos) << error;
}

}  // namespace
}  // namespace testing_support
