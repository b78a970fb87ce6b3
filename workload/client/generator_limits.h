// What the machine allows the load generator, looked at before a run instead of during it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "workload/client/load_options.h"

namespace workload {

/// How the kernel hands out local ports.
struct PortLimits {
  uint32_t first = 32768;  ///< ip_local_port_range.
  uint32_t last = 60999;
  /// tcp_tw_reuse: 0 never, 1 always, 2 on loopback: whether a port in TIME_WAIT can be used again
  /// after a second instead of a minute.
  int time_wait_reuse = 2;
};

/// Reads the limits under `root` (`/proc/sys/net/ipv4`); the kernel's defaults where it is silent.
PortLimits read_port_limits(const std::filesystem::path& root = "/proc/sys/net/ipv4");

/// A line that says why the local ports cannot carry the run and what would help; empty where they
/// can. The rate of new connections is that of the robots, or for best effort an upper bound of
/// what the generator can do.
std::string port_warning(const LoadOptions& options, const PortLimits& limits);

/// Descriptors that this process needs at most.
uint64_t descriptors_needed(const LoadOptions& options);

/// Raises this process' soft limit of descriptors to what is needed. Nothing where that worked,
/// else a line that says what is missing.
std::optional<std::string> raise_descriptor_limit(uint64_t needed);

/// How many local addresses a run needs so that the ports of each are used to half at most: 1 to
/// 250.
uint32_t source_addresses_needed(const LoadOptions& options, const PortLimits& limits);

/// Local addresses 127.0.0.1, 127.0.0.2, ...
std::vector<boost::asio::ip::address> loopback_sources(uint32_t count);

/// CPU time that this process has used, user and system.
double process_cpu_s();

/// The same of the calling thread.
double thread_cpu_s();

}  // namespace workload
