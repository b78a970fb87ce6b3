#include "workload/client/generator_limits.h"

#include <sys/resource.h>
#include <time.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "storage/base/kernel_file.h"
#include "storage/base/units.h"

namespace workload {
namespace {

constexpr double kTimeWaitS = 60;
constexpr double kTimeWaitReusedS = 1;
/// More requests than one thread has been seen to send, to be on the safe side.
constexpr double kRequestsPerSecondMax = 40'000;
constexpr uint64_t kOtherDescriptors = 64;

double new_connections_per_second(const LoadOptions& options) {
  const double requests_per_connection =
      std::max(1.0, options.workload.robot.requests_per_connection.mean());
  double requests_per_second = kRequestsPerSecondMax * options.threads;
  if (options.load.kind == LoadShape::Kind::kRate) {
    requests_per_second = options.load.rate_rps;
  } else if (options.load.kind == LoadShape::Kind::kPeak) {
    requests_per_second =
        std::min(requests_per_second, options.load.peak.resolve(options.time_scale).max_rps);
  } else if (options.load.kind == LoadShape::Kind::kRobots) {
    requests_per_second = static_cast<double>(options.load.robots) *
                          options.workload.robot.requests_per_second * options.time_scale;
  }
  return requests_per_second / requests_per_connection;
}

/// Connections that a run makes within `window_s` at most.
double connections_within(const LoadOptions& options, double window_s) {
  double connections = new_connections_per_second(options) * window_s;
  const double requests_per_connection =
      std::max(1.0, options.workload.robot.requests_per_connection.mean());
  if (options.until.requests) {
    const double all = static_cast<double>(*options.until.requests) / requests_per_connection;
    connections = std::min(connections, all);
  }
  if (options.until.duration) {
    const double run_s = storage::seconds_of(*options.until.duration);
    connections = std::min(connections, new_connections_per_second(options) * run_s);
  }
  return connections;
}

}  // namespace

PortLimits read_port_limits(const std::filesystem::path& root) {
  PortLimits limits;
  std::istringstream range(storage::read_kernel_file(root / "ip_local_port_range"));
  uint32_t first = 0;
  uint32_t last = 0;
  if (range >> first >> last && first <= last && last <= 65535) {
    limits.first = first;
    limits.last = last;
  }
  std::istringstream reuse(storage::read_kernel_file(root / "tcp_tw_reuse"));
  int value = 0;
  if (reuse >> value && value >= 0 && value <= 2) limits.time_wait_reuse = value;
  return limits;
}

namespace {

/// Ports that the run needs at once: those of its connections, and those in TIME_WAIT.
double ports_needed(const LoadOptions& options, const PortLimits& limits) {
  const bool loopback = options.peer.address().is_loopback();
  const bool reused = limits.time_wait_reuse == 1 || (limits.time_wait_reuse == 2 && loopback);
  return connections_within(options, reused ? kTimeWaitReusedS : kTimeWaitS) +
         static_cast<double>(descriptors_needed(options) - kOtherDescriptors);
}

}  // namespace

uint32_t source_addresses_needed(const LoadOptions& options, const PortLimits& limits) {
  const double ports = static_cast<double>(limits.last - limits.first + 1);
  const double addresses = std::ceil(2 * ports_needed(options, limits) / ports);
  return static_cast<uint32_t>(std::clamp(addresses, 1.0, 250.0));
}

std::vector<boost::asio::ip::address> loopback_sources(uint32_t count) {
  std::vector<boost::asio::ip::address> sources;
  for (uint32_t index = 0; index < count; ++index) {
    sources.push_back(boost::asio::ip::address_v4(0x7f000001 + index));
  }
  return sources;
}

std::string port_warning(const LoadOptions& options, const PortLimits& limits) {
  const double addresses = static_cast<double>(std::max<size_t>(1, options.sources.size()));
  const double ports = static_cast<double>(limits.last - limits.first + 1) * addresses;
  const double needed = ports_needed(options, limits);
  if (needed <= ports) return {};
  return "the run may open " + std::to_string(static_cast<uint64_t>(needed)) +
         " connections while their ports are in use or in TIME_WAIT, and there are " +
         std::to_string(static_cast<uint64_t>(ports)) + " (ip_local_port_range " +
         std::to_string(limits.first) + " to " + std::to_string(limits.last) +
         "): use --source-addresses " +
         std::to_string(static_cast<uint64_t>(needed / ports * addresses) + 1) +
         " or widen the range";
}

uint64_t descriptors_needed(const LoadOptions& options) {
  const uint64_t of_robots =
      options.load.robots * std::max<uint64_t>(1, options.workload.robot.connections_max);
  const uint64_t of_all = options.load.open_loop() ? options.load.connections_max : of_robots;
  const uint64_t ranks = options.place.ranks;
  return (of_all + ranks - 1) / ranks + kOtherDescriptors;
}

std::optional<std::string> raise_descriptor_limit(uint64_t needed) {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  if (limit.rlim_cur >= needed) return std::nullopt;
  if (limit.rlim_max < needed) {
    // Only the super-user may do that; who cannot is told.
    rlimit higher{needed, needed};
    if (setrlimit(RLIMIT_NOFILE, &higher) == 0) return std::nullopt;
    return "the run needs " + std::to_string(needed) + " descriptors and the limit is " +
           std::to_string(limit.rlim_max) +
           ": raise it with 'ulimit -n' or use fewer robots or connections";
  }
  limit.rlim_cur = needed;
  if (setrlimit(RLIMIT_NOFILE, &limit) == 0) return std::nullopt;
  return "the limit of descriptors cannot be raised to " + std::to_string(needed);
}

double thread_cpu_s() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

double process_cpu_s() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

}  // namespace workload
