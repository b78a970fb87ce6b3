// NCSA Common and Combined (Apache's `%h %l %u %t "%r" %>s %b "%{Referer}i" "%{User-agent}i"`),
// with the deviations found in the wild.
#include <algorithm>

#include "traces/log_format.h"
#include "traces/log_text.h"

namespace traces {

namespace {

/// `name:port` with one colon and a port.
bool is_host_port(std::string_view text) {
  const size_t colon = text.find(':');
  if (colon == std::string_view::npos || colon == 0) return false;
  const auto port = parse_number(text.substr(colon + 1));
  return port && *port >= 1 && *port <= 65535;
}

/// Client and virtual host out of what stands before the time.
void read_prefix(std::string_view prefix, AccessRecord& record) {
  const auto columns = split_columns(prefix, 5);
  if (columns.empty()) return;
  record.client = columns[0];
  if (columns.size() < 4 || columns[1] == "-" || columns[0].ends_with(',')) return;
  const bool names_host =
      is_host_port(columns[0]) || (looks_like_address(columns[1]) && columns[2] == "-");
  if (!names_host) return;
  record.host = columns[0];
  record.client = columns[1];
}

/// Status, size and what follows them, right behind the request's closing quote.
struct Outcome {
  uint16_t status = 0;
  std::optional<uint64_t> size_bytes;
  std::string_view rest;
};

std::optional<Outcome> parse_outcome(std::string_view text) {
  if (!text.starts_with(' ')) return std::nullopt;
  const auto columns = split_columns(text, 2);
  if (columns.size() < 2 || columns[0].size() != 3) return std::nullopt;
  const auto status = parse_status(columns[0]);
  const auto size = columns[1] == "-" ? uint64_t{0} : parse_number(columns[1]);
  if (!status || !size) return std::nullopt;
  const size_t end = static_cast<size_t>(columns[1].data() - text.data()) + columns[1].size();
  return Outcome{*status, size, text.substr(end)};
}

bool is_escaped(std::string_view text, size_t at) {
  size_t backslashes = 0;
  while (backslashes < at && text[at - 1 - backslashes] == '\\') ++backslashes;
  return backslashes % 2 == 1;
}

/// Finds the quote that ends the request: the first that a status and a size follow. One behind a
/// backslash counts only where no other does (old servers escape nothing).
std::optional<Outcome> find_request_end(std::string_view text, std::string_view& request) {
  for (const bool accept_escaped : {false, true}) {
    for (size_t at = text.find('"'); at != std::string_view::npos; at = text.find('"', at + 1)) {
      if (is_escaped(text, at) != accept_escaped) continue;
      if (auto outcome = parse_outcome(text.substr(at + 1))) {
        request = text.substr(0, at);
        return outcome;
      }
    }
  }
  return std::nullopt;
}

/// `METHOD URL PROTOCOL` or, before HTTP/1.0, `METHOD URL`; the URL may hold blanks.
void read_request(std::string_view request, AccessRecord& record) {
  request = trim_blanks(request);
  const size_t blank = std::min(request.find(' '), request.size());
  record.method = request.substr(0, blank);
  std::string_view url = trim_blanks(request.substr(blank));
  const size_t protocol = url.rfind(' ');
  if (protocol != std::string_view::npos && url.substr(protocol + 1).starts_with("HTTP/")) {
    url = trim_blanks(url.substr(0, protocol));
  } else if (url.starts_with("HTTP/")) {
    url = {};
  }
  record.url = undo_escapes(url);
}

/// Squid appends `TAG:HIERARCHY` to the formats of others.
void read_trailer(std::string_view rest, AccessRecord& record) {
  const std::string_view text = trim_blanks(rest);
  const size_t blank = text.rfind(' ');
  const auto last = blank == std::string_view::npos ? text : text.substr(blank + 1);
  const size_t colon = last.find(':');
  if (colon == std::string_view::npos || !last.starts_with("TCP_")) return;
  record.result_tag = last.substr(0, colon);
  record.hierarchy = last.substr(colon + 1);
  record.aborted = is_aborted_tag(record.result_tag);
}

}  // namespace

ParsedLine parse_common_line(std::string_view line) {
  const std::string_view text = trim_blanks(line);
  // The user in front may hold brackets too: the time is the first that reads as one.
  size_t bracket = text.find('[');
  std::optional<storage::WallTime> time;
  while (bracket != std::string_view::npos) {
    time = parse_clf_time(text.substr(bracket + 1, kClfTimeLength));
    if (time) break;
    bracket = text.find('[', bracket + 1);
  }
  if (!time) return bad_line("no time in brackets, as in [05/Mar/2024:10:15:32 +0100]");
  const std::string_view behind = text.substr(bracket + 1 + kClfTimeLength);
  if (!behind.starts_with("] \"")) return bad_line("no request in quotes behind the time");

  AccessRecord record;
  record.whole_seconds = true;
  record.arrival = *time;
  read_prefix(text.substr(0, bracket), record);
  std::string_view request;
  const auto outcome = find_request_end(behind.substr(3), request);
  if (!outcome) return bad_line("no status and size behind the request");
  record.status = outcome->status;
  record.size_bytes = outcome->size_bytes;
  const bool combined = trim_blanks(outcome->rest).starts_with('"');
  record.format = combined ? LogFormat::kCombined : LogFormat::kCommon;
  read_request(request, record);
  read_trailer(outcome->rest, record);
  return record;
}

}  // namespace traces
