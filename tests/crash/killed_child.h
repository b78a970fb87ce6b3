// A process of its own that reports what it does until it is killed.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <functional>
#include <thread>
#include <vector>

#include "storage/base/random.h"

namespace testing_support {

/// Writes a report, which is short enough to arrive whole; ends the process where nobody reads.
template <class Report>
void send_report(int pipe_fd, const Report& report) {
  if (::write(pipe_fd, &report, sizeof report) != sizeof report) ::_exit(1);
}

/// Runs `work` in a child process, waits for up to `reports_below` reports and at most
/// `microseconds_below` longer, as `random` has it, and kills it. Returns all that it reported.
template <class Report>
std::vector<Report> reports_until_killed(storage::Random& random, uint64_t reports_below,
                                         uint64_t microseconds_below,
                                         const std::function<void(int pipe_fd)>& work) {
  int ends[2] = {-1, -1};
  EXPECT_EQ(::pipe(ends), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(ends[0]);
    work(ends[1]);
    ::_exit(0);
  }
  ::close(ends[1]);
  const uint64_t wanted = random.below(reports_below);
  std::vector<Report> reports;
  Report report;
  while (reports.size() < wanted && ::read(ends[0], &report, sizeof report) == sizeof report) {
    reports.push_back(report);
  }
  std::this_thread::sleep_for(std::chrono::microseconds(random.below(microseconds_below)));
  ::kill(child, SIGKILL);
  while (::read(ends[0], &report, sizeof report) == sizeof report) reports.push_back(report);
  ::close(ends[0]);
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return reports;
}

}  // namespace testing_support
