// The statistics of an origin as it tells them.
#pragma once

#include <string>
#include <string_view>

#include "workload/origin/origin_server.h"

namespace workload {

/// Path under which an origin answers its statistics.
inline constexpr std::string_view kOriginStatusPath = "/cacheoff/status";

/// One JSON object: the fields of OriginStatistics by name, and `cpu_s`, the CPU time of this
/// process so far.
std::string origin_status_json(const OriginStatistics& statistics);

}  // namespace workload
