#include "workload/model/origin_abort.h"

#include <charconv>

namespace workload {
namespace {

constexpr unsigned kShareBits = 16;

}  // namespace

uint64_t bytes_before_abort(uint16_t share, uint64_t body_bytes) {
  // Bodies have at most 2^40 bytes, so the product has room.
  return body_bytes * share >> kShareBits;
}

std::optional<uint16_t> parse_break_off(std::string_view text) {
  uint16_t share = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), share);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return share;
}

}  // namespace workload
