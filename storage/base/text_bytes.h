// Text as the bytes that storage writes.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace storage {

/// The bytes that `text` points to, which must stay as long as they are used.
inline std::span<const std::byte> as_bytes_of(std::string_view text) {
  return std::as_bytes(std::span<const char>(text.data(), text.size()));
}

}  // namespace storage
