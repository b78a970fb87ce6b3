// What is noted while a run's load is on, and what it comes to.
#pragma once

#include <boost/json/object.hpp>
#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "workload/experiment/child_process.h"
#include "workload/experiment/machine_stats.h"
#include "workload/experiment/process_account.h"
#include "workload/experiment/run_cost.h"
#include "workload/experiment/verdict.h"

namespace workload {

/// Counters of machine, device and programs at one moment.
struct MachineSnapshot {
  std::chrono::steady_clock::time_point time;
  std::optional<CpuTimes> cpu;
  std::vector<std::optional<DiskCounters>> disks;  ///< In the order of the devices.
  std::optional<ProcessIo> proxy_io;
  double clock_offset_s = 0;
  double proxy_cpu_s = 0;
  double origin_cpu_s = 0;
  double helper_cpu_s = 0;
  double proxy_loop_cpu_s = 0;  ///< Of the proxy's main thread, which its event loop runs on.
  std::optional<ProcessCounters> proxy_counters;
  std::optional<ProcessCounters> origin_counters;
  ProcessCounters helper_counters;
};

/// A process that the proxy has started.
struct WatchedHelper {
  pid_t pid = 0;
  double begin_cpu_s = 0;
  double cpu_s = 0;
  uint64_t blocked_samples = 0;
};

/// Watches the proxy and the origin of a run from begin() to end(). One thread.
class RunWatch {
 public:
  /// `devices` carry the cache; none where no block device does.
  RunWatch(ChildProcess& proxy, ChildProcess& origin, std::vector<BlockDevice> devices);

  /// Once more where what counts begins only now.
  void begin();
  /// Looks at the proxy once; call it every kSamplePeriod between begin() and end().
  void sample();
  /// Must come before the programs are stopped.
  void end();

  /// How often to call sample().
  static constexpr std::chrono::milliseconds kSamplePeriod{50};

  /// Fills the shares of machine, proxy and origin in; the load generator's are the caller's.
  void observe(RunObservation& seen) const;
  /// The `disk` object of the run: operations and bytes of all devices together, the busy time of
  /// the busiest, and where they were counted (`device` with the names, or `process` for the
  /// proxy's own bytes). Unknown figures are null.
  boost::json::object disk() const;
  /// CPU seconds of the proxy and the origin between begin() and end().
  double proxy_cpu_s() const { return end_.proxy_cpu_s - begin_.proxy_cpu_s; }
  double origin_cpu_s() const { return end_.origin_cpu_s - begin_.origin_cpu_s; }
  /// The same of the processes that the proxy has started and that lived until end(); nothing where
  /// it is not known which those are.
  std::optional<double> helper_cpu_s() const;
  /// The most memory that any one of them had; nothing where it is not known.
  std::optional<uint64_t> helper_peak_rss_bytes() const;
  /// Share of the samples in which the proxy waited for a device; nothing where it is not known.
  std::optional<double> proxy_blocked_share() const;
  /// Growth of the counters of proxy, origin and helpers; the load generator's are the caller's.
  ProgramCounters counters() const;
  /// Seconds between begin() and end().
  double length_s() const;

 private:
  MachineSnapshot look();
  /// What all devices did meanwhile, and the busy time of the busiest; nothing where one of them
  /// could not be looked at.
  std::optional<DiskCounters> disk_growth() const;

  ChildProcess& proxy_;
  ChildProcess& origin_;
  std::vector<BlockDevice> devices_;
  MachineSnapshot begin_;
  MachineSnapshot end_;
  std::vector<WatchedHelper> helpers_;  ///< Those that were there at begin().
  bool reads_directly_ = false;
  uint64_t helper_peak_rss_bytes_ = 0;
  uint64_t samples_ = 0;
  uint64_t blocked_samples_ = 0;
};

}  // namespace workload
