#include "proxy/forwarding.h"

#include <algorithm>

#include "proxy/conditional.h"
#include "proxy/header_lists.h"

namespace proxy {
namespace {

using http::field;
using http::status;

constexpr std::string_view kForwardedFor = "X-Forwarded-For";

/// Fields that Connection cannot remove: framing, routing and caching rest on them.
bool is_protected(std::string_view name) {
  static constexpr std::string_view kNames[] = {
      "host",          "content-length", "via",           "x-forwarded-for",
      "max-forwards",  "cache-control",  "pragma",        "date",
      "age",           "expires",        "vary",          "etag",
      "last-modified", "content-type",   "content-range", "content-encoding",
      "authorization"};
  return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
}

void add_via(Fields& fields, unsigned received_version, const ForwardingOptions& options) {
  const std::string version = received_version == 10 ? "1.0 " : "1.1 ";
  fields.insert(field::via, version + options.via_name);
}

void decrement_max_forwards(RequestHead& request) {
  if (request.method() != http::verb::options && request.method() != http::verb::trace) return;
  const auto hops = parse_digits(trim_blanks(request[field::max_forwards]));
  if (hops && *hops > 0) request.set(field::max_forwards, std::to_string(*hops - 1));
}

void set_request_framing(RequestHead& request, const MessageFraming& body) {
  request.erase(field::content_length);
  switch (body.framing) {
    case BodyFraming::kLength:
      request.set(field::content_length, std::to_string(body.length_bytes));
      break;
    case BodyFraming::kChunked:
      request.set(field::transfer_encoding, "chunked");
      break;
    case BodyFraming::kNone:
    case BodyFraming::kClose:  // No request is framed so.
      // Servers wait for a length where the method announces a body (RFC 9110 8.6).
      if (request.method() == http::verb::post || request.method() == http::verb::put ||
          request.method() == http::verb::patch) {
        request.set(field::content_length, "0");
      }
      break;
  }
}

bool has_no_body(unsigned code) {
  return code / 100 == 1 || code == 204 || code == 304;
}

/// Sets framing fields and Connection for a body of known or unknown size. `head_length` is what
/// Content-Length says to HEAD where the size is not known.
void frame(DownstreamResponse& out, std::optional<uint64_t> body_size_bytes,
           std::optional<uint64_t> head_length, const ClientSide& client) {
  out.keep_alive = client.keep_alive;
  out.head.erase(field::content_length);
  out.head.erase(field::transfer_encoding);
  if (has_no_body(out.head.result_int())) {
    out.framing = BodyFraming::kNone;
  } else if (client.method == http::verb::head) {
    out.framing = BodyFraming::kNone;
    const auto length = body_size_bytes ? body_size_bytes : head_length;
    if (length) out.head.set(field::content_length, std::to_string(*length));
  } else if (body_size_bytes) {
    out.framing = BodyFraming::kLength;
    out.length_bytes = *body_size_bytes;
    out.head.set(field::content_length, std::to_string(*body_size_bytes));
  } else if (client.version >= 11) {
    out.framing = BodyFraming::kChunked;
    out.head.set(field::transfer_encoding, "chunked");
  } else {
    out.framing = BodyFraming::kClose;
    out.keep_alive = false;
  }
  if (!out.keep_alive) {
    out.head.set(field::connection, "close");
  } else if (client.version < 11) {
    out.head.set(field::connection, "keep-alive");
  }
}

/// What make_cached_response and make_partial_response have in common: the head without framing.
ResponseHead cached_head(const StoredResponse& entry, Seconds age,
                         const ForwardingOptions& options) {
  ResponseHead head = entry.head;
  head.version(11);
  head.set(field::age, std::to_string(age.count()));
  // A recipient with a clock that caches a response without Date adds it (RFC 9110 6.6.1).
  if (head.count(field::date) == 0) head.set(field::date, format_http_date(entry.response_time));
  add_via(head, entry.head.version(), options);
  return head;
}

}  // namespace

void remove_hop_by_hop(Fields& fields) {
  for (const std::string& name : connection_nominated(fields)) {
    if (!is_protected(name)) fields.erase(name);
  }
  for (field name :
       {field::connection, field::keep_alive, field::proxy_connection, field::proxy_authenticate,
        field::proxy_authorization, field::proxy_authentication_info, field::te, field::trailer,
        field::transfer_encoding, field::upgrade}) {
    fields.erase(name);
  }
}

bool is_forwarding_loop(const RequestHead& request, std::string_view via_name) {
  for (std::string_view element : list_elements(request, "Via")) {
    // `protocol-version received-by [comment]`
    const size_t blank = element.find_first_of(" \t");
    if (blank == std::string_view::npos) continue;
    const std::string_view rest = trim_blanks(element.substr(blank));
    if (equals_ignoring_case(rest.substr(0, rest.find_first_of(" \t")), via_name)) return true;
  }
  return false;
}

bool must_answer_here(const RequestHead& request) {
  if (request.method() != http::verb::options && request.method() != http::verb::trace) {
    return false;
  }
  return parse_digits(trim_blanks(request[field::max_forwards])) == uint64_t{0};
}

RequestHead make_upstream_request(const RequestHead& client, const RequestTarget& target,
                                  const MessageFraming& body, UpstreamPurpose purpose,
                                  std::string_view client_address,
                                  const ForwardingOptions& options) {
  RequestHead passed = client;
  remove_hop_by_hop(passed);
  passed.erase(field::expect);
  passed.erase(field::host);
  if (purpose == UpstreamPurpose::kFill) remove_conditions(passed);
  decrement_max_forwards(passed);
  set_request_framing(passed, body);
  if (options.add_forwarded_for && !client_address.empty()) {
    std::string chain = combined_value(passed, kForwardedFor);
    if (!chain.empty()) chain += ", ";
    chain += client_address;
    passed.set(kForwardedFor, chain);
  }
  add_via(passed, client.version(), options);
  // Host comes first (RFC 9110 7.2), so the fields are copied behind it.
  RequestHead out;
  out.version(11);
  out.method_string(client.method_string());
  out.target(target.path_and_query);
  out.set(field::host, target.authority());
  for (const auto& line : passed) out.insert(line.name_string(), line.value());
  return out;
}

DownstreamResponse make_response(const ResponseHead& origin,
                                 std::optional<uint64_t> body_size_bytes, const ClientSide& client,
                                 HttpTime now, const ForwardingOptions& options) {
  DownstreamResponse out;
  out.head = origin;
  out.head.version(11);
  std::optional<uint64_t> announced;
  if (origin.count(field::content_length) == 1) {
    announced = parse_digits(trim_blanks(origin[field::content_length]));
  }
  remove_hop_by_hop(out.head);
  if (out.head.count(field::date) == 0) out.head.set(field::date, format_http_date(now));
  add_via(out.head, origin.version(), options);
  frame(out, body_size_bytes, announced, client);
  return out;
}

DownstreamResponse make_cached_response(const StoredResponse& entry, Seconds age,
                                        std::optional<uint64_t> body_size_bytes,
                                        const ClientSide& client,
                                        const ForwardingOptions& options) {
  DownstreamResponse out;
  out.head = cached_head(entry, age, options);
  frame(out, body_size_bytes, std::nullopt, client);
  return out;
}

DownstreamResponse make_partial_response(const StoredResponse& entry, Seconds age, ByteRange range,
                                         uint64_t size_bytes, const ClientSide& client,
                                         const ForwardingOptions& options) {
  DownstreamResponse out;
  out.head = cached_head(entry, age, options);
  out.head.result(status::partial_content);
  out.head.reason("Partial Content");
  out.head.set(field::content_range, format_content_range(range, size_bytes));
  frame(out, range.size_bytes(), std::nullopt, client);
  return out;
}

DownstreamResponse make_not_modified(const StoredResponse& entry, Seconds age,
                                     const ClientSide& client, const ForwardingOptions& options) {
  const ResponseHead full = cached_head(entry, age, options);
  DownstreamResponse out;
  out.head.version(11);
  out.head.result(status::not_modified);
  out.head.reason("Not Modified");
  const bool has_tag = full.count(field::etag) > 0;
  for (const auto& line : full) {
    switch (line.name()) {
      case field::age:
      case field::cache_control:
      case field::content_location:
      case field::date:
      case field::etag:
      case field::expires:
      case field::vary:
      case field::via:
        out.head.insert(line.name_string(), line.value());
        break;
      case field::last_modified:
        if (!has_tag) out.head.insert(line.name_string(), line.value());
        break;
      case field::unknown:
        // Extension fields say who made the response or how it came about, not what the body is.
        out.head.insert(line.name_string(), line.value());
        break;
      default:
        break;
    }
  }
  frame(out, std::nullopt, std::nullopt, client);
  return out;
}

DownstreamResponse make_unsatisfiable(uint64_t size_bytes, const ClientSide& client, HttpTime now) {
  DownstreamResponse out;
  out.head.version(11);
  out.head.result(status::range_not_satisfiable);
  out.head.reason("Range Not Satisfiable");
  out.head.set(field::date, format_http_date(now));
  out.head.set(field::content_range, format_unsatisfied_range(size_bytes));
  frame(out, 0, std::nullopt, client);
  return out;
}

}  // namespace proxy
