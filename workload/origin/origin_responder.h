// What a connection's requests are answered from: the workload's objects, or files.
#pragma once

#include <boost/asio/awaitable.hpp>

#include "workload/origin/origin_request.h"

namespace workload {

class OriginConnection;

/// Answers the requests of one connection, one after the other. Belongs to the connection and to
/// its worker's thread.
class OriginResponder {
 public:
  virtual ~OriginResponder() = default;

  /// Answers a request that was received whole; both arguments outlive the call. `keep_alive`: the
  /// peer and the server would keep the connection. Tells the connection the status and the bytes
  /// of the body as they go out. Returns whether the connection may take another request; where
  /// not, everything is done but closing it.
  virtual boost::asio::awaitable<bool> respond(OriginConnection& connection,
                                               const OriginRequest& request, bool keep_alive) = 0;

  /// Ends what respond() may be waiting for beside the socket, which is closed already.
  virtual void stop_waiting() {}
};

}  // namespace workload
