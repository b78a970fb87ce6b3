#include "proxy/http_message.h"

#include <stdexcept>
#include <utility>

namespace proxy {

Refusal::Refusal(http::status status_in, std::string reason_in, std::string detail_in,
                 bool close_in)
    : status(status_in),
      reason(std::move(reason_in)),
      detail(std::move(detail_in)),
      close(close_in) {}

void throw_exception_from_error(const Refusal& refusal, const boost::source_location& at) {
  throw std::logic_error("value() of a refusal (" + refusal.reason + ") at " + at.to_string());
}

bool is_safe(http::verb method) {
  switch (method) {
    case http::verb::get:
    case http::verb::head:
    case http::verb::options:
    case http::verb::trace:
    case http::verb::propfind:
    case http::verb::report:
    case http::verb::search:
      return true;
    default:
      return false;
  }
}

bool is_idempotent(http::verb method) {
  return is_safe(method) || method == http::verb::put || method == http::verb::delete_;
}

}  // namespace proxy
