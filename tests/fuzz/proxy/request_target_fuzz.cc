#include <string>

#include "proxy/caching_rules.h"
#include "proxy/request_checks.h"
#include "proxy/request_target.h"
#include "tests/fuzz/proxy/targets.h"
#include "tests/support/http_heads.h"

namespace testing_support {
namespace {

void check_target(const proxy::RequestHead& head) {
  const auto target = proxy::parse_request_target(head);
  if (!target) {
    require(!target.error().reason.empty(), "a refusal says why");
    return;
  }
  require(!target->host.empty() && target->port != 0, "a target names a host and a port");
  require(target->host.find_first_of("/?#@[] \t\r\n") == std::string::npos, "hosts are clean");
  require(target->path_and_query.find('#') == std::string::npos, "the fragment is gone");
  const std::string key = proxy::cache_key(*target);
  require(key.size() <= proxy::kTargetLengthMax + 300, "keys are bounded");
  require(key.find_first_of("\r\n") == std::string::npos, "keys are one line");
  if (target->form == proxy::TargetForm::kAuthority || target->path_and_query == "*") return;
  // What a key is made of can be asked for again, and is the same object.
  const auto again = proxy::parse_request_target(request_head("GET", key.substr(4)));
  require(target->path_and_query.size() > proxy::kTargetLengthMax - 300 ||
              (again && proxy::cache_key(*again) == key),
          "the URL of a key has that key");
  proxy::keys_to_invalidate(request_head("POST", "/"), *target,
                            response_head(200, {{"Location", head.target()}}));
}

/// `method\ntarget\nhost[\nname: value]...`
void run(std::string_view input) {
  const size_t method_end = input.find('\n');
  if (method_end == std::string_view::npos) return;
  const std::string_view method = input.substr(0, method_end);
  input.remove_prefix(method_end + 1);
  const size_t target_end = input.find('\n');
  if (target_end == std::string_view::npos || method.empty()) return;
  const std::string_view host = input.substr(target_end + 1);
  if (host.size() > 60000) return;
  const auto head = request_head(method, input.substr(0, target_end), {{"Host", host}});
  check_target(head);
  const auto with_framing =
      request_head(method, "/", {{"Host", "h"}, {"Content-Length", host}, {"Expect", host}});
  const auto checked = proxy::check_request(with_framing, {});
  if (checked && checked->body.framing == proxy::BodyFraming::kLength) {
    require(host.find_first_not_of("0123456789 \t") == std::string_view::npos,
            "a length is digits");
  }
  const auto encoded = request_head(method, "/", {{"Host", "h"}, {"Transfer-Encoding", host}});
  const auto framing = proxy::check_request(encoded, {});
  require(!framing || framing->body.framing == proxy::BodyFraming::kChunked,
          "Transfer-Encoding is chunked or refused");
}

}  // namespace

FuzzTarget request_target_target() {
  return {"request_target",
          run,
          {"GET\n/where?q=now\nwww.example.org:8080", "GET\nhttp://[2001:db8::1]:81/x#f\n",
           "OPTIONS\n*\nh", "CONNECT\nserver.example.com:443\nh", "GET\nhttp://h?x\nh",
           "POST\n/\n5", "POST\nhttps://h/\nchunked", "PUT\n/%7e/../\n100-continue"}};
}

}  // namespace testing_support
