// How parts report their counts: to whoever visits, without knowing who that is.
#pragma once

#include <cstdint>
#include <string_view>

namespace storage {

/// Receives named counts. Names are snake_case and end in their unit (`bytes_written`,
/// `evictions_total`); `label` tells rows of one name apart (`reason="too_large"`), or is empty.
class CounterVisitor {
 public:
  virtual ~CounterVisitor() = default;
  /// A count that only grows.
  virtual void counter(std::string_view name, std::string_view label, uint64_t value) = 0;
  /// A level that goes up and down.
  virtual void gauge(std::string_view name, std::string_view label, double value) = 0;
};

}  // namespace storage
