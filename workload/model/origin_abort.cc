#include "workload/model/origin_abort.h"

#include <charconv>

#include "storage/base/random.h"

namespace workload {
namespace {

constexpr uint64_t kAbortPurpose = 0x61626f7274ULL;
constexpr unsigned kShareBits = 16;

}  // namespace

std::optional<uint16_t> planned_abort(const ObjectSpec& object, uint64_t transaction,
                                      double percent) {
  if (percent <= 0) return std::nullopt;
  auto random = storage::Random(storage::mix64(object.seed) ^ object.id)
                    .fork(kAbortPurpose)
                    .fork(transaction);
  if (random.uniform() * 100 >= percent) return std::nullopt;
  return static_cast<uint16_t>(random.below(uint64_t{1} << kShareBits));
}

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
