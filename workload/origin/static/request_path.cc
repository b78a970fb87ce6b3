#include "workload/origin/static/request_path.h"

#include <algorithm>

namespace workload {
namespace {

constexpr size_t kNameLengthMax = 255;
constexpr std::string_view kWellKnown = ".well-known";

int digit_value(char digit) {
  if (digit >= '0' && digit <= '9') return digit - '0';
  if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
  if (digit >= 'A' && digit <= 'F') return digit - 'A' + 10;
  return -1;
}

/// Appends a decoded segment; a slash in it is told apart from those between segments.
PathFault decode_segment(std::string_view segment, std::string& out) {
  for (size_t at = 0; at < segment.size(); ++at) {
    char byte = segment[at];
    if (byte == '%') {
      if (at + 2 >= segment.size()) return PathFault::kMalformed;
      const int high = digit_value(segment[at + 1]);
      const int low = digit_value(segment[at + 2]);
      if (high < 0 || low < 0) return PathFault::kMalformed;
      byte = static_cast<char>(high * 16 + low);
      at += 2;
      if (byte == '/') return PathFault::kHidden;
    }
    if (byte == '\0') return PathFault::kMalformed;
    out += byte;
  }
  return PathFault::kNone;
}

}  // namespace

PathFault read_request_path(std::string_view target, RequestPath& out) {
  out.relative.clear();
  out.names_directory = true;
  const auto path_end = std::min(target.find_first_of("?#"), target.size());
  const auto query_end = std::min(target.find('#'), target.size());
  out.query = target.substr(path_end, query_end - path_end);
  auto path = target.substr(0, path_end);
  if (!path.starts_with('/')) return PathFault::kMalformed;
  PathFault worst = PathFault::kNone;
  while (!path.empty()) {
    path.remove_prefix(1);
    const auto segment = path.substr(0, path.find('/'));
    path.remove_prefix(segment.size());
    const size_t before = out.relative.size();
    if (before > 0) out.relative += '/';
    const size_t begin = out.relative.size();
    const auto fault = decode_segment(segment, out.relative);
    if (fault == PathFault::kMalformed) return fault;
    if (fault != PathFault::kNone) worst = fault;
    const auto name = std::string_view(out.relative).substr(begin);
    if (name == "..") return PathFault::kMalformed;
    out.names_directory = name.empty() || name == ".";
    if (out.names_directory) {
      out.relative.resize(before);
      continue;
    }
    const bool hidden = name.starts_with('.') && !(begin == 0 && name == kWellKnown);
    if (hidden || name.size() > kNameLengthMax) worst = PathFault::kHidden;
  }
  return worst;
}

void add_url_path(std::string& out, std::string_view path) {
  constexpr std::string_view kHexDigits = "0123456789ABCDEF";
  constexpr std::string_view kPlain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/";
  for (const char c : path) {
    if (kPlain.find(c) != std::string_view::npos) {
      out += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    out += '%';
    out += kHexDigits[byte >> 4];
    out += kHexDigits[byte & 15];
  }
}

}  // namespace workload
