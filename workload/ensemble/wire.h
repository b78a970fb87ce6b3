// Numbers and texts as bytes, for messages between the processes of a run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace workload {

/// A message that no process of this version writes.
struct WireError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Appends to a message. Whole numbers take as few bytes as they need (LEB128).
class WireWriter {
 public:
  void number(uint64_t value);
  void signed_number(int64_t value);
  void real(double value);
  void flag(bool value) { number(value ? 1 : 0); }
  void text(std::string_view value);
  void number(const std::optional<uint64_t>& value);

  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

/// Reads what WireWriter wrote, in the same order. Throws WireError at what cannot be: short
/// messages, numbers and counts that are too large.
class WireReader {
 public:
  /// `bytes` must outlive the reader.
  explicit WireReader(std::string_view bytes) : bytes_(bytes) {}

  uint64_t number();
  /// A number that is `max` at most.
  uint64_t number_up_to(uint64_t max);
  /// How many parts follow, each of one byte at least: never more than bytes are left.
  size_t count();
  int64_t signed_number();
  double real();
  bool flag() { return number_up_to(1) == 1; }
  std::string text();
  std::optional<uint64_t> optional_number();
  /// Throws where anything is left.
  void end() const;

 private:
  std::string_view bytes_;
};

}  // namespace workload
