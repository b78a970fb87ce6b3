// How often the crash tests kill a process.
#pragma once

#include <cstdint>
#include <cstdlib>

#include "storage/base/units.h"

namespace testing_support {

/// CACHEOFF_CRASH_ROUNDS, for longer runs, or what a run of all tests has time for.
inline uint64_t crash_rounds() {
#ifdef CACHEOFF_SANITIZED
  constexpr uint64_t kRounds = 6;
#else
  constexpr uint64_t kRounds = 20;
#endif
  const char* const text = std::getenv("CACHEOFF_CRASH_ROUNDS");  // NOLINT(concurrency-mt-unsafe)
  return text == nullptr ? kRounds : storage::parse_count(text).value_or(kRounds);
}

}  // namespace testing_support
