// Any bytes as a log: parsed, planned and counted, with the invariants checked.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "tests/support/text_source.h"
#include "traces/log_format.h"
#include "traces/replay_plan.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string text(reinterpret_cast<const char*>(data), size);
  traces::parse_log_line(text);
  traces::parse_squid_line(text);
  traces::parse_common_line(text);

  const auto newlines = static_cast<uint64_t>(std::count(text.begin(), text.end(), '\n'));
  const uint64_t lines = newlines + (!text.empty() && text.back() != '\n' ? 1 : 0);
  traces::PlanOptions options;
  options.default_size_bytes = 1;
  options.stripped_query = traces::StrippedQuery::kUnique;
  const auto plan = testing_support::plan_text(std::move(text), options);
  require(plan.lines.total() == lines);
  require(plan.lines.used() == plan.requests.size());
  for (size_t at = 0; at < plan.requests.size(); ++at) {
    require(plan.requests[at].object < plan.objects.size());
    require(at == 0 || plan.requests[at].offset >= plan.requests[at - 1].offset);
  }
  require(traces::plain_count(plan).requests == plan.requests.size());

  auto packed = traces::unpack_source(
      std::make_unique<testing_support::TextSource>(std::string(data, data + size)));
  if (packed) {
    traces::LineReader reader(std::move(*packed), 1000);
    traces::plan_replay(reader, {});
  }
  return 0;
}
