// How much is tried, by how fast the build is.
#pragma once

#include <cstdint>

namespace testing_support {

/// `full`, or `sanitized` in a build with sanitizers, which is several times slower.
constexpr uint64_t effort([[maybe_unused]] uint64_t full, [[maybe_unused]] uint64_t sanitized) {
#ifdef CACHEOFF_SANITIZED
  return sanitized;
#else
  return full;
#endif
}

}  // namespace testing_support
