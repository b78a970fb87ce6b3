#include "workload/ensemble/wire.h"

#include <bit>

namespace workload {
namespace {

constexpr int kBitsOfByte = 7;
constexpr uint64_t kMore = 0x80;

}  // namespace

void WireWriter::number(uint64_t value) {
  while (value >= kMore) {
    bytes_.push_back(static_cast<char>(value | kMore));
    value >>= kBitsOfByte;
  }
  bytes_.push_back(static_cast<char>(value));
}

void WireWriter::signed_number(int64_t value) {
  // Zigzag: small ones of either sign stay short.
  const auto bits = static_cast<uint64_t>(value);
  number((bits << 1) ^ (value < 0 ? ~uint64_t{0} : 0));
}

void WireWriter::real(double value) {
  number(std::bit_cast<uint64_t>(value));
}

void WireWriter::text(std::string_view value) {
  number(value.size());
  bytes_ += value;
}

void WireWriter::number(const std::optional<uint64_t>& value) {
  flag(value.has_value());
  if (value) number(*value);
}

uint64_t WireReader::number() {
  uint64_t value = 0;
  for (int shift = 0; shift < 64; shift += kBitsOfByte) {
    if (bytes_.empty()) throw WireError("a message is too short");
    const auto byte = static_cast<uint8_t>(bytes_.front());
    bytes_.remove_prefix(1);
    value |= (byte & (kMore - 1)) << shift;
    if (byte < kMore) return value;
  }
  throw WireError("a number in a message is too long");
}

uint64_t WireReader::number_up_to(uint64_t max) {
  const uint64_t value = number();
  if (value > max) throw WireError("a number in a message is out of range");
  return value;
}

size_t WireReader::count() {
  const uint64_t parts = number();
  // Against what is left behind the number itself.
  if (parts > bytes_.size()) throw WireError("a message is too short");
  return parts;
}

int64_t WireReader::signed_number() {
  const uint64_t bits = number();
  return static_cast<int64_t>((bits >> 1) ^ ((bits & 1) != 0 ? ~uint64_t{0} : 0));
}

double WireReader::real() {
  return std::bit_cast<double>(number());
}

std::string WireReader::text() {
  const size_t size = count();
  std::string value(bytes_.substr(0, size));
  bytes_.remove_prefix(size);
  return value;
}

std::optional<uint64_t> WireReader::optional_number() {
  if (!flag()) return std::nullopt;
  return number();
}

void WireReader::end() const {
  if (!bytes_.empty()) throw WireError("a message is too long");
}

}  // namespace workload
