#include "traces/line_account.h"

namespace traces {

namespace {

struct ReasonText {
  std::string_view name;
  std::string_view explanation;
};

constexpr std::array<ReasonText, kSkipReasonCount> kReasonTexts{{
    {"blank", "nothing on the line"},
    {"comment", "begins with #"},
    {"too_long", "longer than 1 MiB"},
    {"unsupported_format", "in no supported format"},
    {"bad_line", "of a known format, but damaged or cut"},
    {"error_url", "an error: pseudo-URL, not a request"},
    {"connect", "a tunnel: what went through it is unknown"},
    {"manager", "a look at the cache's own statistics"},
    {"junk_request", "the request is not HTTP"},
    {"no_url", "no request was read, or its target names no object"},
    {"method", "neither GET nor HEAD"},
    {"status_error", "status 4xx, 5xx or none"},
    {"redirect", "status 3xx other than 304"},
    {"status_other", "a status without an object"},
    {"no_size_known", "no line of its URL tells the object's size"},
    {"too_large", "its object is larger than 1 TiB"},
    {"over_limit", "behind the number of requests asked for"},
}};

}  // namespace

std::string_view name_of(SkipReason reason) {
  return kReasonTexts[static_cast<size_t>(reason)].name;
}

std::string_view explanation_of(SkipReason reason) {
  return kReasonTexts[static_cast<size_t>(reason)].explanation;
}

void LineAccount::count_skipped(SkipReason reason, uint64_t line_number, std::string_view text) {
  auto& lines = skipped_[static_cast<size_t>(reason)];
  ++lines.count;
  if (lines.first_line != 0 && lines.first_line <= line_number) return;
  lines.first_line = line_number;
  lines.first_text = printable_excerpt(text);
}

uint64_t LineAccount::skipped_total() const {
  uint64_t total = 0;
  for (const auto& lines : skipped_) total += lines.count;
  return total;
}

std::string printable_excerpt(std::string_view text, size_t length_max) {
  constexpr std::string_view kHexDigits = "0123456789abcdef";
  std::string printable;
  for (const char c : text) {
    if (printable.size() >= length_max) return printable + "...";
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7f) {
      printable += c;
    } else {
      printable += {'\\', 'x', kHexDigits[byte >> 4], kHexDigits[byte & 15]};
    }
  }
  return printable;
}

}  // namespace traces
