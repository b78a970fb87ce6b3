// The helper process: what cacheoff-diskd runs.
#pragma once

namespace storage {

/// Serves requests until the store closes its end of the socket, removes the queues, or is killed.
/// `arguments` are the ids of the queues of requests and replies and of the segment, and the number
/// of its slots; descriptors are as helper_process.h says. Signals that are meant for the store
/// are ignored: the store ends its helper. Returns the exit status: 0 after an ordinary end, 1
/// where it could not begin, 2 for wrong arguments, 3 after a message that is no request.
int run_helper(int argument_count, const char* const* arguments);

}  // namespace storage
