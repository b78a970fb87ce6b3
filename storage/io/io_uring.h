// The kernel's general queue of calls (io_uring), where the build has liburing.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <memory>
#include <string>

#include "storage/io/call_queue.h"

namespace storage {

/// A queue for QueuedEngine. Everything but sizes is in the kernel while the event loop goes on,
/// for direct and for other files. A cancelled call is stopped where the kernel can. Needs Linux
/// 5.11. Null where the kernel refuses: `error` is then one line for the user.
std::shared_ptr<CallQueue> make_io_uring_queue(const boost::asio::any_io_executor& executor,
                                               unsigned depth_max, std::string& error);

}  // namespace storage
