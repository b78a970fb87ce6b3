// What other people's programs leave with the kernel is known by whose it is, and removed.
#include "workload/filesystem/shared_memory.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/shm.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cctype>

namespace workload {
namespace {

TEST(SharedMemory, NamesSayWhoseTheyAreAndAreDifferent) {
  const std::string name = shared_memory_name();
  EXPECT_NE(name, shared_memory_name());
  for (const char c : name) EXPECT_TRUE(std::isalnum(static_cast<unsigned char>(c))) << name;
  ASSERT_TRUE(shared_memory_owner(name));
  EXPECT_EQ(*shared_memory_owner(name), own_identity());
  for (const char* other : {"", "cacheoff", "cacheoff1x2x3", "cacheoff1x2x", "cacheoff0x2x3x",
                            "cacheoff1xx3x", "squid1x2x3x", "cacheoff1x2x3x4x", "cacheoffxxx"}) {
    EXPECT_FALSE(shared_memory_owner(other)) << other;
  }
}

TEST(SharedMemory, OnlyWhatBeginsWithTheNameIsRemoved) {
  const std::string name = shared_memory_name();
  const std::string kept = shared_memory_name() + "-kept";
  for (const auto& segment : {"/" + name + "-rock", "/" + name + "-index", "/" + kept}) {
    const int fd = shm_open(segment.c_str(), O_CREAT | O_RDWR | O_EXCL, 0600);
    ASSERT_GE(fd, 0);
    close(fd);
  }
  EXPECT_EQ(remove_shared_memory(""), 0U);
  EXPECT_EQ(remove_shared_memory("cacheoff"), 0U);
  EXPECT_EQ(remove_shared_memory(name), 2U);
  EXPECT_EQ(shm_unlink(("/" + kept).c_str()), 0);
}

TEST(SharedMemory, QueuesOfADeadProxyAreRemovedByItsNumber) {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  const auto key = static_cast<key_t>(static_cast<uint32_t>(child) << 10);
  const int queue = msgget(key, IPC_CREAT | IPC_EXCL | 0600);
  const int segment = shmget(key + 2, 4096, IPC_CREAT | IPC_EXCL | 0600);
  if (queue < 0 || segment < 0) {
    if (queue >= 0) msgctl(queue, IPC_RMID, nullptr);
    GTEST_SKIP() << "no System V queues or segments here";
  }
  EXPECT_EQ(remove_diskd_queues(child + 1), 0U);
  EXPECT_EQ(remove_diskd_queues(child), 2U);
  msqid_ds about{};
  EXPECT_NE(msgctl(queue, IPC_STAT, &about), 0);
}

TEST(SharedMemory, NamesOfProcessesAreReadBack) {
  const auto process = process_of_name(name_of_process(getpid()));
  ASSERT_TRUE(process);
  EXPECT_EQ(*process, own_identity());
  EXPECT_FALSE(process_of_name("12"));
  EXPECT_FALSE(process_of_name("0-1"));
}

}  // namespace
}  // namespace workload
