#include "proxy/request_checks.h"

#include <algorithm>

#include "proxy/header_lists.h"
#include "proxy/request_target.h"

namespace proxy {
namespace {

using http::status;

bool is_control(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (byte < ' ' && c != '\t') || byte == 0x7f;
}

/// What is wrong with the fields one by one, if anything.
std::optional<Refusal> check_fields(const Fields& fields) {
  for (const auto& field : fields) {
    const std::string_view value = field.value();
    if (!is_token(field.name_string())) {
      return Refusal(status::bad_request, "bad_field", "The name of a field is malformed.");
    }
    if (std::any_of(value.begin(), value.end(), is_control)) {
      return Refusal(status::bad_request, "bad_field", "A field holds control characters.");
    }
  }
  return std::nullopt;
}

std::optional<Refusal> check_size(const RequestHead& head, const RequestLimits& limits) {
  constexpr size_t kLineOverhead = 4;  // Colon, blank, CR, LF.
  size_t count = 0;
  size_t size_bytes = head.target().size() + head.method_string().size();
  for (const auto& field : head) {
    ++count;
    size_bytes += field.name_string().size() + field.value().size() + kLineOverhead;
  }
  if (count > limits.field_count_max || size_bytes > limits.head_size_bytes_max) {
    return Refusal(status::request_header_fields_too_large, "fields_too_large",
                   "The request has too many or too large header fields.");
  }
  return std::nullopt;
}

std::optional<Refusal> check_host(const RequestHead& head) {
  const size_t lines = line_count(head, "Host");
  if (lines > 1) {
    return Refusal(status::bad_request, "bad_host", "The request has more than one Host field.");
  }
  if (lines == 0) {
    if (head.version() < 11) return std::nullopt;
    return Refusal(status::bad_request, "bad_host", "The request has no Host field.");
  }
  // Empty is right where the target has no authority (RFC 9110 7.2).
  const std::string_view value = trim_blanks(head[http::field::host]);
  RequestTarget unused;
  if (!value.empty() && !parse_authority(value, 80, unused)) {
    return Refusal(status::bad_request, "bad_host", "The Host field is malformed.");
  }
  return std::nullopt;
}

/// Framing by Content-Length and Transfer-Encoding alone (RFC 9112 6.1 to 6.3). `status_bad` and
/// `status_unknown` are what to answer for malformed framing and for unknown codings.
Checked<MessageFraming> check_framing(const Fields& fields, unsigned version, status status_bad,
                                      status status_unknown) {
  const size_t lengths = line_count(fields, "Content-Length");
  const size_t encodings = line_count(fields, "Transfer-Encoding");
  const auto bad = [&](const char* detail) { return Refusal(status_bad, "bad_framing", detail); };
  if (lengths > 1) return bad("The message has more than one Content-Length field.");
  if (encodings > 0 && lengths > 0) {
    return bad("The message has both Content-Length and Transfer-Encoding.");
  }
  MessageFraming framing;
  if (lengths == 1) {
    const auto length = parse_digits(fields[http::field::content_length]);
    if (!length) return bad("The Content-Length field is not a number of bytes.");
    framing.framing = *length > 0 ? BodyFraming::kLength : BodyFraming::kNone;
    framing.length_bytes = *length;
    return framing;
  }
  if (encodings == 0) return framing;
  if (version < 11) return bad("Transfer-Encoding in an HTTP/1.0 message.");
  const auto codings = list_elements(fields, "Transfer-Encoding");
  const auto is_chunked = [](std::string_view coding) {
    return equals_ignoring_case(coding, "chunked");
  };
  const auto chunked = std::count_if(codings.begin(), codings.end(), is_chunked);
  if (codings.empty() || chunked > 1 || (chunked == 1 && !is_chunked(codings.back()))) {
    return bad("The Transfer-Encoding field is malformed.");
  }
  if (codings.size() > 1 || chunked == 0) {
    return Refusal(status_unknown, "unknown_transfer_coding",
                   "Of the transfer codings only chunked is supported.");
  }
  framing.framing = BodyFraming::kChunked;
  return framing;
}

std::optional<Refusal> check_expect(const RequestHead& head, CheckedRequest& checked) {
  if (line_count(head, "Expect") == 0 || head.version() < 11) return std::nullopt;
  for (std::string_view expectation : list_elements(head, "Expect")) {
    if (!equals_ignoring_case(expectation, "100-continue")) {
      return Refusal(status::expectation_failed, "unknown_expectation",
                     "Of the expectations only 100-continue is supported.");
    }
    checked.expects_continue = checked.body.framing != BodyFraming::kNone;
  }
  return std::nullopt;
}

}  // namespace

bool wants_keep_alive(const Fields& fields, unsigned version) {
  if (list_contains(fields, "Connection", "close")) return false;
  return version >= 11 || list_contains(fields, "Connection", "keep-alive") ||
         list_contains(fields, "Proxy-Connection", "keep-alive");
}

Checked<CheckedRequest> check_request(const RequestHead& head, const RequestLimits& limits) {
  if (head.version() != 10 && head.version() != 11) {
    return Refusal(status::http_version_not_supported, "bad_version",
                   "Only HTTP/1.0 and HTTP/1.1 are served.");
  }
  if (auto refusal = check_size(head, limits)) return *refusal;
  if (auto refusal = check_fields(head)) return *refusal;
  if (!is_token(head.method_string())) {
    return Refusal(status::bad_request, "bad_method", "The method is malformed.");
  }
  if (auto refusal = check_host(head)) return *refusal;
  const auto framing =
      check_framing(head, head.version(), status::bad_request, status::not_implemented);
  if (!framing) return framing.error();
  CheckedRequest checked;
  checked.body = *framing;
  const bool bodiless = head.method() == http::verb::trace || head.method() == http::verb::connect;
  if (bodiless && checked.body.framing != BodyFraming::kNone) {
    return Refusal(status::bad_request, "unexpected_body", "This method has no body.");
  }
  if (auto refusal = check_expect(head, checked)) return *refusal;
  checked.keep_alive = wants_keep_alive(head, head.version());
  return checked;
}

Checked<MessageFraming> check_response(const ResponseHead& head, http::verb method) {
  if (auto refusal = check_fields(head)) {
    return Refusal(status::bad_gateway, refusal->reason, refusal->detail);
  }
  const unsigned code = head.result_int();
  if (code < 100 || code > 599) {  // RFC 9110 15: outside these a status code is invalid
    return Refusal(status::bad_gateway, "bad_status", "status code " + std::to_string(code));
  }
  const bool tunnel = method == http::verb::connect && code / 100 == 2;
  if (method == http::verb::head || code / 100 == 1 || code == 204 || code == 304 || tunnel) {
    return MessageFraming();
  }
  auto framing = check_framing(head, head.version(), status::bad_gateway, status::bad_gateway);
  if (!framing) return framing;
  const bool delimited =
      line_count(head, "Content-Length") > 0 || framing->framing == BodyFraming::kChunked;
  if (!delimited) framing->framing = BodyFraming::kClose;
  return framing;
}

}  // namespace proxy
