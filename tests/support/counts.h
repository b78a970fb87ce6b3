// Counters and gauges collected for a test to look at.
#pragma once

#include <map>
#include <string>

#include "storage/base/counters.h"

namespace testing_support {

/// Collects what it visits, e.g. `Counts counts; pool.visit_counters(counts);
/// counts.of("buffer_pool_waits_total")`.
class Counts final : public storage::CounterVisitor {
 public:
  void counter(std::string_view name, std::string_view label, uint64_t value) override {
    values_[key(name, label)] = static_cast<double>(value);
  }
  void gauge(std::string_view name, std::string_view label, double value) override {
    values_[key(name, label)] = value;
  }

  /// -1 where nobody counted that.
  double of(std::string_view name, std::string_view label = "") const {
    const auto found = values_.find(key(name, label));
    return found == values_.end() ? -1 : found->second;
  }
  const std::map<std::string, double>& all() const { return values_; }

 private:
  static std::string key(std::string_view name, std::string_view label) {
    return std::string(name) + "{" + std::string(label) + "}";
  }
  std::map<std::string, double> values_;
};

}  // namespace testing_support
