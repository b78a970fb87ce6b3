// Sizes, times and addresses as people write them, read and printed in one place.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace storage {

inline constexpr uint64_t kKiB = 1024;
inline constexpr uint64_t kMiB = 1024 * kKiB;
inline constexpr uint64_t kGiB = 1024 * kMiB;

/// Reads `4096`, `64K`, `1.5G`, `2MiB`, `10MB` (all powers of 1024, case ignored; a `B` or `iB` may
/// follow). Nothing for anything else, for a negative value or for one past 2^63.
std::optional<uint64_t> parse_size_bytes(std::string_view text);

/// Reads `250us`, `20ms`, `1.5s`, `3m`, `2h`, `1d`; a bare number is seconds. Nothing for anything
/// else or for a negative value.
std::optional<std::chrono::nanoseconds> parse_duration(std::string_view text);

/// Reads a whole number without sign, blank or rest.
std::optional<uint64_t> parse_count(std::string_view text);

/// `11.0 KiB`, `1.50 GiB`: three digits and a binary unit.
std::string format_size(uint64_t size_bytes);

/// `850 us`, `12.3 ms`, `4.50 s`, `3 m 20 s`.
std::string format_duration(std::chrono::nanoseconds duration);

/// As seconds with their fraction.
inline double seconds_of(std::chrono::nanoseconds duration) {
  return std::chrono::duration<double>(duration).count();
}

/// Host and port of `HOST:PORT` or `[IPv6]:PORT`.
struct HostPort {
  std::string host;  ///< Without brackets.
  uint16_t port = 0;
  /// Back to text, with brackets round an IPv6 address.
  std::string text() const;
  friend bool operator==(const HostPort& left, const HostPort& right) = default;
};

/// Nothing where the host is empty or the port is not 0 to 65535.
std::optional<HostPort> parse_host_port(std::string_view text);

}  // namespace storage
