#include "tests/support/pattern.h"

#include <algorithm>

#include "storage/base/random.h"

namespace testing_support {
namespace {

std::byte pattern_byte(uint64_t id, uint64_t offset_bytes) {
  const uint64_t word = storage::mix64(storage::mix64(id + 1) ^ (offset_bytes / 8));
  return static_cast<std::byte>(word >> (8 * (offset_bytes % 8)));
}

}  // namespace

void fill_pattern(uint64_t id, uint64_t offset_bytes, std::span<std::byte> buffer) {
  for (size_t i = 0; i < buffer.size(); ++i) buffer[i] = pattern_byte(id, offset_bytes + i);
}

std::string pattern_body(uint64_t id, size_t size_bytes) {
  std::string body(size_bytes, '\0');
  fill_pattern(id, 0, std::as_writable_bytes(std::span(body)));
  return body;
}

bool matches_pattern(uint64_t id, uint64_t offset_bytes, std::span<const std::byte> bytes) {
  for (size_t i = 0; i < bytes.size(); ++i) {
    if (bytes[i] != pattern_byte(id, offset_bytes + i)) return false;
  }
  return true;
}

}  // namespace testing_support
