#include "proxy/vary.h"

#include <algorithm>

#include "proxy/header_lists.h"
#include "storage/types.h"

namespace proxy {
namespace {

constexpr std::string_view kHexDigits = "0123456789abcdef";

std::string to_hex(uint64_t value) {
  std::string out(16, '0');
  for (size_t i = out.size(); i-- > 0; value >>= 4) out[i] = kHexDigits[value & 0xf];
  return out;
}

/// Lists of case-insensitive elements without quoted strings, in which blanks mean nothing.
bool is_plain_list(std::string_view name) {
  return name == "accept-charset" || name == "accept-encoding" || name == "accept-language";
}

std::string normalised_value(const RequestHead& request, std::string_view name) {
  if (!is_plain_list(name)) return combined_value(request, name);
  std::string out;
  for (std::string_view element : list_elements(request, name)) {
    if (!out.empty()) out += ',';
    for (char c : to_lower(element)) {
      if (c != ' ' && c != '\t') out += c;
    }
  }
  return out;
}

}  // namespace

std::optional<std::vector<std::string>> vary_names(const ResponseHead& response) {
  std::vector<std::string> names;
  for (std::string_view element : list_elements(response, "Vary")) {
    if (element == "*" || !is_token(element)) return std::nullopt;
    names.push_back(to_lower(element));
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  if (names.size() > kStoredVaryNamesMax) return std::nullopt;
  return names;
}

std::optional<std::string> variant_key(std::string_view primary_key, const VaryMarker& marker,
                                       const RequestHead& request) {
  // Blanks cannot be in the URL of the primary key, so the two parts never run together.
  std::string key(primary_key);
  key += " vary=" + to_hex(marker.generation);
  for (const std::string& name : marker.names) {
    key += ";" + name + "=";
    if (line_count(request, name) == 0) {
      key += "-";
      continue;
    }
    const std::string value = normalised_value(request, name);
    key += std::to_string(value.size()) + ":" + value;
  }
  if (key.size() > storage::Key::kLengthMax) return std::nullopt;
  return key;
}

}  // namespace proxy
