// Answers requests for the workload's objects: thinks, composes, sends, and misbehaves on request.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>

#include "workload/origin/origin_responder.h"
#include "workload/origin/origin_response.h"

namespace workload {

/// Holds no body: bytes are made in the worker's scratch memory each time that the socket takes
/// some, so a slow peer costs nothing.
class ObjectResponder final : public OriginResponder {
 public:
  explicit ObjectResponder(const boost::asio::any_io_executor& executor);

  boost::asio::awaitable<bool> respond(OriginConnection& connection, const OriginRequest& request,
                                       bool keep_alive) override;
  void stop_waiting() override { think_timer_.cancel(); }

 private:
  boost::asio::awaitable<void> think(OriginConnection& connection, const OriginRequest& request);
  boost::asio::awaitable<bool> answer(OriginConnection& connection, const OriginRequest& request);
  boost::asio::awaitable<bool> send_object(OriginConnection& connection, uint64_t body_bytes);
  boost::asio::awaitable<bool> send_chunked(OriginConnection& connection);
  boost::asio::awaitable<void> misbehave_at_end(OriginConnection& connection);

  void compose(OriginConnection& connection, const OriginRequest& request, bool keep_alive);
  /// Whether the response at hand is to be broken off in its body, on a robot's wish.
  bool breaks_off(const OriginRequest& request) const;

  boost::asio::steady_timer think_timer_;
  OriginResponse response_;
  OriginFault fault_ = OriginFault::kNone;
  bool keep_alive_ = true;  ///< Behind the response at hand.
};

}  // namespace workload
