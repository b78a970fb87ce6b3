#include "workload/experiment/environment.h"

#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include <boost/json/array.hpp>
#include <sstream>
#include <string_view>

#include "storage/base/kernel_file.h"
#include "workload/experiment/kernel_settings.h"
#include "workload/experiment/machine_stats.h"
#include "workload/experiment/mount_table.h"
#include "workload/experiment/software_versions.h"
#include "workload/report/json_text.h"

namespace workload {
namespace {

constexpr uint64_t kOpenFilesMin = 4096;
constexpr uint64_t kPortsMin = 16000;
#ifdef __clang__
constexpr const char* kCompiler = __VERSION__;
#else
constexpr const char* kCompiler = "g++ " __VERSION__;
#endif

boost::json::value text_or_null(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  if (text.empty()) return nullptr;
  return boost::json::value(text);
}

std::string utc_now() {
  const time_t now = ::time(nullptr);
  tm parts{};
  gmtime_r(&now, &parts);
  char buffer[32];
  strftime(buffer, sizeof buffer, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return buffer;
}

boost::json::object describe_machine() {
  boost::json::object machine;
  const std::string cpuinfo = read_kernel_file("/proc/cpuinfo");
  machine["cpu"] = text_or_null(parse_cpu_model(cpuinfo));
  machine["cpus"] = sysconf(_SC_NPROCESSORS_ONLN);
  const uint64_t memory = parse_meminfo_bytes(read_kernel_file("/proc/meminfo"), "MemTotal");
  machine["memory_bytes"] = memory > 0 ? boost::json::value(memory) : nullptr;
  machine["virtual_machine"] =
      cpuinfo.empty() ? nullptr
                      : boost::json::value(cpuinfo.find(" hypervisor") != std::string::npos);
  machine["cpu_governor"] =
      text_or_null(read_kernel_file("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"));
  machine["load_average"] = json_number(read_load_average());
  return machine;
}

boost::json::object describe_filesystem(const std::filesystem::path& folder) {
  boost::json::object out;
  out["path"] = folder.string();
  const auto mount = mount_of(parse_mount_table(read_kernel_file("/proc/self/mountinfo")), folder);
  out["filesystem"] = mount ? text_or_null(mount->filesystem) : nullptr;
  out["mount_options"] = mount ? text_or_null(mount->options_text()) : nullptr;
  struct statvfs status {};
  const bool known = statvfs(folder.c_str(), &status) == 0;
  out["size_bytes"] = known ? boost::json::value(uint64_t{status.f_blocks} * status.f_frsize)
                            : boost::json::value(nullptr);
  out["free_bytes"] = known ? boost::json::value(uint64_t{status.f_bavail} * status.f_frsize)
                            : boost::json::value(nullptr);
  return out;
}

boost::json::value describe_device(const std::filesystem::path& folder) {
  const auto device = block_device_of(folder);
  if (!device) return nullptr;
  std::filesystem::path sys =
      "/sys/dev/block/" + std::to_string(device->major) + ":" + std::to_string(device->minor);
  std::error_code ignored;
  // A partition's queue is that of the disk above it.
  if (!std::filesystem::exists(sys / "queue", ignored)) sys /= "..";
  boost::json::object out;
  out["name"] = device->name;
  out["model"] = text_or_null(read_kernel_file(sys / "device/model"));
  out["rotational"] = text_or_null(read_kernel_file(sys / "queue/rotational"));
  out["scheduler"] = text_or_null(read_kernel_file(sys / "queue/scheduler"));
  out["write_cache"] = text_or_null(read_kernel_file(sys / "queue/write_cache"));
  return out;
}

boost::json::object describe_limits() {
  boost::json::object limits;
  // The hard limit: the programs raise theirs to it.
  rlimit files{};
  const bool known = getrlimit(RLIMIT_NOFILE, &files) == 0;
  limits["open_files"] = known ? boost::json::value(static_cast<uint64_t>(files.rlim_max))
                               : boost::json::value(nullptr);
  std::istringstream range(read_kernel_file("/proc/sys/net/ipv4/ip_local_port_range"));
  uint64_t low = 0;
  uint64_t high = 0;
  if (range >> low >> high && high >= low) {
    limits["local_ports"] = high - low + 1;
  } else {
    limits["local_ports"] = nullptr;
  }
  return limits;
}

}  // namespace

std::string parse_cpu_model(std::string_view cpuinfo) {
  const size_t at = cpuinfo.find("model name");
  if (at == std::string_view::npos) return {};
  std::string_view line = cpuinfo.substr(at, cpuinfo.find('\n', at) - at);
  const size_t colon = line.find(": ");
  return colon == std::string_view::npos ? std::string() : std::string(line.substr(colon + 2));
}

uint64_t free_memory_bytes() {
  return parse_meminfo_bytes(read_kernel_file("/proc/meminfo"), "MemAvailable");
}

uint64_t parse_meminfo_bytes(std::string_view meminfo, std::string_view key) {
  std::istringstream lines{std::string(meminfo)};
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind(std::string(key) + ":", 0) != 0) continue;
    uint64_t kib = 0;
    std::istringstream(line.substr(key.size() + 1)) >> kib;
    return kib * 1024;
  }
  return 0;
}

boost::json::object collect_environment(const EnvironmentInputs& inputs) {
  boost::json::object out;
  out["started_at"] = utc_now();
  out["machine"] = describe_machine();
  utsname name{};
  boost::json::object kernel;
  if (uname(&name) == 0) {
    out["host"] = name.nodename;
    kernel["system"] = name.sysname;
    kernel["release"] = name.release;
    kernel["version"] = name.version;
    kernel["architecture"] = name.machine;
  }
  const std::string kernel_name = std::string(name.sysname) + " " + name.release;
  out["kernel"] = std::move(kernel);
  out["directory"] = describe_filesystem(inputs.directory);
  out["out"] = describe_filesystem(inputs.out);
  out["device"] = describe_device(inputs.directory);
  out["versions"] = boost::json::object{{"cacheoff", CACHEOFF_VERSION},
                                        {"cacheoff-proxy", text_or_null(inputs.proxy_version)},
                                        {"compiler", kCompiler},
                                        {"gnuplot", text_or_null(inputs.gnuplot_version)}};
  for (const auto& [software, version] : software_versions()) {
    out["versions"].get_object()[software] = text_or_null(version);
  }
  out["operating_system"] =
      text_or_null(parse_os_name(read_kernel_file("/etc/os-release"), kernel_name));
  out["limits"] = describe_limits();
  out["kernel_settings"] = kernel_settings();
  boost::json::array command;
  for (const auto& word : inputs.command) command.emplace_back(word);
  out["command"] = std::move(command);
  out["user_is_root"] = geteuid() == 0;
  out["portable_build"] = !storage::kernel_files_are_read();
  return out;
}

boost::json::object continue_environment(boost::json::object earlier,
                                         const boost::json::object& now) {
  boost::json::object row;
  for (const char* key : {"started_at", "command"}) {
    const auto* value = now.if_contains(key);
    row[key] = value != nullptr ? *value : boost::json::value();
  }
  boost::json::array changed;
  for (const char* key :
       {"host", "operating_system", "kernel", "kernel_settings", "versions", "device", "limits"}) {
    const auto* before = earlier.if_contains(key);
    const auto* after = now.if_contains(key);
    if (before != nullptr && after != nullptr && *before != *after) changed.emplace_back(key);
  }
  row["changed"] = std::move(changed);
  boost::json::value& rows = earlier["resumed"];
  if (!rows.is_array()) rows = boost::json::array();
  rows.get_array().emplace_back(std::move(row));
  return earlier;
}

std::vector<std::string> environment_warnings(const boost::json::object& environment) {
  std::vector<std::string> warnings;
  if (const auto* portable = find_json(environment, "portable_build");
      portable != nullptr && portable->is_bool() && portable->get_bool()) {
    warnings.emplace_back(
        "a portable build: of programs only CPU time and wait4's peak memory are known, which "
        "counts "
        "the runner's own at their start; devices, helpers and blocked times are not (null)");
  }
  const double cpus = number_at(environment, "machine.cpus").value_or(0);
  const auto load = number_at(environment, "machine.load_average");
  if (load && cpus > 0 && *load > cpus / 2) {
    char text[32];
    std::snprintf(text, sizeof text, "%.1f", *load);
    warnings.push_back("the machine was busy before the first run (load average " +
                       std::string(text) + ")");
  }
  if (cpus < 2) warnings.push_back("proxy, origin and load generator share one CPU");
  const auto files = number_at(environment, "limits.open_files");
  if (files && *files < static_cast<double>(kOpenFilesMin)) {
    warnings.push_back("only " + std::to_string(count_at(environment, "limits.open_files")) +
                       " files may be open (ulimit -Hn); each connection is one");
  }
  const auto ports = number_at(environment, "limits.local_ports");
  if (ports && *ports < static_cast<double>(kPortsMin)) {
    warnings.push_back("only " + std::to_string(count_at(environment, "limits.local_ports")) +
                       " local ports (net.ipv4.ip_local_port_range)");
  }
  const auto* resumed = find_json(environment, "resumed");
  if (resumed == nullptr || !resumed->is_array()) return warnings;
  for (const auto& row : resumed->get_array()) {
    const auto* object = row.if_object();
    const auto* changed = object == nullptr ? nullptr : find_json(*object, "changed");
    if (changed == nullptr || !changed->is_array() || changed->get_array().empty()) continue;
    std::string line =
        "the experiment went on at " + text_at(*object, "started_at") + " with another";
    for (const auto& key : changed->get_array()) {
      if (key.is_string()) line += " " + std::string(key.get_string());
    }
    warnings.push_back(line + " (see environment.json)");
  }
  return warnings;
}

}  // namespace workload
