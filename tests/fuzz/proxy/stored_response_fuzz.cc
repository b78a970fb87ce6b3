#include <string>

#include "proxy/caching_rules.h"
#include "proxy/conditional.h"
#include "proxy/forwarding.h"
#include "proxy/stored_response.h"
#include "proxy/vary.h"
#include "tests/fuzz/proxy/targets.h"
#include "tests/support/http_heads.h"

namespace testing_support {
namespace {

using proxy::HttpTime;
using proxy::Seconds;

void run_marker(const proxy::VaryMarker& marker) {
  const auto again = proxy::encode_record(marker);
  require(again.has_value(), "a decoded marker can be encoded");
  const auto second = proxy::decode_record(again->bytes());
  require(second && std::get<proxy::VaryMarker>(*second).names == marker.names,
          "a marker survives encoding");
  proxy::variant_key("GET http://h:80/", marker, get_head({{"Accept", "a"}}));
}

void run_response(const proxy::StoredResponse& response) {
  const auto again = proxy::encode_record(response);
  // Damaged bytes may spell more than metadata may hold only if they were too many themselves.
  require(again.has_value(), "a decoded response can be encoded");
  const auto second = proxy::decode_record(again->bytes());
  require(second.has_value(), "an encoded response can be decoded");
  const auto& copy = std::get<proxy::StoredResponse>(*second);
  require(text_of(copy.head) == text_of(response.head), "fields survive encoding");
  require(copy.head.result_int() == response.head.result_int(), "the status survives encoding");

  // Whatever a disk made of it, the rules must stay within their ranges.
  const HttpTime now{Seconds(1'700'000'000)};
  const proxy::CachingOptions options;
  const auto request = get_head({{"If-None-Match", "\"a\""}, {"If-Range", "\"a\""}});
  const proxy::Decision decision = proxy::decide(response, request, now, options);
  require(decision.age >= Seconds(0) && decision.age <= proxy::kDeltaSecondsMax, "age in range");
  require(decision.lifetime >= Seconds(0) && decision.lifetime <= proxy::kDeltaSecondsMax,
          "lifetime in range");
  proxy::evaluate_conditions(request, response);
  proxy::range_applies(request, response.head);
  const auto sent = proxy::make_cached_response(response, decision.age, 5, {}, {});
  require(sent.head.count("Age") == 1, "one Age");
  require(sent.head.count("Content-Length") <= 1, "one Content-Length");
}

void run(std::string_view input) {
  const auto record = proxy::decode_record(input);
  if (!record) return;
  if (const auto* marker = std::get_if<proxy::VaryMarker>(&*record)) {
    run_marker(*marker);
  } else {
    run_response(std::get<proxy::StoredResponse>(*record));
  }
}

/// Encoded records to start from; they live as long as the program.
std::string_view seed_response() {
  static const std::string bytes = [] {
    proxy::StoredResponse response;
    response.head = response_head(200, {{"Date", "Sun, 06 Nov 1994 08:49:37 GMT"},
                                        {"Expires", "Sunday, 06-Nov-94 08:49:37 GMT"},
                                        {"Age", "1, 2"},
                                        {"Cache-Control", "max-age=60, no-cache=\"x\""},
                                        {"ETag", "\"a\""}});
    response.body_size_bytes = 5;
    return std::string(proxy::encode_record(response).value().bytes());
  }();
  return bytes;
}

std::string_view seed_marker() {
  static const std::string bytes = [] {
    proxy::VaryMarker marker;
    marker.names = {"accept", "accept-encoding"};
    return std::string(proxy::encode_record(marker).value().bytes());
  }();
  return bytes;
}

}  // namespace

FuzzTarget stored_response_target() {
  return {"stored_response", run, {seed_response(), seed_marker()}};
}

}  // namespace testing_support
