// Objects that say which version they are, and can be checked to the last byte.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <span>
#include <sstream>
#include <string>

#include "tests/support/pattern.h"
#include "tests/support/stored_object.h"

namespace testing_support {

inline std::string key_text(uint64_t key) {
  return "http://example.org/" + std::to_string(key);
}

/// The metadata of a version, with `padding` behind it.
inline std::string version_text(uint64_t version, size_t size_bytes,
                                const std::string& padding = "") {
  return std::to_string(version) + " " + std::to_string(size_bytes) + " " + padding;
}

/// The body follows from key and size, so that an update keeps it true; the metadata names all.
inline StoredObject versioned_object(uint64_t key, uint64_t version, size_t size_bytes) {
  return StoredObject(version_text(version, size_bytes),
                      pattern_body(key * 7 + size_bytes, size_bytes));
}

/// The version of a stored object, after a look at every byte of it.
inline uint64_t verified_version(uint64_t key, const StoredObject& object) {
  uint64_t version = 0;
  size_t size_bytes = 0;
  std::istringstream(object.metadata) >> version >> size_bytes;
  EXPECT_EQ(object.body.size(), size_bytes);
  EXPECT_TRUE(matches_pattern(key * 7 + size_bytes, 0, std::as_bytes(std::span(object.body))));
  return version;
}

}  // namespace testing_support
