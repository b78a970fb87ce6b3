// How much memory a system under test may have.
#pragma once

#include <cstdint>
#include <string>

namespace workload {

/// One of two limits, or none.
struct MemoryDemand {
  /// Of all memory together: processes, kernel on their behalf, page cache. 0: not limited so.
  uint64_t limit_bytes = 0;
  /// Of page cache and kernel memory alone, whatever the processes have themselves. 0: likewise.
  uint64_t page_cache_bytes = 0;

  bool any() const { return limit_bytes > 0 || page_cache_bytes > 0; }
  /// The most that the page cache may ever have, in bytes; 0 without a limit.
  uint64_t page_cache_max_bytes() const {
    return page_cache_bytes > 0 ? page_cache_bytes : limit_bytes;
  }
  /// As the option has it: `67108864`, or `page-cache=9437184`; empty where there is none.
  std::string text() const {
    if (page_cache_bytes > 0) return "page-cache=" + std::to_string(page_cache_bytes);
    return limit_bytes > 0 ? std::to_string(limit_bytes) : std::string();
  }
};

}  // namespace workload
