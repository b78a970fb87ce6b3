#include "traces/url_key.h"

#include <algorithm>

namespace traces {

namespace {

char small_letter(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

std::string small_letters(std::string_view text) {
  std::string small(text);
  std::transform(small.begin(), small.end(), small.begin(), small_letter);
  return small;
}

bool is_scheme(std::string_view text) {
  const auto letter = [](char c) { return small_letter(c) >= 'a' && small_letter(c) <= 'z'; };
  return !text.empty() && letter(text.front()) && text.size() <= 32 &&
         std::all_of(text.begin(), text.end(), [&](char c) {
           return letter(c) || (c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.';
         });
}

std::string_view own_port(std::string_view scheme) {
  if (scheme == "http") return ":80";
  if (scheme == "https") return ":443";
  if (scheme == "ftp") return ":21";
  return "";
}

}  // namespace

std::optional<std::string> normalised_url(std::string_view url) {
  url = url.substr(0, url.find('#'));
  const size_t mark = url.find("://");
  if (mark == std::string_view::npos || !is_scheme(url.substr(0, mark))) return std::nullopt;
  const std::string scheme = small_letters(url.substr(0, mark));
  const std::string_view behind = url.substr(mark + 3);
  const size_t path = std::min(behind.find_first_of("/?"), behind.size());
  std::string_view authority = behind.substr(0, path);
  const size_t at = authority.rfind('@');
  const std::string user(at == std::string_view::npos ? "" : authority.substr(0, at + 1));
  std::string host =
      small_letters(at == std::string_view::npos ? authority : authority.substr(at + 1));
  const std::string_view port = own_port(scheme);
  if (!port.empty() && host.ends_with(port)) host.erase(host.size() - port.size());
  if (host.ends_with(':')) host.pop_back();
  if (host.empty()) return std::nullopt;
  const bool has_path = path < behind.size() && behind[path] == '/';
  return scheme + "://" + user + host + (has_path ? "" : "/") + std::string(behind.substr(path));
}

std::string absolute_url(std::string_view target, std::string_view host) {
  if (!target.starts_with('/')) return std::string(target);
  const std::string_view scheme = host.ends_with(":443") ? "https://" : "http://";
  return std::string(scheme) + std::string(host) + std::string(target);
}

std::string url_extension(std::string_view url) {
  constexpr size_t kLengthMax = 8;
  url = url.substr(0, url.find_first_of("?#"));
  const size_t mark = url.find("://");
  if (mark != std::string_view::npos) url.remove_prefix(mark + 3);
  const size_t slash = url.rfind('/');
  if (slash == std::string_view::npos) return {};
  const std::string_view name = url.substr(slash + 1);
  const size_t point = name.rfind('.');
  if (point == std::string_view::npos || name.size() - point - 1 > kLengthMax) return {};
  return small_letters(name.substr(point + 1));
}

}  // namespace traces
