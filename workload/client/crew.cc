#include "workload/client/crew.h"

namespace workload {

void Crew::start(const std::vector<std::unique_ptr<LoadWorker>>& workers, RunControl& control,
                 storage::SteadyTime run_start) {
  running_ = workers.size();
  for (const auto& worker : workers) {
    threads_.emplace_back([this, &control, run_start, work = worker.get()] {
      try {
        work->run(run_start);
      } catch (const std::exception& error) {
        control.abort(std::string("a thread failed: ") + error.what());
      }
      const std::lock_guard lock(mutex_);
      --running_;
      ended_.notify_one();
    });
  }
}

bool Crew::wait(std::chrono::nanoseconds wait_max) {
  std::unique_lock lock(mutex_);
  return ended_.wait_for(lock, wait_max, [this] { return running_ == 0; });
}

void Crew::join() {
  for (std::thread& thread : threads_) thread.join();
}

}  // namespace workload
