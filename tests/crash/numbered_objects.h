// Objects to find again in a store whose file was damaged.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <string>

#include "tests/support/pattern.h"
#include "tests/support/stored_object.h"

namespace testing_support {

inline std::string numbered_key(uint64_t number) {
  return "key " + std::to_string(number);
}

inline StoredObject numbered_object(uint64_t number, size_t size_bytes) {
  return StoredObject("head " + std::to_string(number), pattern_body(number, size_bytes));
}

/// Each of `count` keys has its own object or none; returns how many have it.
template <class Store>
uint64_t count_true_objects(Store& store, uint64_t count,
                            const std::function<StoredObject(uint64_t number)>& object_of) {
  uint64_t found_count = 0;
  for (uint64_t i = 0; i < count; ++i) {
    const auto found = store.get(numbered_key(i));
    if (found.has_value()) {
      EXPECT_TRUE(*found == object_of(i)) << "wrong bytes under key " << i;
      ++found_count;
    } else {
      EXPECT_TRUE(found.error().code == storage::Errc::kNotFound ||
                  found.error().code == storage::Errc::kCorrupt)
          << to_string(found.error());
    }
  }
  return found_count;
}

}  // namespace testing_support
