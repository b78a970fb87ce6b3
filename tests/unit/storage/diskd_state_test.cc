// The System V objects of a store: how they are made, found again, and never confused with others.
#include "storage/io/diskd/helper_state.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/shm.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>
#include <fstream>

#include "storage/io/diskd/ipc_objects.h"
#include "tests/support/helper_processes.h"
#include "tests/support/temp_dir.h"

namespace storage {
namespace {

using testing_support::ipc_objects_of;
using testing_support::TempDir;

constexpr auto kWait = std::chrono::seconds(5);

OwnedFd folder_fd_of(const TempDir& folder) {
  return OwnedFd(::open(folder.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

// A queue that is removed with this, unless somebody else has.
class SomeQueue {
 public:
  SomeQueue(int32_t key, int mode) : id_(::msgget(key, IPC_CREAT | IPC_EXCL | mode)) {}
  ~SomeQueue() { ::msgctl(id_, IPC_RMID, nullptr); }
  SomeQueue(const SomeQueue&) = delete;
  SomeQueue& operator=(const SomeQueue&) = delete;
  int id() const { return id_; }
  bool exists() const {
    msqid_ds status{};
    return ::msgctl(id_, IPC_STAT, &status) == 0;
  }

 private:
  int id_;
};

HelperObjects objects_of(int32_t requests_key) {
  HelperObjects objects;
  objects.pid = ::getpid();
  objects.time_s = std::time(nullptr);
  objects.requests_key = requests_key;
  return objects;
}

// Of no other test and no other run.
int32_t own_key(int number) {
  return 0x40000000 + static_cast<int32_t>(::getpid() % 100'000) * 16 + number;
}

TEST(DiskdState, ItsTextIsOfOneLengthAndReadExactly) {
  HelperObjects objects = objects_of(0x7fffffff);
  objects.replies_key = 1;
  objects.memory_key = 0x12345;
  const std::string text = encode_helper_objects(objects);
  EXPECT_EQ(text.size(), encode_helper_objects(HelperObjects()).size());
  EXPECT_EQ(decode_helper_objects(text), objects);
  for (size_t size = 0; size < text.size(); ++size) {
    EXPECT_FALSE(decode_helper_objects(text.substr(0, size)).has_value());
  }
  EXPECT_FALSE(decode_helper_objects(text + "\n").has_value());
  EXPECT_FALSE(decode_helper_objects("cacheoff diskd state, version 2\n").has_value());
}

TEST(DiskdState, OnlyWhatWasCertainlyMadeByTheStoreIsRemoved) {
  const HelperObjects objects = objects_of(own_key(1));
  {
    const SomeQueue its_own(own_key(1), 0600);
    EXPECT_EQ(remove_helper_objects(objects), 1u);
    EXPECT_FALSE(its_own.exists());
  }
  EXPECT_EQ(remove_helper_objects(objects), 0u) << "gone already";
  {
    const SomeQueue of_other_mode(own_key(1), 0644);
    EXPECT_EQ(remove_helper_objects(objects), 0u);
    EXPECT_TRUE(of_other_mode.exists());
  }
  const SomeQueue others(own_key(1), 0600);
  HelperObjects earlier = objects;
  earlier.time_s -= 60;
  EXPECT_EQ(remove_helper_objects(earlier), 0u) << "made later than the store would have";
  HelperObjects later = objects;
  later.time_s += 60;
  EXPECT_EQ(remove_helper_objects(later), 0u) << "made before the store";
  struct {
    long type = 1;
    char text = 'x';
  } message;
  ASSERT_EQ(::msgsnd(others.id(), &message, 1, 0), 0);
  HelperObjects of_another = objects;
  of_another.pid = 1;
  EXPECT_EQ(remove_helper_objects(of_another), 0u) << "another process has sent to it";
  EXPECT_TRUE(others.exists());
}

TEST(DiskdState, ASegmentSaysWhoMadeIt) {
  HelperObjects objects = objects_of(0);
  objects.memory_key = own_key(2);
  const int id = ::shmget(objects.memory_key, 4096, IPC_CREAT | IPC_EXCL | 0600);
  ASSERT_GE(id, 0);
  HelperObjects of_another = objects;
  of_another.pid = 1;
  EXPECT_EQ(remove_helper_objects(of_another), 0u);
  EXPECT_EQ(remove_helper_objects(objects), 1u);
  EXPECT_EQ(::shmctl(id, IPC_RMID, nullptr), -1);
}

TEST(DiskdState, ObjectsGoWithTheirOwnerAndLeaveNothing) {
  const TempDir folder;
  const OwnedFd folder_fd = folder_fd_of(folder);
  std::string error;
  const auto state = HelperState::open(folder_fd.get(), kWait, error);
  ASSERT_NE(state, nullptr) << error;
  Random random(1);
  msqid_ds status{};
  int queue = -1;
  {
    const auto objects = IpcObjects::make(*state, 3, 72, random, error);
    ASSERT_NE(objects, nullptr) << error;
    EXPECT_EQ(objects->memory().size(), 3 * 64 * 1024u);
    queue = objects->requests_id();
    ASSERT_EQ(::msgctl(queue, IPC_STAT, &status), 0);
    EXPECT_EQ(status.msg_perm.mode & 0777, 0600);
    EXPECT_EQ(static_cast<uint32_t>(status.msg_perm.__key) >> 10, static_cast<uint32_t>(::getpid()))
        << "by which a runner finds what a killed process left";
    EXPECT_EQ(ipc_objects_of(::getpid()), 1u) << "the segment; nobody has used the queues";
  }
  EXPECT_EQ(::msgctl(queue, IPC_STAT, &status), -1);
  EXPECT_EQ(ipc_objects_of(::getpid()), 0u);
}

TEST(DiskdState, WhatAKilledOwnerLeftIsRemovedByTheNext) {
  const TempDir folder;
  const OwnedFd folder_fd = folder_fd_of(folder);
  const pid_t child = ::fork();
  if (child == 0) {
    std::string error;
    const auto state = HelperState::open(folder_fd.get(), kWait, error);
    Random random(1);
    const auto objects = IpcObjects::make(*state, 3, 72, random, error);
    ::_exit(objects != nullptr ? 0 : 1);  // without its destructor
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_EQ(status, 0);
  std::string error;
  const auto state = HelperState::open(folder_fd.get(), kWait, error);
  ASSERT_NE(state, nullptr) << error;
  EXPECT_EQ(state->leftovers(), 2u) << "both queues; the segment went with the process";
  EXPECT_EQ(ipc_objects_of(child), 0u);
}

TEST(DiskdState, ADamagedFileIsNoReasonToRemoveAnything) {
  const TempDir folder;
  const SomeQueue others(own_key(3), 0600);
  std::string text = encode_helper_objects(objects_of(own_key(3)));
  text[0] = 'C';
  std::ofstream(folder / std::string(kHelperStateName)) << text << "and more";
  std::string error;
  const OwnedFd folder_fd = folder_fd_of(folder);
  const auto state = HelperState::open(folder_fd.get(), kWait, error);
  ASSERT_NE(state, nullptr) << error;
  EXPECT_EQ(state->leftovers(), 0u);
  EXPECT_TRUE(others.exists());
  EXPECT_EQ(state->write(HelperObjects()), 0);
  EXPECT_EQ(std::filesystem::file_size(folder / std::string(kHelperStateName)),
            encode_helper_objects(HelperObjects()).size());
}

TEST(DiskdState, OneHelperAFolder) {
  const TempDir folder;
  const OwnedFd folder_fd = folder_fd_of(folder);
  std::string error;
  const auto first = HelperState::open(folder_fd.get(), kWait, error);
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(HelperState::open(folder_fd.get(), std::chrono::milliseconds(5), error), nullptr);
  EXPECT_NE(error.find("cacheoff-diskd"), std::string::npos) << error;
}

TEST(DiskdState, SaysWhichLimitOfTheKernelIsTooLow) {
  const auto says = [](const char* call, int failure, const char* word) {
    return explain_ipc_failure(call, failure, 1 << 20).find(word) != std::string::npos;
  };
  EXPECT_TRUE(says("msgget", ENOSPC, "sysctl -w kernel.msgmni="));
  EXPECT_TRUE(says("shmget", EINVAL, "sysctl -w kernel.shmmax=1048576"));
  EXPECT_TRUE(says("shmget", ENOSPC, "kernel.shmall="));
  EXPECT_TRUE(says("shmget", ENOSPC, "kernel.shmmni="));
  EXPECT_TRUE(says("shmat", EACCES, "shmat: "));
}

// Sets one limit in a System V world of its own and returns what making the objects says.
std::string error_with(const std::string& limit, const std::string& value) {
  int ends[2] = {-1, -1};
  if (::pipe(ends) != 0) return "no pipe";
  const TempDir folder;
  const OwnedFd folder_fd = folder_fd_of(folder);
  const pid_t child = ::fork();
  if (child == 0) {
    std::string error = "not allowed";
    if (::unshare(CLONE_NEWIPC) == 0 &&
        (std::ofstream("/proc/sys/kernel/" + limit) << value << std::flush)) {
      error.clear();
      const auto state = HelperState::open(folder_fd.get(), kWait, error);
      Random random(1);
      const auto objects = IpcObjects::make(*state, 80, 72, random, error);
    }
    (void)!::write(ends[1], error.data(), error.size());
    ::_exit(0);
  }
  ::close(ends[1]);
  std::string text(1000, '\0');
  const ssize_t got = ::read(ends[0], text.data(), text.size());
  ::close(ends[0]);
  ::waitpid(child, nullptr, 0);
  text.resize(got > 0 ? static_cast<size_t>(got) : 0);
  return text;
}

TEST(DiskdState, EveryLimitOfARealKernelIsNamed) {
  if (error_with("msgmni", "32000") == "not allowed") GTEST_SKIP() << "only root may set limits";
  EXPECT_EQ(error_with("msgmni", "32000"), "");
  for (const auto& [limit, value] :
       std::vector<std::pair<std::string, std::string>>{{"msgmni", "1"},
                                                        {"msgmnb", "512"},
                                                        {"msgmax", "64"},
                                                        {"shmmax", "65536"},
                                                        {"shmall", "16"},
                                                        {"shmmni", "0"}}) {
    const std::string error = error_with(limit, value);
    EXPECT_NE(error.find("kernel." + limit), std::string::npos) << limit << ": " << error;
    EXPECT_NE(error.find("sysctl -w"), std::string::npos) << error;
    EXPECT_EQ(error.find('\n'), std::string::npos) << error;
  }
}

}  // namespace
}  // namespace storage
