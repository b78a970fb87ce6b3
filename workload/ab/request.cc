#include "workload/ab/request.h"

#include <algorithm>
#include <cctype>
#include <string_view>

namespace workload::ab {

namespace {

std::string base64(std::string_view text) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (size_t at = 0; at < text.size(); at += 3) {
    const size_t left = std::min<size_t>(3, text.size() - at);
    uint32_t bits = 0;
    for (size_t i = 0; i < 3; ++i) {
      bits = bits << 8 | (i < left ? static_cast<unsigned char>(text[at + i]) : 0U);
    }
    for (size_t i = 0; i < 4; ++i) {
      out += i <= left ? kDigits[bits >> (18 - 6 * i) & 63] : '=';
    }
  }
  return out;
}

/// Whether -H gives a field of that name (in lower case).
bool gives(const Options& options, std::string_view name) {
  return std::any_of(options.headers.begin(), options.headers.end(), [&](const auto& header) {
    return header.size() > name.size() && header[name.size()] == ':' &&
           std::equal(name.begin(), name.end(), header.begin(), [](char left, char right) {
             return left == std::tolower(static_cast<unsigned char>(right));
           });
  });
}

}  // namespace

std::string make_request(const Options& options) {
  std::string head = options.method + ' ' + (options.proxy ? options.url.whole : options.url.path) +
                     " HTTP/1.0\r\n";
  const auto add = [&](std::string_view name, std::string_view value) {
    head.append(name).append(": ").append(value).append("\r\n");
  };
  if (options.keep_alive) add("Connection", "Keep-Alive");
  if (options.has_body) {
    add("Content-length", std::to_string(options.body.size()));
    add("Content-type", options.content_type);
  }
  std::string cookies;
  for (const auto& cookie : options.cookies) cookies += (cookies.empty() ? "" : "; ") + cookie;
  if (!cookies.empty()) add("Cookie", cookies);
  if (!options.authorization.empty())
    add("Authorization", "Basic " + base64(options.authorization));
  if (!options.proxy_authorization.empty()) {
    add("Proxy-Authorization", "Basic " + base64(options.proxy_authorization));
  }
  for (const auto& header : options.headers) head.append(header).append("\r\n");
  if (!gives(options, "host")) add("Host", options.url.host_text);
  if (!gives(options, "user-agent")) add("User-Agent", "cacheoff-ab/" CACHEOFF_VERSION);
  if (!gives(options, "accept")) add("Accept", "*/*");
  return head + "\r\n" + options.body;
}

}  // namespace workload::ab
