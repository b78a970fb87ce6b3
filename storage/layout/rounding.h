// Sizes made multiples of what a format or a device asks for.
#pragma once

#include <cstdint>

namespace storage {

/// `size_bytes` made a multiple of `unit_bytes`, upwards.
constexpr uint64_t round_up(uint64_t size_bytes, uint64_t unit_bytes) {
  return (size_bytes + unit_bytes - 1) / unit_bytes * unit_bytes;
}

}  // namespace storage
