// Counters of several directories, added up and told apart.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "storage/base/counters.h"

namespace storage {

/// Adds up what it is given under the same name and label.
class CounterSums final : public CounterVisitor {
 public:
  void counter(std::string_view name, std::string_view label, uint64_t value) override {
    counters_[{std::string(name), std::string(label)}] += value;
  }
  void gauge(std::string_view name, std::string_view label, double value) override {
    gauges_[{std::string(name), std::string(label)}] += value;
  }

  /// Gives all sums to another visitor.
  void report(CounterVisitor& visitor) const {
    for (const auto& [id, sum] : counters_) visitor.counter(id.first, id.second, sum);
    for (const auto& [id, sum] : gauges_) visitor.gauge(id.first, id.second, sum);
  }

 private:
  using Id = std::pair<std::string, std::string>;  // name and label
  std::map<Id, uint64_t> counters_;
  std::map<Id, double> gauges_;
};

/// Passes on what it is given, with a prefix to each name and a label before each label.
class LabelledCounters final : public CounterVisitor {
 public:
  /// `visitor` must outlive it.
  LabelledCounters(CounterVisitor& visitor, std::string prefix, std::string label)
      : visitor_(visitor), prefix_(std::move(prefix)), label_(std::move(label)) {}

  void counter(std::string_view name, std::string_view label, uint64_t value) override {
    visitor_.counter(prefix_ + std::string(name), joined(label), value);
  }
  void gauge(std::string_view name, std::string_view label, double value) override {
    visitor_.gauge(prefix_ + std::string(name), joined(label), value);
  }

 private:
  std::string joined(std::string_view label) const {
    return label.empty() ? label_ : label_ + "," + std::string(label);
  }

  CounterVisitor& visitor_;
  const std::string prefix_;
  const std::string label_;
};

/// Any text as it may stand between the quotes of a label.
inline std::string escaped_label_value(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '\\' || c == '"') escaped += '\\';
    escaped += c == '\n' ? ' ' : c;
  }
  return escaped;
}

}  // namespace storage
