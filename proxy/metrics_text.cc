#include "proxy/metrics_text.h"

#include <array>
#include <charconv>
#include <cmath>

namespace proxy {

void MetricsText::begin_group(std::string_view prefix, std::string_view label) {
  prefix_ = prefix;
  group_label_ = label;
}

void MetricsText::counter(std::string_view name, std::string_view label, uint64_t value) {
  line(name, label, "counter", std::to_string(value));
}

void MetricsText::gauge(std::string_view name, std::string_view label, double value) {
  std::array<char, 64> digits{};
  const double finite = std::isfinite(value) ? value : 0;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), finite);
  line(name, label, "gauge",
       std::string_view(digits.data(), static_cast<size_t>(end.ptr - digits.data())));
}

void MetricsText::line(std::string_view name, std::string_view label, std::string_view type,
                       std::string_view value) {
  const std::string full = prefix_ + std::string(name);
  if (typed_.insert(full).second) {
    text_ += "# TYPE " + full + ' ' + std::string(type) + '\n';
  }
  std::string labels = group_label_;
  if (!labels.empty() && !label.empty()) labels += ',';
  labels += label;
  text_ += full;
  if (!labels.empty()) text_ += '{' + labels + '}';
  text_ += ' ';
  text_ += value;
  text_ += '\n';
}

}  // namespace proxy
