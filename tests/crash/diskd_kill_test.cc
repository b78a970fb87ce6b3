// The process that owns a diskd store is killed, alone or with its helper: nothing stays behind.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <vector>

#include "storage/base/random.h"
#include "tests/support/helper_processes.h"
#include "tests/support/pattern.h"
#include "tests/support/seed.h"
#include "tests/support/ufs_under_test.h"

namespace testing_support {
namespace {

std::string key_of(uint64_t key) {
  return "http://example.org/" + std::to_string(key);
}

StoredObject object_of(uint64_t key) {
  return StoredObject("metadata", pattern_body(key, 3000 + key % 50 * 1000));
}

enum class Session { kOfTheHelper, kOfItsOwn };

// A process that stores objects in `folder` until it is killed. The kernel wakes a stopped helper
// by itself only when a parent in its session ends, and only when it has already stopped.
class Owner {
 public:
  explicit Owner(const std::filesystem::path& folder, Session session = Session::kOfTheHelper) {
    int ends[2] = {-1, -1};
    EXPECT_EQ(::pipe(ends), 0);
    pid_ = ::fork();
    if (pid_ == 0) {
      ::close(ends[0]);
      UfsUnderTest store(64 << 20, 16 * 1024, folder);
      store.engine = UfsUnderTest::engine_named("helper");
      if (!store.start().has_value()) ::_exit(1);
      if (session == Session::kOfItsOwn && ::setsid() < 0) ::_exit(4);
      for (uint64_t i = 0;; ++i) {
        if (!store.put(key_of(i % 100), object_of(i % 100)).has_value()) ::_exit(2);
        if (::write(ends[1], "", 1) != 1) ::_exit(3);
      }
    }
    ::close(ends[1]);
    pipe_fd_ = ends[0];
  }
  ~Owner() {
    ::close(pipe_fd_);
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  Owner(const Owner&) = delete;
  Owner& operator=(const Owner&) = delete;

  pid_t pid() const { return pid_; }
  pid_t helper() const {
    const std::vector<pid_t> helpers = helpers_of(pid_);
    return helpers.empty() ? -1 : helpers.front();
  }
  // Whether so many objects have been stored.
  bool wait_for_objects(uint64_t count) const {
    char byte = 0;
    for (; count > 0; --count) {
      if (::read(pipe_fd_, &byte, 1) != 1) return false;
    }
    return true;
  }

 private:
  pid_t pid_ = -1;
  int pipe_fd_ = -1;
};

// A store in the folder works, and is whole.
void expect_sound(const std::filesystem::path& folder, bool leftovers) {
  UfsUnderTest store(64 << 20, 16 * 1024, folder);
  store.engine = UfsUnderTest::engine_named("helper");
  const auto recovery = store.start();
  ASSERT_TRUE(recovery.has_value()) << to_string(recovery.error());
  EXPECT_EQ(recovery->dropped_damaged, 0u);
  if (leftovers) {
    EXPECT_GT(store.count("helper_leftovers_removed_total"), 0);
  }
  for (uint64_t key = 0; key < 100; ++key) {
    const auto got = store.get(key_of(key));
    if (got.has_value()) {
      EXPECT_TRUE(*got == object_of(key));
    }
  }
  EXPECT_TRUE(store.put(key_of(1), object_of(1)).has_value());
}

class DiskdKill : public ::testing::Test {
 protected:
  TempDir folder_;
  storage::Random random_{test_seed(1)};
};

TEST_F(DiskdKill, AHelperWhoseOwnerIsKilledRemovesTheObjectsAndEnds) {
  for (int round = 0; round < 10; ++round) {
    pid_t helper = -1;
    pid_t owner = -1;
    {
      const Owner process(folder_.path());
      ASSERT_TRUE(process.wait_for_objects(1 + random_.below(60)));
      helper = process.helper();
      owner = process.pid();
      ASSERT_GT(helper, 0);
    }
    EXPECT_TRUE(wait_for_end(helper));
    EXPECT_EQ(ipc_objects_of(owner), 0u);
    expect_sound(folder_.path(), false);
  }
}

TEST_F(DiskdKill, TheNextStoreWaitsForTheHelperOfAKilledOne) {
  for (int round = 0; round < 10; ++round) {
    {
      const Owner process(folder_.path());
      ASSERT_TRUE(process.wait_for_objects(1 + random_.below(60)));
    }
    expect_sound(folder_.path(), false);
  }
}

TEST_F(DiskdKill, WhatBothLeaveIsRemovedByTheNextStore) {
  for (int round = 0; round < 5; ++round) {
    pid_t owner = -1;
    {
      const Owner process(folder_.path());
      ASSERT_TRUE(process.wait_for_objects(1 + random_.below(60)));
      owner = process.pid();
      const pid_t helper = process.helper();
      // So that neither can clean up after the other.
      ::kill(owner, SIGSTOP);
      ::kill(helper, SIGKILL);
      ASSERT_TRUE(wait_for_end(helper));
    }
    EXPECT_EQ(ipc_objects_of(owner), 2u) << "the queues; the memory went with the processes";
    expect_sound(folder_.path(), true);
    EXPECT_EQ(ipc_objects_of(owner), 0u);
  }
}

TEST_F(DiskdKill, AStoppedHelperEndsWithItsOwnerToo) {
  for (const Session session : {Session::kOfTheHelper, Session::kOfItsOwn}) {
    for (int round = 0; round < 5; ++round) {
      pid_t helper = -1;
      pid_t owner = -1;
      {
        const Owner process(folder_.path(), session);
        ASSERT_TRUE(process.wait_for_objects(5));
        helper = process.helper();
        owner = process.pid();
        ASSERT_GT(helper, 0);
        ::kill(helper, SIGSTOP);
      }
      ASSERT_TRUE(wait_for_end(helper));
      EXPECT_EQ(ipc_objects_of(owner), 0u);
      expect_sound(folder_.path(), false);
    }
  }
}

}  // namespace
}  // namespace testing_support
