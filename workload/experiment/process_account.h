// What the kernel counts of a process while it works: waits, faults, bytes from storage.
//
// The read_ functions take a folder such as /proc/PID; nothing here throws.
#pragma once

#include <sys/types.h>

#include <boost/json/value.hpp>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

namespace workload {

/// Counters of a process since it was started, or their growth.
struct ProcessCounters {
  /// Of the threads that it has now; those that have ended took theirs with them.
  uint64_t voluntary_switches = 0;    ///< It had to wait for something.
  uint64_t involuntary_switches = 0;  ///< Its time was up, or something more urgent came.
  uint64_t minor_faults = 0;          ///< Memory had to be mapped.
  uint64_t major_faults = 0;          ///< And read from storage.
  /// What it made storage devices read, metadata and read-ahead included; nothing where the kernel
  /// does not say.
  std::optional<uint64_t> read_bytes;

  /// Adds those of another process.
  ProcessCounters& operator+=(const ProcessCounters& other);
  /// What was added since `before`; 0 of a counter that went back.
  ProcessCounters since(const ProcessCounters& before) const;
};

/// Fields 10 and 12 of /proc/PID/stat into the faults; false where the text is damaged.
bool parse_faults(std::string_view proc_pid_stat, ProcessCounters& counters);

/// Nothing where the process is gone.
std::optional<ProcessCounters> read_process_counters(const std::filesystem::path& proc_folder);

/// CPU seconds of its main thread alone; nothing where it is gone.
std::optional<double> read_main_thread_cpu_s(const std::filesystem::path& proc_folder, pid_t pid);

/// Fields 14 and 15 of a /proc/.../stat together, in seconds; nothing where the text is damaged.
std::optional<double> parse_cpu_ticks_s(std::string_view proc_stat, double ticks_per_second);

/// Whether it has a file open that bypasses the page cache (O_DIRECT).
bool reads_directly(const std::filesystem::path& proc_folder);

/// `{voluntary,involuntary}`; null of nothing.
boost::json::value switches_to_json(const std::optional<ProcessCounters>& counters);
/// `{minor,major}`; null of nothing.
boost::json::value faults_to_json(const std::optional<ProcessCounters>& counters);

}  // namespace workload
