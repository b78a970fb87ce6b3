// The machine that the figures were taken on, as far as it can change them.
#pragma once

#include <boost/json/object.hpp>
#include <filesystem>
#include <string>
#include <vector>

namespace workload {

/// Where programs are and what was asked; goes into the environment as it is.
struct EnvironmentInputs {
  std::filesystem::path directory;   ///< Where caches live.
  std::filesystem::path out;         ///< The result folder.
  std::vector<std::string> command;  ///< The command line of the bench.
  std::string proxy_version;         ///< First line of `cacheoff-proxy --version`.
  std::string gnuplot_version;       ///< Empty where gnuplot is missing.
};

/// Machine, kernel and its settings, filesystems, device, versions, limits and command; keys whose
/// value is unknown are null.
boost::json::object collect_environment(const EnvironmentInputs& inputs);

/// The environment of an experiment that goes on: `earlier` with one more row of `resumed`, which
/// has `started_at`, `command`, and in `changed` the parts of the environment (`kernel`,
/// `kernel_settings`, `versions`, `device`, `limits`, `host`, `operating_system`) that are not as
/// they were.
boost::json::object continue_environment(boost::json::object earlier,
                                         const boost::json::object& now);

/// What of it makes measuring doubtful before the first run (a busy machine, fewer than two CPUs,
/// few open files or ports, runs on two kernels), one line each.
std::vector<std::string> environment_warnings(const boost::json::object& environment);

/// First line with content of /proc/cpuinfo under `model name`; empty where there is none.
std::string parse_cpu_model(std::string_view cpuinfo);

/// Memory that could be had at present without swapping; 0 where the kernel does not say.
uint64_t free_memory_bytes();

/// Bytes of a line of /proc/meminfo such as `MemTotal`; 0 where there is none.
uint64_t parse_meminfo_bytes(std::string_view meminfo, std::string_view key);

}  // namespace workload
