#include "workload/experiment/child_process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <thread>

#include "tests/support/temp_dir.h"
#include "workload/experiment/machine_stats.h"
#include "workload/report/json_text.h"

namespace workload {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::HasSubstr;

class ChildProcessTest : public testing::Test {
 protected:
  Expected<ChildProcess> start_shell(const std::string& script) {
    return ChildProcess::start({{"/bin/sh", "-c", script}, out_, err_});
  }

  std::string text_of(const std::string& path) {
    auto text = read_file(path, 1 << 20);
    return text ? *text : "";
  }

  testing_support::TempDir folder_;
  std::string out_ = (folder_ / "out").string();
  std::string err_ = (folder_ / "err").string();
};

bool is_running(pid_t pid) {
  const char state = read_process_state(pid);
  return state != 0 && state != 'Z' && state != 'X';
}

void wait_until_gone(pid_t pid) {
  for (int turn = 0; turn < 3000 && is_running(pid); ++turn) {
    std::this_thread::sleep_for(milliseconds(10));
  }
}

TEST_F(ChildProcessTest, GivesTheReadyLineAndKeepsAllOutput) {
  auto child = start_shell("echo first; echo 'x: listening on 1.2.3.4:5'; echo w >&2; echo last");
  ASSERT_TRUE(child);
  const auto line = child->wait_ready("listening on", seconds(60));
  ASSERT_TRUE(line);
  EXPECT_EQ(*line, "x: listening on 1.2.3.4:5");
  ASSERT_EQ(ChildWaiter::wait({&*child}, nullptr, seconds(60)), ChildWaiter::Event::kChildEnded);
  EXPECT_EQ(child->stop().exit_status, 0);
  EXPECT_EQ(text_of(out_), "first\nx: listening on 1.2.3.4:5\nlast\n");
  EXPECT_EQ(text_of(err_), "w\n");
  EXPECT_EQ(child->output(), "last\n");
}

TEST_F(ChildProcessTest, SaysWhyItIsNotReady) {
  auto ended = start_shell("exit 3");
  ASSERT_TRUE(ended);
  const auto no_line = ended->wait_ready("listening", seconds(60));
  ASSERT_FALSE(no_line);
  EXPECT_THAT(no_line.error().text, HasSubstr("ended with status 3 before it was ready"));

  auto silent = start_shell("exec sleep 1000");
  ASSERT_TRUE(silent);
  const auto too_late = silent->wait_ready("listening", milliseconds(20));
  ASSERT_FALSE(too_late);
  EXPECT_THAT(too_late.error().text, HasSubstr("was not ready after 20 ms"));
}

TEST_F(ChildProcessTest, NamesAProgramThatDoesNotExist) {
  const auto child = ChildProcess::start({{(folder_ / "none").string()}, out_, err_});
  ASSERT_FALSE(child);
  EXPECT_THAT(child.error().text, HasSubstr("none"));
  EXPECT_THAT(child.error().text, HasSubstr("No such file"));
}

TEST_F(ChildProcessTest, StopsByTermAndByKillWhereThatDoesNotDo) {
  auto polite = start_shell("trap 'exit 7' TERM; echo up; while :; do sleep 0.01; done");
  ASSERT_TRUE(polite);
  ASSERT_TRUE(polite->wait_ready("up", seconds(60)));
  const ChildEnd asked = polite->stop(seconds(60));
  EXPECT_EQ(asked.exit_status, 7);
  EXPECT_FALSE(asked.killed);

  auto deaf = start_shell("trap '' TERM; echo up; while :; do sleep 0.01; done");
  ASSERT_TRUE(deaf);
  ASSERT_TRUE(deaf->wait_ready("up", seconds(60)));
  const ChildEnd forced = deaf->stop(milliseconds(50));
  EXPECT_EQ(forced.exit_status, 128 + SIGKILL);
  EXPECT_TRUE(forced.killed);
  EXPECT_THAT(forced.text(), HasSubstr("signal 9"));
}

TEST_F(ChildProcessTest, LeavesNothingOfItsGroup) {
  pid_t grandchild = 0;
  {
    auto child = start_shell("sleep 1000 & echo $!; wait");
    ASSERT_TRUE(child);
    const auto line = child->wait_ready("", seconds(60));
    ASSERT_TRUE(line);
    grandchild = std::stoi(*line);
    ASSERT_TRUE(is_running(grandchild));
  }
  wait_until_gone(grandchild);
  EXPECT_FALSE(is_running(grandchild));
}

TEST_F(ChildProcessTest, DiesWithItsParent) {
  const std::string note = (folder_ / "pid").string();
  const pid_t parent = fork();
  ASSERT_GE(parent, 0);
  if (parent == 0) {
    auto child = start_shell("exec sleep 1000");
    std::ofstream(note + ".new") << (child ? child->pid() : 0) << std::endl;
    rename((note + ".new").c_str(), note.c_str());
    for (;;) pause();
  }
  for (int turn = 0; turn < 6000 && access(note.c_str(), R_OK) != 0; ++turn) {
    std::this_thread::sleep_for(milliseconds(10));
  }
  pid_t child = 0;
  std::ifstream(note) >> child;
  ASSERT_GT(child, 0);
  EXPECT_TRUE(is_running(child));
  kill(parent, SIGKILL);
  waitpid(parent, nullptr, 0);
  wait_until_gone(child);
  EXPECT_FALSE(is_running(child));
}

TEST_F(ChildProcessTest, MeasuresTheChildAndNotItself) {
  // Pages of this process, which a child's own peak must not include.
  std::vector<char> ballast(64 << 20, 'x');
  auto child =
      start_shell("i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; echo done; exec sleep 1000");
  ASSERT_TRUE(child);
  ASSERT_TRUE(child->wait_ready("done", seconds(60)));
  child->sample_memory();
  EXPECT_GT(child->cpu_s(), 0);
  const ChildEnd end = child->stop();
  EXPECT_GT(end.use.cpu_s, 0);
  EXPECT_GT(end.use.peak_rss_bytes, 0U);
  EXPECT_LT(end.use.peak_rss_bytes, ballast.size() / 2);
}

TEST_F(ChildProcessTest, ASignalEndsTheWaitAndNotTheProcess) {
  StopSignals stop;
  auto child = start_shell("exec sleep 1000");
  ASSERT_TRUE(child);
  EXPECT_EQ(stop.received(), 0);
  EXPECT_EQ(ChildWaiter::wait({&*child}, &stop, milliseconds(1)), ChildWaiter::Event::kTimeout);
  raise(SIGINT);
  EXPECT_EQ(ChildWaiter::wait({&*child}, &stop, seconds(60)), ChildWaiter::Event::kStopRequested);
  EXPECT_EQ(stop.received(), SIGINT);
  // The child has its own dispositions: SIGTERM ends it although we block it.
  const ChildEnd end = child->stop(seconds(60));
  EXPECT_EQ(end.exit_status, 128 + SIGTERM);
  EXPECT_FALSE(end.killed);
}

TEST_F(ChildProcessTest, OutputLargerThanThePipeDoesNotStopIt) {
  auto child = start_shell("echo up; head -c 300000 /dev/zero | tr '\\0' 'a'");
  ASSERT_TRUE(child);
  ASSERT_TRUE(child->wait_ready("up", seconds(60)));
  ASSERT_EQ(ChildWaiter::wait({&*child}, nullptr, seconds(60)), ChildWaiter::Event::kChildEnded);
  EXPECT_EQ(child->stop().exit_status, 0);
  EXPECT_EQ(text_of(out_).size(), 300003U);
}

TEST(OutputOfTest, ReturnsOutputOrTheReason) {
  const auto text = output_of({"/bin/sh", "-c", "echo one; echo two"}, seconds(60));
  ASSERT_TRUE(text);
  EXPECT_EQ(*text, "one\ntwo\n");
  const auto failed = output_of({"/bin/sh", "-c", "exit 4"}, seconds(60));
  ASSERT_FALSE(failed);
  EXPECT_THAT(failed.error().text, HasSubstr("status 4"));
  const auto slow = output_of({"/bin/sh", "-c", "exec sleep 1000"}, milliseconds(20));
  ASSERT_FALSE(slow);
  EXPECT_THAT(slow.error().text, HasSubstr("took too long"));
}

}  // namespace
}  // namespace workload
