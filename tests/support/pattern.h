// Bodies that can be checked at any offset.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace testing_support {

/// Fills `buffer` with the bytes that the body named `id` has from `offset_bytes` on.
void fill_pattern(uint64_t id, uint64_t offset_bytes, std::span<std::byte> buffer);

/// The first `size_bytes` bytes of the body named `id`.
std::string pattern_body(uint64_t id, size_t size_bytes);

/// Whether `bytes` are those of the body named `id` from `offset_bytes` on.
bool matches_pattern(uint64_t id, uint64_t offset_bytes, std::span<const std::byte> bytes);

}  // namespace testing_support
