// The queue of asynchronous transfers that POSIX has (aio.h).
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <memory>
#include <string>

#include "storage/io/call_queue.h"

namespace storage {

/// A queue for QueuedEngine. Reads, writes and syncs are under way while the event loop goes on;
/// all else is made in the calling thread, blocking. How much runs at once is the system's affair:
/// glibc makes the transfers of one file one after the other, in a thread. A cancelled transfer
/// that has not begun is given up. Null where the system refuses: `error` is then one line for the
/// user.
std::shared_ptr<CallQueue> make_posix_aio_queue(const boost::asio::any_io_executor& executor,
                                                unsigned depth_max, std::string& error);

}  // namespace storage
