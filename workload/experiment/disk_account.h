// What a run's modelled disks did while its load was on.
#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "workload/experiment/expected.h"
#include "workload/experiment/verdict.h"
#include "workload/filesystem/disk_program.h"

namespace workload {

/// Counters of a modelled disk at a moment, or what they grew by. Times are the disk's own seconds.
struct DiskFigures {
  uint64_t reads = 0;
  uint64_t writes = 0;
  uint64_t flushes = 0;
  uint64_t read_bytes = 0;
  uint64_t written_bytes = 0;
  uint64_t read_buffer_hits = 0;
  uint64_t fast_operations = 0;  ///< That took no modelled time.
  uint64_t image_errors = 0;
  uint64_t answers = 0;
  double seek_s = 0;
  double rotation_s = 0;
  double transfer_s = 0;
  double elapsed_s = 0;
  double busy_s = 0;
  double commands_s = 0;  ///< Commands under way, integrated over time.
  double late_s = 0;      ///< By which answers were late, all together; of the machine's time.
  bool realtime = false;  ///< The program has a real-time priority.
};

/// Reads an answer to `status`; what is missing is 0.
DiskFigures disk_figures(const boost::json::object& status);

/// What happened between two moments; whatever is no count is as at the later one.
DiskFigures disk_growth(const DiskFigures& before, const DiskFigures& after);

/// Keys as in a run's `devices[].counters` (docs/experiments.md).
boost::json::object disk_counters_to_json(const DiskFigures& growth);

/// What makes the figures of a disk other than its profile has them, one line each. `time_scale`
/// turns lateness into the disk's time.
std::vector<std::string> disk_warnings(const DiskFigures& growth, double time_scale);

/// Operations in a run's `disk` over requests; nothing where either is not known, or 0.
std::optional<double> disk_operations_per(const boost::json::object& record, uint64_t requests);

/// Reads the counters of a run's modelled disks at the beginning and the end of its load. Without
/// disks nothing of this does anything. One thread.
class DiskAccount {
 public:
  /// The disks must outlive begin() and end() only.
  explicit DiskAccount(std::vector<DiskProgram*> disks) : disks_(std::move(disks)) {}

  /// A Problem where a disk does not answer.
  Expected<void> begin() { return read_all(begin_); }
  Expected<void> end();

  /// The busy share, that of the busiest.
  void observe(RunObservation& seen) const;
  /// Puts what the disks did into a run's `disk`, instead of what the kernel counted on the devices
  /// over them, into its `devices[]` and its `cpu_s`.
  void account(boost::json::object& record) const;
  /// Each of disk_warnings() once, with the disk that it is of.
  std::vector<std::string> warnings() const;
  /// CPU seconds of the programs between begin() and end().
  double cpu_s() const { return cpu_end_s_ - cpu_begin_s_; }

 private:
  Expected<void> read_all(std::vector<DiskFigures>& figures);

  std::vector<DiskProgram*> disks_;
  std::vector<DiskFigures> begin_;
  std::vector<DiskFigures> growth_;
  std::string profile_;
  double time_scale_ = 1;
  double cpu_begin_s_ = 0;
  double cpu_end_s_ = 0;
};

}  // namespace workload
