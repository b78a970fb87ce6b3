#include "workload/origin/origin_request.h"

#include <boost/beast/core/string.hpp>
#include <boost/beast/http/error.hpp>
#include <charconv>

#include "workload/model/object.h"
#include "workload/model/origin_abort.h"

namespace workload {
namespace {

namespace http = boost::beast::http;

constexpr uint32_t kHeaderBytesMax = 16384;
constexpr size_t kTransactionDigits = 16;

/// The path and query of a target in origin form or absolute form (RFC 9112 section 3.2).
std::string_view path_of_target(std::string_view target) {
  const size_t scheme_end = target.find("://");
  if (target.starts_with('/') || scheme_end == std::string_view::npos) return target;
  const size_t path = target.find('/', scheme_end + 3);
  return path == std::string_view::npos ? std::string_view("/") : target.substr(path);
}

std::optional<uint64_t> parse_transaction(std::string_view text) {
  uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, value, 16);
  if (text.size() != kTransactionDigits || result.ec != std::errc{} || result.ptr != end) {
    return std::nullopt;
  }
  return value;
}

OriginRequest::Method method_of(http::verb verb) {
  switch (verb) {
    case http::verb::get:
      return OriginRequest::Method::kGet;
    case http::verb::head:
      return OriginRequest::Method::kHead;
    case http::verb::post:
      return OriginRequest::Method::kPost;
    case http::verb::put:
      return OriginRequest::Method::kPut;
    case http::verb::options:
      return OriginRequest::Method::kOptions;
    default:
      return OriginRequest::Method::kOther;
  }
}

void join(std::string& list, std::string_view value) {
  if (!list.empty()) list += ", ";
  list += value;
}

}  // namespace

void OriginRequest::clear() {
  method = Method::kOther;
  http_1_1 = host_given = expects_continue = accept_encoding_given = false;
  transaction.reset();
  break_off.reset();
  body_bytes = 0;
  for (auto* text : {&method_text, &target, &if_match, &if_unmodified_since, &if_none_match,
                     &if_modified_since, &if_range, &range, &accept_encoding}) {
    text->clear();
  }
}

OriginRequestParser::OriginRequestParser(OriginRequest& request, uint64_t body_bytes_max)
    : request_(request) {
  request_.clear();
  header_limit(kHeaderBytesMax);
  body_limit(body_bytes_max);
}

void OriginRequestParser::on_request_impl(http::verb method, StringView method_text,
                                          StringView target, int version, ErrorCode&) {
  request_.method = method_of(method);
  request_.method_text = method_text;
  request_.target = path_of_target(target);
  request_.http_1_1 = version >= 11;
}

void OriginRequestParser::on_response_impl(int, StringView, int, ErrorCode& error) {
  error = http::error::bad_method;  // Never called by a parser of requests.
}

void OriginRequestParser::on_field_impl(http::field name, StringView name_text, StringView value,
                                        ErrorCode& error) {
  switch (name) {
    case http::field::host:
      if (request_.host_given) error = http::error::bad_field;  // RFC 9112 section 3.2
      request_.host_given = true;
      break;
    case http::field::if_match:
      join(request_.if_match, value);
      break;
    case http::field::if_unmodified_since:
      join(request_.if_unmodified_since, value);
      break;
    case http::field::accept_encoding:
      join(request_.accept_encoding, value);
      request_.accept_encoding_given = true;
      break;
    case http::field::if_none_match:
      join(request_.if_none_match, value);
      break;
    case http::field::if_modified_since:
      join(request_.if_modified_since, value);
      break;
    case http::field::if_range:
      join(request_.if_range, value);
      break;
    case http::field::range:
      join(request_.range, value);
      break;
    case http::field::expect:
      request_.expects_continue = boost::beast::iequals(value, "100-continue");
      break;
    case http::field::unknown:
      if (boost::beast::iequals(name_text, kTransactionHeader)) {
        request_.transaction = parse_transaction(value);
      } else if (boost::beast::iequals(name_text, kBreakOffHeader)) {
        request_.break_off = parse_break_off(value);
      }
      break;
    default:
      break;
  }
}

void OriginRequestParser::on_header_impl(ErrorCode&) {}

void OriginRequestParser::on_body_init_impl(const boost::optional<uint64_t>&, ErrorCode&) {}

size_t OriginRequestParser::on_body_impl(StringView body, ErrorCode&) {
  request_.body_bytes += body.size();
  return body.size();
}

void OriginRequestParser::on_chunk_header_impl(uint64_t, StringView, ErrorCode&) {}

size_t OriginRequestParser::on_chunk_body_impl(uint64_t, StringView body, ErrorCode&) {
  request_.body_bytes += body.size();
  return body.size();
}

void OriginRequestParser::on_finish_impl(ErrorCode&) {}

}  // namespace workload
