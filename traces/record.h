// One access, as a line of a log tells it.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "storage/base/clock.h"

namespace traces {

/// The formats that are understood. A file may mix them: each line is looked at for itself.
enum class LogFormat : uint8_t {
  kSquidNative,     ///< Squid's `logformat squid`, time in seconds since 1970.
  kSquidLocalTime,  ///< The same columns behind a `%tl` time, e.g. `21/Dec/2020:14:44:58 +0000`.
  kCommon,          ///< NCSA Common.
  kCombined,        ///< Common with referer and user agent, as Apache and nginx write it.
};
inline constexpr size_t kLogFormatCount = 4;

/// `squid`, `squid_local_time`, `common`, `combined`.
std::string_view name_of(LogFormat format);

/// For messages: all the formats that are understood.
inline constexpr std::string_view kSupportedFormats =
    "Squid native, Common and Combined (also with host:port in front)";

/// An access. The views point into the line it was read from.
struct AccessRecord {
  LogFormat format = LogFormat::kSquidNative;
  /// When the request began: the logged time less `elapsed` for Squid, which logs the end; the
  /// logged time for Common and Combined, which Apache writes as the start.
  storage::WallTime arrival;
  std::chrono::milliseconds elapsed{0};  ///< 0 where it is not logged, or was logged as negative.
  bool whole_seconds = false;            ///< The logged time has no fraction.
  std::string_view client;
  /// The request's method as logged: `-` where none was read, anything at all from a hostile
  /// client.
  std::string_view method;
  /// As logged with escapes undone: absolute for Squid, mostly a path for Common and Combined;
  /// empty where the log has none.
  std::string url;
  std::string_view host;  ///< `name` or `name:port` of the virtual host; empty where not logged.
  uint16_t status = 0;    ///< 0 where nothing was sent (`000`).
  /// Bytes sent. For Squid these include the headers; unknown for `-` and `-1` there. For Common
  /// and Combined these are the body's, and `-` is 0.
  std::optional<uint64_t> size_bytes;
  bool aborted = false;  ///< The client left before the end (by the result tag, if there is one).
  std::string_view result_tag;    ///< `TCP_MISS`; empty where not logged.
  std::string_view hierarchy;     ///< `HIER_DIRECT/192.0.2.1`; empty where not logged.
  std::string_view content_type;  ///< Empty where not logged or `-`.
};

/// Sizes above this are damage or an attack: no line is replayed with one (1 TiB).
inline constexpr uint64_t kObjectSizeBytesMax = uint64_t{1} << 40;

}  // namespace traces
