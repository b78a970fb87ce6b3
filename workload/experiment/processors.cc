#include "workload/experiment/processors.h"

#include <algorithm>
#include <optional>

#include "storage/base/units.h"

namespace workload {
namespace {

constexpr uint64_t kProcessorMax = 1023;

std::optional<unsigned> processor_number(std::string_view text) {
  const auto number = storage::parse_count(text);
  if (!number || *number > kProcessorMax) return std::nullopt;
  return static_cast<unsigned>(*number);
}

}  // namespace

Expected<ProcessorList> parse_processors(std::string_view text) {
  const auto wrong = [&] {
    return usage_problem("'" + std::string(text) +
                         "' must be numbers of processors from 0 to 1023, such as 0 or 0,2-3");
  };
  ProcessorList processors;
  for (std::string_view rest = text;;) {
    const size_t comma = rest.find(',');
    const std::string_view part = rest.substr(0, comma);
    const size_t dash = part.find('-');
    const auto first = processor_number(part.substr(0, dash));
    const auto last =
        dash == std::string_view::npos ? first : processor_number(part.substr(dash + 1));
    if (!first || !last || *first > *last) return wrong();
    for (unsigned number = *first; number <= *last; ++number) processors.push_back(number);
    if (comma == std::string_view::npos) break;
    rest.remove_prefix(comma + 1);
  }
  std::sort(processors.begin(), processors.end());
  processors.erase(std::unique(processors.begin(), processors.end()), processors.end());
  return processors;
}

std::string processors_text(const ProcessorList& processors) {
  std::string text;
  for (size_t i = 0; i < processors.size();) {
    size_t end = i + 1;
    while (end < processors.size() && processors[end] == processors[end - 1] + 1) ++end;
    text += (text.empty() ? "" : ",") + std::to_string(processors[i]);
    if (end - i > 1) text += '-' + std::to_string(processors[end - 1]);
    i = end;
  }
  return text;
}

}  // namespace workload
