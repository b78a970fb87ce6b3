// Requests that the cache has no part in.
#pragma once

#include "proxy/transaction.h"

namespace proxy {

/// Passes a request to the origin, with its body, and the response back; stores nothing. A
/// successful unsafe request makes what is stored for its target invalid (RFC 9111 4.4).
boost::asio::awaitable<void> pass_through(Transaction& transaction, LogTag tag);

}  // namespace proxy
