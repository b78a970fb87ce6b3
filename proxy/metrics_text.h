// Counters in the text format of Prometheus.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "storage/base/counters.h"

namespace proxy {

/// Collects counters as lines `PREFIXname{labels} value`, each name with its type once.
class MetricsText final : public storage::CounterVisitor {
 public:
  /// From here on names get this prefix and every line this label (`scheme="ufs"`; may be empty).
  void begin_group(std::string_view prefix, std::string_view label);

  void counter(std::string_view name, std::string_view label, uint64_t value) override;
  void gauge(std::string_view name, std::string_view label, double value) override;

  const std::string& text() const { return text_; }

 private:
  void line(std::string_view name, std::string_view label, std::string_view type,
            std::string_view value);

  std::string prefix_;
  std::string group_label_;
  std::set<std::string> typed_;
  std::string text_;
};

}  // namespace proxy
