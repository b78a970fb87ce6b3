// What an engine on a helper process counts of its own.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "storage/base/counters.h"

namespace storage {

/// Under the names that helper_queue.h gives.
struct HelperCounts {
  size_t in_flight_max = 0;
  uint64_t starts = 0;
  std::array<uint64_t, 4> failures{};  ///< Ended, timeout, protocol, start.
  uint64_t failed_operations = 0;
  uint64_t refused_q1 = 0;
  uint64_t refused_waits = 0;
  uint64_t refused_without_helper = 0;
  uint64_t waits = 0;
  uint64_t close_errors = 0;

  void visit(CounterVisitor& visitor) const;
};

}  // namespace storage
