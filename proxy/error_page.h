// The proxy's own answers when it cannot serve a request.
#pragma once

#include <string>
#include <string_view>

#include "proxy/forwarding.h"
#include "proxy/http_date.h"
#include "proxy/http_message.h"

namespace proxy {

/// Text with `& < > " '` and control characters made harmless for HTML.
std::string escape_html(std::string_view text);

/// A whole answer: send `head`, then `body` (empty for HEAD, though Content-Length tells its size).
struct ErrorPage {
  ResponseHead head;
  std::string body;
  bool keep_alive = false;
};

/// A short page that says what happened and why: HTML where the client's `accept` field asks for
/// it, else plain text. Cache-Control: no-store, and X-Cache-Error: `refusal.reason`. Closes the
/// connection where the refusal or the client asks for it. 405 lists the methods in Allow.
ErrorPage make_error_page(const Refusal& refusal, const ClientSide& client, std::string_view accept,
                          HttpTime now, const ForwardingOptions& options);

}  // namespace proxy
