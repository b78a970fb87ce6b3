// One small page of a program that was just measured: its counters and its status.
#pragma once

#include <chrono>
#include <string>

#include "storage/base/units.h"
#include "workload/experiment/expected.h"

namespace workload {

/// GET `path` from a server on this machine; the body of a 200 of at most 16 MiB. A Problem for
/// anything else, or when it takes longer than `wait_max`. Blocks the calling thread.
Expected<std::string> fetch_page(const storage::HostPort& server, const std::string& path,
                                 std::chrono::milliseconds wait_max);

/// The same as `cacheoff ab` asks with gzip: HTTP/1.0, and the body as it comes, compressed or not.
Expected<std::string> fetch_page_with_gzip(const storage::HostPort& server, const std::string& path,
                                           std::chrono::milliseconds wait_max);

}  // namespace workload
