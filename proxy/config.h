// What a user can say to cacheoff-proxy, on the command line or in a file.
#pragma once

#include <boost/asio/ip/address.hpp>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "storage/base/units.h"
#include "storage/layout/directories.h"
#include "storage/registry.h"

namespace proxy {

/// Addresses that share a prefix, as `10.0.0.0/8` or `fd00::/8`; a bare address is itself alone.
class AddressRange {
 public:
  /// Nothing where `text` is not such a range.
  static std::optional<AddressRange> parse(std::string_view text);
  /// IPv4 addresses mapped into IPv6 are matched as IPv4.
  bool contains(const boost::asio::ip::address& address) const;

 private:
  AddressRange(boost::asio::ip::address network, unsigned prefix_bits)
      : network_(network), prefix_bits_(prefix_bits) {}
  boost::asio::ip::address network_;
  unsigned prefix_bits_ = 0;
};

/// Bounds on what peers can make the proxy hold.
struct Limits {
  uint64_t header_size_bytes_max = 64 * storage::kKiB;  ///< Of a request or a response.
  uint64_t header_count_max = 128;                      ///< Fields of a request.
  uint64_t connections_max = 20000;                     ///< Of clients.
  uint64_t origin_connections_max = 1024;               ///< To one origin.
  uint64_t origin_connections_total_max = 8192;         ///< To all origins.
  uint64_t fills_max = 20000;                           ///< Origin fetches at once.
  uint64_t fill_window_bytes = 256 * storage::kKiB;     ///< Of a fill kept for its readers.
  /// A fill that nobody reads any more goes on for the store's sake if no more than this is left.
  uint64_t fill_unread_bytes_max = 64 * storage::kMiB;
  uint64_t buffer_memory_bytes = 256 * storage::kMiB;  ///< Of all bodies under way.
};

/// How long the proxy waits for whom. All are positive.
struct Timeouts {
  std::chrono::nanoseconds header = std::chrono::seconds(30);   ///< A whole request head.
  std::chrono::nanoseconds body = std::chrono::seconds(60);     ///< Progress of a request body.
  std::chrono::nanoseconds send = std::chrono::seconds(60);     ///< Progress towards a client.
  std::chrono::nanoseconds idle = std::chrono::seconds(120);    ///< Client between requests.
  std::chrono::nanoseconds connect = std::chrono::seconds(10);  ///< Name look-up and connection.
  std::chrono::nanoseconds origin = std::chrono::seconds(60);   ///< Progress of an origin.
  std::chrono::nanoseconds origin_idle = std::chrono::seconds(50);  ///< Kept origin connections.
  std::chrono::nanoseconds tunnel = std::chrono::seconds(300);      ///< CONNECT without traffic.
  std::chrono::nanoseconds stop = std::chrono::seconds(10);         ///< Finishing at SIGTERM.
};

/// Everything the proxy is told.
struct Config {
  storage::HostPort listen{"127.0.0.1", 3128};
  std::optional<storage::HostPort> origin;      ///< Set: a reverse proxy for it.
  std::vector<storage::SchemeSpec> cache_dirs;  ///< None: nothing is cached.
  storage::StoreSelection store_selection = storage::StoreSelection::kLeastLoad;
  uint64_t memory_cache_bytes = 0;
  std::optional<std::filesystem::path> access_log;
  std::optional<storage::HostPort> admin;
  std::vector<AddressRange> allow;  ///< Clients beside loopback.
  std::set<uint16_t> connect_ports{443};
  std::string event_method;  ///< As is_event_method() has it; empty: the program's own.
  std::string via_name;      ///< Empty: made up at the start.
  bool add_forwarded_for = true;
  unsigned heuristic_percent = 10;
  std::chrono::nanoseconds stale_if_error{0};
  /// CPU time wasted on each request: a slowdown of a known size. 0: none.
  std::chrono::nanoseconds test_delay{0};
  uint64_t seed = 1;
  Limits limits;
  Timeouts timeouts;
};

/// What the command line asks for.
enum class Action { kServe, kShowText, kListSchemes, kCheck };

/// A command line, understood or not.
struct CommandLine {
  Action action = Action::kServe;
  Config config;
  std::string text;   ///< For kShowText: help, version or list of options.
  std::string error;  ///< One line that names what is wrong and what would be right; else empty.
};

/// Reads the arguments (without the program's name) and the file that `--config` names. Never
/// throws.
CommandLine parse_command_line(const std::vector<std::string>& arguments);

/// Loopback clients are always served; others where `--allow` says so, or, for a reverse proxy,
/// where there is no `--allow` at all.
bool is_client_allowed(const Config& config, const boost::asio::ip::address& client);

}  // namespace proxy
