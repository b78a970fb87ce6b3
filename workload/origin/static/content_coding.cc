#include "workload/origin/static/content_coding.h"

#include <algorithm>
#include <boost/beast/core/string.hpp>
#include <optional>

namespace workload {
namespace {

constexpr std::string_view kBlanks = " \t";

std::string_view trimmed(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
  return text.substr(0, text.find_last_not_of(kBlanks) + 1);
}

/// A weight in thousandths: `0`, `1`, `0.5`, `1.000` (RFC 9110 section 12.4.2).
std::optional<int> parse_weight(std::string_view text) {
  if (text.empty() || text.size() > 5 || (text[0] != '0' && text[0] != '1')) return std::nullopt;
  int value = (text[0] - '0') * 1000;
  if (text.size() > 1 && text[1] != '.') return std::nullopt;
  int unit = 100;
  for (size_t at = 2; at < text.size(); ++at, unit /= 10) {
    if (text[at] < '0' || text[at] > '9') return std::nullopt;
    value += (text[at] - '0') * unit;
  }
  return value <= 1000 ? std::optional(value) : std::nullopt;
}

/// The weight of an element, of which the coding is cut off; nothing where it is malformed.
std::optional<int> take_weight(std::string_view& element) {
  const auto semicolon = element.find(';');
  if (semicolon == std::string_view::npos) return 1000;
  const auto parameter = trimmed(element.substr(semicolon + 1));
  element = trimmed(element.substr(0, semicolon));
  if (!parameter.starts_with("q=") && !parameter.starts_with("Q=")) return std::nullopt;
  return parse_weight(parameter.substr(2));
}

}  // namespace

AcceptedCodings read_accept_encoding(const OriginRequest& request) {
  AcceptedCodings accepted;
  if (!request.accept_encoding_given) return accepted;
  std::optional<int> gzip;
  std::optional<int> identity;
  std::optional<int> any;
  std::string_view list = request.accept_encoding;
  while (!list.empty()) {
    const auto comma = std::min(list.find(','), list.size());
    auto element = trimmed(list.substr(0, comma));
    list.remove_prefix(std::min(comma + 1, list.size()));
    const auto weight = take_weight(element);
    if (!weight) continue;
    if (boost::beast::iequals(element, "gzip") || boost::beast::iequals(element, "x-gzip")) {
      gzip = std::max(*weight, gzip.value_or(0));
    } else if (boost::beast::iequals(element, "identity")) {
      identity = *weight;
    } else if (element == "*") {
      any = *weight;
    }
  }
  const int gzip_weight = gzip.value_or(any.value_or(0));
  // What is not named is allowed and liked least, unless `*` says otherwise.
  const int identity_weight = identity.value_or(any.value_or(1));
  accepted.gzip = gzip_weight > 0 && gzip_weight >= identity_weight;
  accepted.identity = identity_weight > 0;
  return accepted;
}

}  // namespace workload
