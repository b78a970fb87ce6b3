// Integers on disk: little-endian, at any alignment.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace storage {

/// Writes the lowest `Size` bytes of `value`; `at` must be at least that long.
template <size_t Size>
void store_little_endian(std::span<std::byte> at, uint64_t value) {
  for (size_t i = 0; i < Size; ++i) at[i] = static_cast<std::byte>(value >> (8 * i));
}

/// Reads `Size` bytes; `at` must be at least that long.
template <size_t Size>
uint64_t load_little_endian(std::span<const std::byte> at) {
  uint64_t value = 0;
  for (size_t i = 0; i < Size; ++i) value |= std::to_integer<uint64_t>(at[i]) << (8 * i);
  return value;
}

inline void store_u32(std::span<std::byte> at, uint32_t value) {
  store_little_endian<4>(at, value);
}
inline void store_u64(std::span<std::byte> at, uint64_t value) {
  store_little_endian<8>(at, value);
}
inline uint32_t load_u32(std::span<const std::byte> at) {
  return static_cast<uint32_t>(load_little_endian<4>(at));
}
inline uint64_t load_u64(std::span<const std::byte> at) {
  return load_little_endian<8>(at);
}

}  // namespace storage
