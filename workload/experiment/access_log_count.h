// Hits as the proxy's own access log has them, to hold against what the robots saw.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

#include "workload/experiment/expected.h"

namespace workload {

/// Counts of an access log in Squid's native format.
struct AccessLogCounts {
  uint64_t lines = 0;
  uint64_t requests = 0;    ///< Lines about a request that ended well.
  uint64_t hits = 0;        ///< Of them, answered from the cache, validated ones included.
  uint64_t aborted = 0;     ///< Lines about a transfer that was cut short.
  uint64_t unreadable = 0;  ///< Lines that are not of the format.
};

/// How a proxy's result codes map to what robots see (docs/hit-ratios.md).
enum class LogDialect {
  kOurs,
  /// A miss without a server is a fetch that was shared, so a hit; a validation that ended as 304
  /// is the origin's own answer, so none.
  kSquids,
};

/// Counts one line (without its end).
void count_access_log_line(std::string_view line, LogDialect dialect, AccessLogCounts& counts);

/// Counts a whole log; a Problem where it can't be read.
Expected<AccessLogCounts> count_access_log(const std::filesystem::path& path, LogDialect dialect);

}  // namespace workload
