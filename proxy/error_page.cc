#include "proxy/error_page.h"

#include "proxy/header_lists.h"

namespace proxy {
namespace {

constexpr size_t kDetailLengthMax = 1024;

/// The reason as a field value: a token, whatever it was made of.
std::string safe_reason(std::string_view reason) {
  return is_token(reason) ? std::string(reason) : std::string("unspecified");
}

bool wants_html(std::string_view accept) {
  for (std::string_view element : split_list(accept)) {
    const std::string_view type = trim_blanks(element.substr(0, element.find(';')));
    if (equals_ignoring_case(type, "text/html")) return true;
  }
  return false;
}

std::string plain_text(std::string_view text) {
  std::string out;
  for (char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    out += byte < ' ' || byte >= 0x7f ? '?' : c;
  }
  return out;
}

std::string html_body(std::string_view title, std::string_view detail, std::string_view by) {
  std::string out = "<!DOCTYPE html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\"><title>";
  out += escape_html(title);
  out += "</title></head>\n<body>\n<h1>";
  out += escape_html(title);
  out += "</h1>\n<p>";
  out += escape_html(detail);
  out += "</p>\n<hr>\n<p><small>";
  out += escape_html(by);
  out += "</small></p>\n</body>\n</html>\n";
  return out;
}

}  // namespace

std::string escape_html(std::string_view text) {
  std::string out;
  for (char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += byte < ' ' || byte >= 0x7f ? '?' : c;
        break;
    }
  }
  return out;
}

ErrorPage make_error_page(const Refusal& refusal, const ClientSide& client, std::string_view accept,
                          HttpTime now, const ForwardingOptions& options) {
  ErrorPage page;
  const std::string phrase(http::obsolete_reason(refusal.status));
  const std::string title = std::to_string(static_cast<unsigned>(refusal.status)) + " " + phrase;
  const std::string_view detail = std::string_view(refusal.detail).substr(0, kDetailLengthMax);
  const bool html = wants_html(accept);
  page.body =
      html ? html_body(title, detail, options.via_name) : title + "\n" + plain_text(detail) + "\n";
  page.keep_alive = client.keep_alive && !refusal.close;
  page.head.version(11);
  page.head.result(refusal.status);
  page.head.reason(phrase);
  page.head.set(http::field::date, format_http_date(now));
  page.head.set(http::field::content_type,
                html ? "text/html; charset=utf-8" : "text/plain; charset=utf-8");
  page.head.set(http::field::content_length, std::to_string(page.body.size()));
  page.head.set(http::field::cache_control, "no-store");
  page.head.set("X-Content-Type-Options", "nosniff");
  page.head.set("X-Cache-Error", safe_reason(refusal.reason));
  if (refusal.status == http::status::method_not_allowed) {
    page.head.set(http::field::allow, "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS, TRACE");
  }
  if (!page.keep_alive) {
    page.head.set(http::field::connection, "close");
  } else if (client.version < 11) {
    page.head.set(http::field::connection, "keep-alive");
  }
  if (client.method == http::verb::head) page.body.clear();
  return page;
}

}  // namespace proxy
