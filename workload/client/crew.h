// The threads of a load run.
#pragma once

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "workload/client/load_worker.h"
#include "workload/client/run_control.h"

namespace workload {

/// The threads of a process' part of a run, and how many are still at work.
class Crew {
 public:
  /// Runs each worker on a thread of its own; one that fails aborts the run. The workers must
  /// outlive join().
  void start(const std::vector<std::unique_ptr<LoadWorker>>& workers, RunControl& control,
             storage::SteadyTime run_start);
  /// Waits until all have ended, `wait_max` at most; true where they have.
  bool wait(std::chrono::nanoseconds wait_max);
  void join();

 private:
  std::mutex mutex_;
  std::condition_variable ended_;
  size_t running_ = 0;
  std::vector<std::thread> threads_;
};

}  // namespace workload
