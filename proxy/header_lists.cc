#include "proxy/header_lists.h"

#include <algorithm>
#include <limits>

namespace proxy {
namespace {

bool is_blank(char c) {
  return c == ' ' || c == '\t';
}

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool is_token_char(char c) {
  static constexpr std::string_view kOthers = "!#$%&'*+-.^_`|~";
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
         kOthers.find(c) != std::string_view::npos;
}

/// Where the element that starts at `begin` ends: the next comma outside a quoted string.
size_t end_of_element(std::string_view value, size_t begin) {
  bool quoted = false;
  for (size_t i = begin; i < value.size(); ++i) {
    if (quoted && value[i] == '\\') {
      ++i;
    } else if (value[i] == '"') {
      quoted = !quoted;
    } else if (value[i] == ',' && !quoted) {
      return i;
    }
  }
  return value.size();
}

void append_elements(std::string_view value, std::vector<std::string_view>& out) {
  for (size_t begin = 0; begin < value.size();) {
    const size_t end = end_of_element(value, begin);
    const std::string_view element = trim_blanks(value.substr(begin, end - begin));
    if (!element.empty()) out.push_back(element);
    begin = end + 1;
  }
}

}  // namespace

std::string_view trim_blanks(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

bool is_token(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), is_token_char);
}

std::string to_lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), lower);
  return out;
}

bool equals_ignoring_case(std::string_view left, std::string_view right) {
  return std::equal(left.begin(), left.end(), right.begin(), right.end(),
                    [](char a, char b) { return lower(a) == lower(b); });
}

std::vector<std::string_view> split_list(std::string_view value) {
  std::vector<std::string_view> out;
  append_elements(value, out);
  return out;
}

std::vector<std::string_view> list_elements(const Fields& fields, std::string_view name) {
  std::vector<std::string_view> out;
  const auto [begin, end] = fields.equal_range(name);
  for (auto line = begin; line != end; ++line) append_elements(line->value(), out);
  return out;
}

bool list_contains(const Fields& fields, std::string_view name, std::string_view token) {
  const auto elements = list_elements(fields, name);
  return std::any_of(elements.begin(), elements.end(), [&](std::string_view element) {
    return equals_ignoring_case(element, token);
  });
}

std::string combined_value(const Fields& fields, std::string_view name) {
  std::string out;
  const auto [begin, end] = fields.equal_range(name);
  for (auto line = begin; line != end; ++line) {
    if (line != begin) out += ", ";
    out += line->value();
  }
  return out;
}

size_t line_count(const Fields& fields, std::string_view name) {
  return fields.count(name);
}

std::optional<std::string> unquote(std::string_view text) {
  if (text.empty() || text.front() != '"') return std::string(text);
  std::string out;
  for (size_t i = 1; i < text.size(); ++i) {
    if (text[i] == '"') {
      if (i + 1 != text.size()) return std::nullopt;
      return out;
    }
    if (text[i] == '\\' && ++i == text.size()) break;
    out += text[i];
  }
  return std::nullopt;
}

std::optional<uint64_t> parse_digits(std::string_view text) {
  constexpr uint64_t kMax = std::numeric_limits<uint64_t>::max();
  if (text.empty()) return std::nullopt;
  uint64_t value = 0;
  for (char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    const auto digit = static_cast<uint64_t>(c - '0');
    if (value > (kMax - digit) / 10) return std::nullopt;
    value = value * 10 + digit;
  }
  return value;
}

std::vector<std::string> connection_nominated(const Fields& fields) {
  std::vector<std::string> out;
  for (std::string_view element : list_elements(fields, "Connection")) {
    if (is_token(element)) out.push_back(to_lower(element));
  }
  return out;
}

}  // namespace proxy
