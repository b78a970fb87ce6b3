#include "proxy/request_target.h"

#include <algorithm>
#include <boost/asio/ip/address_v6.hpp>

#include "proxy/header_lists.h"

namespace proxy {
namespace {

constexpr uint16_t kHttpPort = 80;
constexpr size_t kHostLengthMax = 255;
constexpr std::string_view kHttpScheme = "http://";

Refusal bad_target(std::string detail) {
  return Refusal(http::status::bad_request, "bad_target", std::move(detail));
}

bool is_host_char(char c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '-' ||
         c == '.' || c == '_' || c == '~';
}

bool parse_port(std::string_view text, uint16_t& port) {
  const auto value = parse_digits(text);
  if (!value || *value == 0 || *value > 65535) return false;
  port = static_cast<uint16_t>(*value);
  return true;
}

/// Host and port of `[IPv6]` or `[IPv6]:port`; the address in its canonical form, so that two
/// spellings of it are one host.
bool parse_bracketed(std::string_view text, RequestTarget& target) {
  const size_t close = text.find(']');
  if (close == std::string_view::npos) return false;
  const std::string address(text.substr(1, close - 1));
  boost::system::error_code error;
  const auto parsed = boost::asio::ip::make_address_v6(address, error);
  if (error || parsed.scope_id() != 0 || address.find('%') != std::string::npos) return false;
  target.host = parsed.to_string();
  const std::string_view rest = text.substr(close + 1);
  if (rest.empty() || rest == ":") return true;
  return rest.front() == ':' && parse_port(rest.substr(1), target.port);
}

/// The part after the authority: path and query without fragment.
std::string without_fragment(std::string_view text) {
  std::string out(text.substr(0, text.find('#')));
  if (out.empty() || out.front() != '/') out.insert(out.begin(), '/');
  return out;
}

Checked<RequestTarget> parse_absolute(const RequestHead& head, std::string_view text) {
  const size_t colon = text.find(':');
  const std::string_view scheme = text.substr(0, colon);
  if (colon == std::string_view::npos || !is_token(scheme)) {
    return bad_target("The request target is neither a path nor a URL.");
  }
  if (!equals_ignoring_case(text.substr(0, kHttpScheme.size()), kHttpScheme)) {
    const bool https = equals_ignoring_case(scheme, "https");
    return Refusal(http::status::bad_request, "unsupported_scheme",
                   https ? "URLs of scheme https are not fetched; use CONNECT."
                         : "Only URLs of scheme http are served.",
                   false);
  }
  text.remove_prefix(kHttpScheme.size());
  const size_t authority_end = std::min(text.find_first_of("/?#"), text.size());
  const std::string_view authority = text.substr(0, authority_end);
  if (authority.find('@') != std::string_view::npos) {
    return bad_target("User information in a URL is not accepted.");
  }
  RequestTarget target;
  target.form = TargetForm::kAbsolute;
  target.scheme = "http";
  if (!parse_authority(authority, kHttpPort, target)) {
    return bad_target("The URL has no valid host and port.");
  }
  const bool asterisk = head.method() == http::verb::options && authority_end == text.size();
  target.path_and_query = asterisk ? "*" : without_fragment(text.substr(authority_end));
  return target;
}

Checked<RequestTarget> parse_with_host(const RequestHead& head, std::string_view text) {
  const auto host = head.find(http::field::host);
  if (host == head.end() || trim_blanks(host->value()).empty()) {
    return Refusal(http::status::bad_request, "bad_host",
                   "The request names no host: neither in its target nor in a Host field.");
  }
  RequestTarget target;
  target.form = text == "*" ? TargetForm::kAsterisk : TargetForm::kOrigin;
  target.scheme = "http";
  if (!parse_authority(trim_blanks(host->value()), kHttpPort, target)) {
    return Refusal(http::status::bad_request, "bad_host", "The Host field is malformed.");
  }
  target.path_and_query = text == "*" ? "*" : without_fragment(text);
  return target;
}

Checked<RequestTarget> parse_connect(std::string_view text) {
  RequestTarget target;
  target.form = TargetForm::kAuthority;
  target.port = 0;
  if (!parse_authority(text, 0, target) || target.port == 0) {
    return bad_target("The target of CONNECT must be host:port.");
  }
  return target;
}

}  // namespace

std::string RequestTarget::authority() const {
  const bool brackets = host.find(':') != std::string::npos;
  std::string out = brackets ? "[" + host + "]" : host;
  if (form == TargetForm::kAuthority || port != kHttpPort) out += ":" + std::to_string(port);
  return out;
}

std::string RequestTarget::url() const {
  if (form == TargetForm::kAuthority) return authority();
  // The asterisk stands for the server, whose URL has no path (RFC 9112 3.2.4).
  const std::string path = path_and_query == "*" ? std::string() : path_and_query;
  return scheme + "://" + authority() + path;
}

bool parse_authority(std::string_view text, uint16_t default_port, RequestTarget& target) {
  target.port = default_port;
  if (!text.empty() && text.front() == '[') return parse_bracketed(text, target);
  const size_t colon = text.find(':');
  const std::string_view host = text.substr(0, colon);
  if (host.empty() || host.size() > kHostLengthMax ||
      !std::all_of(host.begin(), host.end(), is_host_char)) {
    return false;
  }
  target.host = to_lower(host);
  if (colon == std::string_view::npos || colon + 1 == text.size()) return true;
  return parse_port(text.substr(colon + 1), target.port);
}

Checked<RequestTarget> parse_request_target(const RequestHead& head) {
  const std::string_view text = head.target();
  if (text.size() > kTargetLengthMax) {
    return Refusal(
        http::status::uri_too_long, "target_too_long",
        "The request target is longer than " + std::to_string(kTargetLengthMax) + " bytes.");
  }
  const auto is_bad = [](char c) { return static_cast<unsigned char>(c) <= ' ' || c == '\x7f'; };
  if (text.empty() || std::any_of(text.begin(), text.end(), is_bad)) {
    return bad_target("The request target is empty or holds blanks or control characters.");
  }
  if (head.method() == http::verb::connect) return parse_connect(text);
  if (text == "*") {
    if (head.method() != http::verb::options) {
      return bad_target("Only OPTIONS may have the target *.");
    }
    return parse_with_host(head, text);
  }
  return text.front() == '/' ? parse_with_host(head, text) : parse_absolute(head, text);
}

std::string cache_key(const RequestTarget& target) {
  const bool brackets = target.host.find(':') != std::string::npos;
  std::string out = "GET " + target.scheme + "://";
  out += brackets ? "[" + target.host + "]" : target.host;
  out += ":" + std::to_string(target.port);
  out += target.path_and_query;
  return out;
}

}  // namespace proxy
