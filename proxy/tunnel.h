// CONNECT: bytes both ways between a client and an origin (RFC 9110 9.3.6).
#pragma once

#include "proxy/client_connection.h"
#include "proxy/origin_pool.h"

namespace proxy {

/// What went through a tunnel.
struct TunnelReport {
  uint64_t to_client_bytes = 0;
  uint64_t to_origin_bytes = 0;
};

/// Carries bytes until both sides have ended, one of them broke, or nothing moved for
/// Timeouts::tunnel. The end of one direction is passed on while the other goes on. What the client
/// sent ahead (in its buffer) goes first. Both connections are of no further use afterwards.
boost::asio::awaitable<TunnelReport> run_tunnel(Services& services, ClientConnection& client,
                                                OriginConnection& origin);

}  // namespace proxy
