#include "workload/experiment/machine_stats.h"

#include <time.h>

#include <cstdlib>
#include <sstream>
#include <vector>

namespace workload {
namespace {

constexpr uint64_t kSectorBytes = 512;  // Of /proc/diskstats, whatever the device's own.

double seconds_now(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

std::optional<uint64_t> value_behind(std::string_view text, std::string_view key) {
  const size_t at = text.find(key);
  if (at == std::string_view::npos) return std::nullopt;
  std::istringstream in{std::string(text.substr(at + key.size(), 32))};
  uint64_t value = 0;
  if (!(in >> value)) return std::nullopt;
  return value;
}

}  // namespace

std::optional<CpuTimes> parse_cpu_times(std::string_view proc_stat) {
  if (proc_stat.substr(0, 4) != "cpu ") return std::nullopt;
  std::istringstream line{std::string(proc_stat.substr(4, proc_stat.find('\n') - 4))};
  std::vector<uint64_t> ticks;
  for (uint64_t value = 0; line >> value;) ticks.push_back(value);
  // user nice system idle iowait irq softirq steal [guest guest_nice, which user and nice include]
  if (ticks.size() < 8) return std::nullopt;
  CpuTimes times;
  for (size_t i = 0; i < 8; ++i) times.total += ticks[i];
  times.idle = ticks[3] + ticks[4];
  times.steal = ticks[7];
  return times;
}

std::optional<CpuTimes> read_cpu_times() {
  return parse_cpu_times(read_kernel_file("/proc/stat"));
}

std::optional<DiskCounters> parse_diskstats(std::string_view diskstats, unsigned device_major,
                                            unsigned device_minor) {
  std::istringstream lines{std::string(diskstats)};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    unsigned line_major = 0;
    unsigned line_minor = 0;
    std::string name;
    uint64_t merged = 0;
    uint64_t read_sectors = 0;
    uint64_t write_sectors = 0;
    uint64_t spent_ms = 0;
    uint64_t in_flight = 0;
    DiskCounters counters;
    fields >> line_major >> line_minor >> name >> counters.reads >> merged >> read_sectors >>
        spent_ms >> counters.writes >> merged >> write_sectors >> spent_ms >> in_flight >>
        counters.busy_ms;
    if (!fields || line_major != device_major || line_minor != device_minor) continue;
    counters.read_bytes = read_sectors * kSectorBytes;
    counters.write_bytes = write_sectors * kSectorBytes;
    return counters;
  }
  return std::nullopt;
}

std::optional<DiskCounters> read_disk_counters(const BlockDevice& device) {
  return parse_diskstats(read_kernel_file("/proc/diskstats"), device.major, device.minor);
}

std::optional<ProcessIo> parse_process_io(std::string_view text) {
  const auto read = value_behind(text, "\nread_bytes: ");
  const auto written = value_behind(text, "\nwrite_bytes: ");
  if (!read || !written) return std::nullopt;
  return ProcessIo{*read, *written};
}

std::optional<ProcessIo> read_process_io(pid_t pid) {
  return parse_process_io(read_kernel_file("/proc/" + std::to_string(pid) + "/io"));
}

std::vector<pid_t> read_children(pid_t pid) {
  std::vector<pid_t> children;
  for (const auto& thread :
       storage::kernel_folder_entries("/proc/" + std::to_string(pid) + "/task")) {
    std::istringstream list(read_kernel_file(thread / "children"));
    for (pid_t child = 0; list >> child;) children.push_back(child);
  }
  return children;
}

std::optional<double> read_cpu_s(pid_t pid) {
  clockid_t clock{};
  timespec now{};
  if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &now) != 0) return std::nullopt;
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

uint64_t read_peak_rss_bytes(pid_t pid) {
  std::istringstream status(read_kernel_file("/proc/" + std::to_string(pid) + "/status"));
  for (std::string line; std::getline(status, line);) {
    if (line.rfind("VmHWM:", 0) != 0) continue;
    return std::strtoull(line.c_str() + 6, nullptr, 10) * 1024;
  }
  return 0;
}

char parse_process_state(std::string_view proc_pid_stat) {
  // The program's name stands in parentheses and may hold anything, parentheses included.
  const size_t at = proc_pid_stat.rfind(") ");
  if (at == std::string_view::npos || at + 2 >= proc_pid_stat.size()) return 0;
  return proc_pid_stat[at + 2];
}

char read_process_state(pid_t pid) {
  return parse_process_state(read_kernel_file("/proc/" + std::to_string(pid) + "/stat"));
}

double clock_offset_s() {
  return seconds_now(CLOCK_REALTIME) - seconds_now(CLOCK_MONOTONIC);
}

std::optional<double> read_load_average() {
  std::istringstream in(read_kernel_file("/proc/loadavg"));
  double value = 0;
  if (!(in >> value)) return std::nullopt;
  return value;
}

}  // namespace workload
