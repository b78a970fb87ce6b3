// One thread of a load run: its event loop, its robots or its part of an open loop.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "storage/base/clock.h"
#include "workload/client/doubts.h"
#include "workload/client/ideal_tally.h"
#include "workload/client/load_options.h"
#include "workload/client/open_loop.h"
#include "workload/client/page_source.h"
#include "workload/client/request_log.h"
#include "workload/client/robot.h"
#include "workload/client/run_control.h"
#include "workload/measure/recorder.h"

namespace workload {

/// How the generator itself fared on one thread, within the recorded part.
struct WorkerHealth {
  Histogram lag;       ///< How late the loop ran a timer that was due, looked at every 10 ms.
  Histogram lateness;  ///< How late requests started for the generator's own reasons.
  double cpu_s = 0;    ///< Of the thread.
  double wall_s = 0;   ///< Over which that was.
  uint64_t connections = 0;
  uint64_t retries = 0;
  uint64_t ports_exhausted = 0;        ///< Transactions that found no local port.
  uint64_t descriptors_exhausted = 0;  ///< Transactions that found no descriptor.

  /// Adds another thread's.
  void merge(const WorkerHealth& other);
};

/// Runs robots or an open loop until the run is over. run() is called on one thread; the results
/// are read after it has returned.
class LoadWorker final : private RobotHost {
 public:
  /// `index` counts the run's workers from 0, over all ranks. `log` may be null, and `doubts` where
  /// there is one rank. All references must outlive the worker.
  LoadWorker(const LoadOptions& options, RunControl& control, PageSource& source,
             TransactionsUnderWay& under_way, const storage::Clock& clock, RequestLog* log,
             DoubtSink* doubts, uint64_t index);
  ~LoadWorker() override;

  void run(storage::SteadyTime run_start);

  /// Its series and latency log hold what was recorded; its own counts stay empty.
  const RunRecorder& recorder() const { return recorder_; }
  /// By phase; empty for one that is not recorded.
  const std::vector<Measurements>& phases() const { return phases_; }
  /// Of what it sent in primary phases.
  const IdealTally& ideal() const { return ideal_; }
  const WorkerHealth& health() const { return health_; }
  /// When the last counted transaction ended.
  storage::SteadyTime last_counted_end() const { return last_counted_end_; }
  const std::string& first_error() const { return first_error_; }

 private:
  Grant take_page(std::vector<IntendedRequest>& page, storage::SteadyTime now) override;
  void wait_for_page(size_t robot) override;
  void give_back(uint64_t requests, const Grant& grant) override;
  bool active(size_t robot) const override;
  double load_factor() const override;
  void offered(size_t phase, storage::SteadyTime due) override;
  void not_sent(size_t phase, storage::SteadyTime now, NotSent reason) override;
  uint64_t started(const IntendedRequest& intended, const RequestTimes& times,
                   std::chrono::nanoseconds blocked) override;
  void finished(const IntendedRequest& intended, uint64_t transaction, const RequestTimes& times,
                const TransactionResult& result) override;
  void woke_late(std::chrono::nanoseconds lateness) override;
  bool over(storage::SteadyTime now) const override;
  void sender_failed(const std::string& reason) override;

  void make_robots();
  void make_open_loop();
  void pages_came(size_t pages);
  void sender_ended(const std::exception_ptr& failure);
  void pulse();
  void look_at_cpu(storage::SteadyTime now);
  void look_at_phase(storage::SteadyTime now);
  bool recorded(size_t phase) const { return control_.phases()[phase].recorded; }
  /// The row of the series that an instant lies in; none is behind the run's end.
  Tally& row_at(storage::SteadyTime time);
  void note_doubts(size_t phase, bool counted, const TransactionResult& result);
  void log_transaction(const IntendedRequest& intended, uint64_t transaction, bool counted,
                       const RequestTimes& times, const TransactionResult& result);

  const LoadOptions& options_;
  RunControl& control_;
  PageSource& source_;
  TransactionsUnderWay& under_way_;
  const storage::Clock& clock_;
  RequestLog* log_;
  DoubtSink* doubts_;
  uint64_t index_;
  boost::asio::io_context io_;
  boost::asio::steady_timer pulse_timer_;
  storage::SteadyTime pulse_due_{};
  RobotOptions robot_options_;
  std::vector<std::unique_ptr<Robot>> robots_;
  std::deque<size_t> waiting_for_page_;  ///< Robots, the longest first.
  std::unique_ptr<OpenLoop> open_loop_;
  size_t senders_running_ = 0;
  uint64_t active_robots_;  ///< Of the whole run.
  double load_factor_ = 1;
  storage::SteadyTime run_start_{};
  RunRecorder recorder_;
  std::vector<Measurements> phases_;
  IdealTally ideal_;
  WorkerHealth health_;
  std::optional<double> cpu_begin_s_;
  storage::SteadyTime cpu_begin_{};
  storage::SteadyTime last_counted_end_{};
  std::string first_error_;
};

}  // namespace workload
