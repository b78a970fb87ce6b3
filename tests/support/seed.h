// The seed of a random test: fixed by default, printed on failure, set from outside to repeat one.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <string>

#include "storage/base/units.h"

namespace testing_support {

/// CACHEOFF_SEED from the environment where it is a number, or else `default_seed`. Print it with
/// SCOPED_TRACE(seed_trace(seed)).
inline uint64_t test_seed(uint64_t default_seed) {
  const char* const text = std::getenv("CACHEOFF_SEED");  // NOLINT(concurrency-mt-unsafe)
  if (text == nullptr) return default_seed;
  return storage::parse_count(text).value_or(default_seed);
}

inline std::string seed_trace(uint64_t seed) {
  return "repeat with CACHEOFF_SEED=" + std::to_string(seed);
}

}  // namespace testing_support
