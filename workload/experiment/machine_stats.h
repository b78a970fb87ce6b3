// What the kernel counts while a run is on: CPU time, steal, disks, a process's I/O, clocks.
//
// The parse_ functions are pure, the read_ functions ask /proc and give nothing where it is not
// there; nothing here throws.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "storage/base/kernel_file.h"

namespace workload {

/// CPU time of the whole machine since boot, in clock ticks.
struct CpuTimes {
  uint64_t total = 0;
  uint64_t idle = 0;   ///< Waiting for I/O included.
  uint64_t steal = 0;  ///< Taken by the hypervisor for others.
};

/// Reads the `cpu` line of /proc/stat.
std::optional<CpuTimes> parse_cpu_times(std::string_view proc_stat);
std::optional<CpuTimes> read_cpu_times();

/// Counters of a block device since boot.
struct DiskCounters {
  uint64_t reads = 0;
  uint64_t writes = 0;
  uint64_t read_bytes = 0;
  uint64_t write_bytes = 0;
  uint64_t busy_ms = 0;  ///< Time with at least one operation under way.
};

/// The line of that device in /proc/diskstats.
std::optional<DiskCounters> parse_diskstats(std::string_view diskstats, unsigned device_major,
                                            unsigned device_minor);

/// A block device by number and name (`vda1`).
struct BlockDevice {
  unsigned major = 0;
  unsigned minor = 0;
  std::string name;
};

/// The block device that carries a folder's filesystem, or that a device node is; nothing for
/// tmpfs, network filesystems and others that no block device carries.
std::optional<BlockDevice> block_device_of(const std::filesystem::path& folder);
std::optional<DiskCounters> read_disk_counters(const BlockDevice& device);

/// Bytes that a process made storage devices read and write.
struct ProcessIo {
  uint64_t read_bytes = 0;
  uint64_t write_bytes = 0;
};

/// Reads the text of /proc/PID/io.
std::optional<ProcessIo> parse_process_io(std::string_view text);
std::optional<ProcessIo> read_process_io(pid_t pid);

/// The processes that a process has started and that still run.
std::vector<pid_t> read_children(pid_t pid);

/// CPU seconds of a process so far; nothing where it is gone.
std::optional<double> read_cpu_s(pid_t pid);

/// The most memory that a process has had resident, in bytes; 0 where it is gone.
uint64_t read_peak_rss_bytes(pid_t pid);

/// State of a process's main thread as /proc/PID/stat gives it: `R` running, `D` waiting for a
/// device, `S` asleep; 0 where it is gone.
char parse_process_state(std::string_view proc_pid_stat);
char read_process_state(pid_t pid);

/// Wall time minus monotonic time, in seconds: it moves when the wall clock is stepped.
double clock_offset_s();

/// Load average over the last minute; nothing where /proc has none.
std::optional<double> read_load_average();

using storage::read_kernel_file;

}  // namespace workload
