// One thread of a load run: its event loop, its robots, its part of the stream.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "storage/base/clock.h"
#include "workload/client/load_options.h"
#include "workload/client/request_log.h"
#include "workload/client/request_source.h"
#include "workload/client/robot.h"
#include "workload/client/run_control.h"
#include "workload/measure/recorder.h"

namespace workload {

/// Runs robots until the run is over. run() is called on one thread; the results are read after it
/// has returned.
class LoadWorker final : private RobotHost {
 public:
  /// `index` counts the run's workers from 0: each has a world of objects of its own. `log` may be
  /// null. All references must outlive the worker.
  LoadWorker(const LoadOptions& options, RunControl& control, const storage::Clock& clock,
             RequestLog* log, uint16_t index, uint64_t robots);
  ~LoadWorker() override;

  void run(storage::SteadyTime run_start);

  const RunRecorder& recorder() const { return recorder_; }
  const IdealTally& ideal() const { return ideal_; }
  /// Longest time that the loop ran a due timer late, within the measured part.
  std::chrono::nanoseconds lag_max() const { return lag_max_; }
  /// When the last counted transaction ended.
  storage::SteadyTime last_counted_end() const { return last_counted_end_; }
  uint64_t connections() const { return connections_; }
  uint64_t retries() const { return retries_; }
  const std::string& first_error() const { return first_error_; }

 private:
  Grant take_page(std::vector<IntendedRequest>& page, storage::SteadyTime now) override;
  void give_back(uint64_t requests, const Grant& grant) override;
  uint64_t started(const IntendedRequest& intended, bool measured, storage::SteadyTime start,
                   std::chrono::nanoseconds blocked) override;
  void finished(const IntendedRequest& intended, uint64_t transaction, bool measured,
                storage::SteadyTime start, const TransactionResult& result) override;
  bool over(storage::SteadyTime now) const override;
  void robot_failed(const std::string& reason) override;

  void robot_ended(const std::exception_ptr& failure);
  void pulse();
  void log_transaction(const IntendedRequest& intended, uint64_t transaction, bool counted,
                       storage::SteadyTime start, const TransactionResult& result);

  const LoadOptions& options_;
  RunControl& control_;
  const storage::Clock& clock_;
  RequestLog* log_;
  boost::asio::io_context io_;
  boost::asio::steady_timer pulse_timer_;
  storage::SteadyTime pulse_due_{};
  RequestSource source_;
  TransactionsUnderWay under_way_;
  RobotOptions robot_options_;
  std::vector<std::unique_ptr<Robot>> robots_;
  size_t robots_running_ = 0;
  storage::SteadyTime run_start_{};
  uint64_t next_transaction_;
  RunRecorder recorder_;
  IdealTally ideal_;
  std::chrono::nanoseconds lag_max_{0};
  storage::SteadyTime last_counted_end_{};
  uint64_t connections_ = 0;
  uint64_t retries_ = 0;
  std::string first_error_;
};

}  // namespace workload
