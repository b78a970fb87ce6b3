#include "workload/origin/response_head.h"

#include <array>
#include <boost/beast/http/status.hpp>
#include <charconv>

#include "workload/model/http_date.h"

namespace workload {

void add_number(std::string& out, uint64_t value) {
  std::array<char, 20> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  out.append(digits.data(), end);
}

void add_field(std::string& out, std::string_view name, std::string_view value) {
  out.append(name).append(": ").append(value).append("\r\n");
}

void add_field(std::string& out, std::string_view name, uint64_t value) {
  out.append(name).append(": ");
  add_number(out, value);
  out.append("\r\n");
}

void begin_head(unsigned status, int64_t now_unix_s, std::string& out) {
  out = "HTTP/1.1 ";
  add_number(out, status);
  out += ' ';
  out += boost::beast::http::obsolete_reason(static_cast<boost::beast::http::status>(status));
  out += "\r\n";
  add_field(out, "Server", "cacheoff-origin");
  add_field(out, "Date", HttpDate(now_unix_s).text());
}

void end_head(bool keep_alive, std::string& out) {
  // Stated always: HTTP/1.0 peers need to be told of either.
  add_field(out, "Connection", keep_alive ? "keep-alive" : "close");
  out += "\r\n";
}

void write_text_response(const TextResponse& response, int64_t now_unix_s, bool keep_alive,
                         std::string& out) {
  begin_head(response.status, now_unix_s, out);
  add_field(out, "Content-Type", response.media_type);
  add_field(out, "Content-Length", response.text.size());
  add_field(out, "Cache-Control", "no-store");
  out += response.more_fields;
  end_head(keep_alive, out);
  if (!response.head_only) out += response.text;
}

}  // namespace workload
