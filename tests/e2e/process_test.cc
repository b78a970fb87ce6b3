// The test's own programs: what they start goes with them, even when they are killed.
#include "tests/support/process.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "tests/support/helper_processes.h"

namespace testing_support {
namespace {

TEST(Process, GoesWhenItsStarterIsKilled) {
  int ends[2] = {-1, -1};
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t starter = ::fork();
  if (starter == 0) {
    const Process started({"sleep", "600"});
    const pid_t pid = started.pid();
    if (::write(ends[1], &pid, sizeof pid) != sizeof pid) ::_exit(1);
    ::pause();
    ::_exit(0);
  }
  pid_t started = -1;
  ASSERT_EQ(::read(ends[0], &started, sizeof started), static_cast<ssize_t>(sizeof started));
  EXPECT_FALSE(has_ended(started));
  ASSERT_EQ(::kill(starter, SIGKILL), 0);
  ASSERT_EQ(::waitpid(starter, nullptr, 0), starter);
  EXPECT_TRUE(wait_for_end(started));
  ::close(ends[0]);
  ::close(ends[1]);
}

}  // namespace
}  // namespace testing_support
