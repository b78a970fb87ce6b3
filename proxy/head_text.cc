#include "proxy/head_text.h"

#include <array>
#include <charconv>

namespace proxy {

namespace {

void append_fields(const Fields& fields, std::string& out) {
  for (const auto& field : fields) {
    out.append(field.name_string());
    out.append(": ");
    out.append(field.value());
    out.append("\r\n");
  }
  out.append("\r\n");
}

void append_number(unsigned long value, int base, std::string& out) {
  std::array<char, 20> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value, base);
  out.append(digits.data(), end.ptr);
}

}  // namespace

void append_head(const RequestHead& head, std::string& out) {
  out.append(head.method_string());
  out.append(" ");
  out.append(head.target());
  out.append(head.version() >= 11 ? " HTTP/1.1\r\n" : " HTTP/1.0\r\n");
  append_fields(head, out);
}

void append_head(const ResponseHead& head, std::string& out) {
  out.append(head.version() >= 11 ? "HTTP/1.1 " : "HTTP/1.0 ");
  append_number(head.result_int(), 10, out);
  out.append(" ");
  const auto reason = head.reason();
  out.append(reason.empty() ? http::obsolete_reason(head.result()) : reason);
  out.append("\r\n");
  append_fields(head, out);
}

void append_chunk_line(size_t size_bytes, std::string& out) {
  append_number(size_bytes, 16, out);
  out.append("\r\n");
}

}  // namespace proxy
