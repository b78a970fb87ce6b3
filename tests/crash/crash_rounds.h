// How often the crash tests kill a process.
#pragma once

#include <cstdint>
#include <cstdlib>

#include "storage/base/units.h"
#include "tests/support/effort.h"

namespace testing_support {

/// CACHEOFF_CRASH_ROUNDS, for longer runs, or what a run of all tests has time for.
inline uint64_t crash_rounds() {
  constexpr uint64_t kRounds = effort(20, 6);
  const char* const text = std::getenv("CACHEOFF_CRASH_ROUNDS");  // NOLINT(concurrency-mt-unsafe)
  return text == nullptr ? kRounds : storage::parse_count(text).value_or(kRounds);
}

}  // namespace testing_support
