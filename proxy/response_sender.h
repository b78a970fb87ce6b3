// Sending a response to a client.
#pragma once

#include <optional>
#include <string_view>

#include "proxy/body_source.h"
#include "proxy/client_connection.h"
#include "proxy/forwarding.h"

namespace proxy {

/// How sending ended.
enum class SendOutcome {
  kSent,          ///< Whole.
  kClientFailed,  ///< The client went away or took nothing for too long.
  kSourceFailed,  ///< The body broke off after the head was sent: the connection must be broken.
  kNothingSent,   ///< The body broke off before anything was sent: there may be another answer.
};

/// Sends a head and, where its framing says so, the body. `first` is the body's first piece where
/// it was read already; the head goes out in one write with it, or with what the source has at
/// once. Never ends a body cleanly that is not whole: where the end of the connection would be the
/// end of the body, the connection is reset. `body` may be null where there is no body.
boost::asio::awaitable<SendOutcome> send_response(ClientConnection& client,
                                                  const DownstreamResponse& response,
                                                  BodySource* body,
                                                  std::optional<storage::Piece> first);

/// Sends a head and a short text as its body (empty for none).
boost::asio::awaitable<SendOutcome> send_text_response(ClientConnection& client,
                                                       const ResponseHead& head,
                                                       std::string_view body);

}  // namespace proxy
