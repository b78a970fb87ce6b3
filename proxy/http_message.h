// The HTTP message types of the proxy, and the one way its rules refuse a message.
#pragma once

#include <boost/assert/source_location.hpp>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http/field.hpp>
#include <boost/beast/http/fields.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/status.hpp>
#include <boost/beast/http/verb.hpp>
#include <boost/system/result.hpp>
#include <string>
#include <string_view>

namespace proxy {

namespace http = boost::beast::http;

using Fields = http::fields;
using RequestHead = http::request_header<>;
using ResponseHead = http::response_header<>;

/// Why a message is not served as asked, and what to answer instead.
struct Refusal {
  http::status status = http::status::bad_request;  ///< What the client is answered.
  std::string reason;  ///< A token for counters and the error page's header, e.g. `bad_host`.
  std::string detail;  ///< A sentence for people; may quote the peer, so escape it on output.
  bool close = true;   ///< The connection cannot be trusted to be in step any more.

  Refusal() = default;
  Refusal(http::status status_in, std::string reason_in, std::string detail_in,
          bool close_in = true);
  friend bool operator==(const Refusal& left, const Refusal& right) = default;
};

/// A value, or the refusal to answer with.
template <class T>
using Checked = boost::system::result<T, Refusal>;

/// Called by boost::system::result when a value is demanded of a refusal: a programmer's mistake.
[[noreturn]] void throw_exception_from_error(const Refusal& refusal,
                                             const boost::source_location& at);

/// Whether a method is safe (RFC 9110 9.2.1). Unknown methods are not.
bool is_safe(http::verb method);

/// Whether a request may be sent again after a connection failed without an answer (RFC 9110
/// 9.2.2). Unknown methods are not idempotent.
bool is_idempotent(http::verb method);

}  // namespace proxy
