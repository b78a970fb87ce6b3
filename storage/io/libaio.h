// The kernel's queue of direct transfers (io_submit).
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <memory>
#include <string>

#include "storage/io/call_queue.h"

namespace storage {

/// A queue for QueuedEngine. Reads, writes and syncs of files that were opened with
/// kReadWriteDirect are in the kernel while the event loop goes on; a transfer that is not aligned
/// is kIo with EINVAL. What the kernel's interface would do in the calling thread anyway is made
/// there, blocking: other files, opening, closing, sizes, renaming and unlinking. Transfers in the
/// kernel cannot be stopped: a cancelled one ends as usual. Null where the kernel refuses: `error`
/// is then one line for the user.
std::shared_ptr<CallQueue> make_libaio_queue(const boost::asio::any_io_executor& executor,
                                             unsigned depth_max, std::string& error);

}  // namespace storage
