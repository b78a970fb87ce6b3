#include "workload/experiment/process_account.h"

#include <fcntl.h>
#include <unistd.h>

#include <boost/json/object.hpp>
#include <cstdlib>
#include <sstream>
#include <string>

#include "storage/base/units.h"
#include "workload/experiment/machine_stats.h"

namespace workload {
namespace {

uint64_t grown(uint64_t before, uint64_t after) {
  return after > before ? after - before : 0;
}

/// A field of /proc/PID/stat by its number in proc(5), from 3 on.
std::optional<uint64_t> stat_field(std::string_view proc_stat, int wanted) {
  // The program's name stands in parentheses and may hold anything, parentheses included.
  const size_t at = proc_stat.rfind(") ");
  if (at == std::string_view::npos) return std::nullopt;
  std::istringstream fields{std::string(proc_stat.substr(at + 2))};
  std::string field;
  for (int number = 3; number <= wanted; ++number) {
    if (!(fields >> field)) return std::nullopt;
  }
  return storage::parse_count(field);
}

/// The number of a line `key:<tab>number`; 0 where there is none.
uint64_t status_number(const std::string& status, const std::string& key) {
  const size_t at = status.find("\n" + key + ":");
  if (at == std::string::npos) return 0;
  return std::strtoull(status.c_str() + at + key.size() + 2, nullptr, 10);
}

}  // namespace

ProcessCounters& ProcessCounters::operator+=(const ProcessCounters& other) {
  voluntary_switches += other.voluntary_switches;
  involuntary_switches += other.involuntary_switches;
  minor_faults += other.minor_faults;
  major_faults += other.major_faults;
  if (other.read_bytes) read_bytes = read_bytes.value_or(0) + *other.read_bytes;
  return *this;
}

ProcessCounters ProcessCounters::since(const ProcessCounters& before) const {
  ProcessCounters growth;
  growth.voluntary_switches = grown(before.voluntary_switches, voluntary_switches);
  growth.involuntary_switches = grown(before.involuntary_switches, involuntary_switches);
  growth.minor_faults = grown(before.minor_faults, minor_faults);
  growth.major_faults = grown(before.major_faults, major_faults);
  if (read_bytes && before.read_bytes) growth.read_bytes = grown(*before.read_bytes, *read_bytes);
  return growth;
}

bool parse_faults(std::string_view proc_pid_stat, ProcessCounters& counters) {
  const auto minor_faults = stat_field(proc_pid_stat, 10);
  const auto major_faults = stat_field(proc_pid_stat, 12);
  if (!minor_faults || !major_faults) return false;
  counters.minor_faults = *minor_faults;
  counters.major_faults = *major_faults;
  return true;
}

std::optional<ProcessCounters> read_process_counters(const std::filesystem::path& proc_folder) {
  ProcessCounters counters;
  if (!parse_faults(read_kernel_file(proc_folder / "stat"), counters)) return std::nullopt;
  for (const auto& thread : storage::kernel_folder_entries(proc_folder / "task")) {
    const std::string status = read_kernel_file(thread / "status");
    counters.voluntary_switches += status_number(status, "voluntary_ctxt_switches");
    counters.involuntary_switches += status_number(status, "nonvoluntary_ctxt_switches");
  }
  if (const auto io = parse_process_io(read_kernel_file(proc_folder / "io"))) {
    counters.read_bytes = io->read_bytes;
  }
  return counters;
}

std::optional<double> parse_cpu_ticks_s(std::string_view proc_stat, double ticks_per_second) {
  const auto user = stat_field(proc_stat, 14);
  const auto system = stat_field(proc_stat, 15);
  if (!user || !system || ticks_per_second <= 0) return std::nullopt;
  return static_cast<double>(*user + *system) / ticks_per_second;
}

std::optional<double> read_main_thread_cpu_s(const std::filesystem::path& proc_folder, pid_t pid) {
  return parse_cpu_ticks_s(read_kernel_file(proc_folder / "task" / std::to_string(pid) / "stat"),
                           static_cast<double>(sysconf(_SC_CLK_TCK)));
}

bool reads_directly(const std::filesystem::path& proc_folder) {
  for (const auto& file : storage::kernel_folder_entries(proc_folder / "fdinfo")) {
    const std::string info = read_kernel_file(file);
    const size_t at = info.find("flags:");
    if (at == std::string::npos) continue;
    if ((std::strtoull(info.c_str() + at + 6, nullptr, 8) & O_DIRECT) != 0) return true;
  }
  return false;
}

boost::json::value switches_to_json(const std::optional<ProcessCounters>& counters) {
  if (!counters) return nullptr;
  return boost::json::object{{"voluntary", counters->voluntary_switches},
                             {"involuntary", counters->involuntary_switches}};
}

boost::json::value faults_to_json(const std::optional<ProcessCounters>& counters) {
  if (!counters) return nullptr;
  return boost::json::object{{"minor", counters->minor_faults}, {"major", counters->major_faults}};
}

}  // namespace workload
