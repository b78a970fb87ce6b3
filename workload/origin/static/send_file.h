// Sending a part of a file to a socket.
#pragma once

#include <sys/types.h>
#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace workload {

/// Sends up to `size_bytes` of a file from `offset_bytes` on to a socket, which may be
/// non-blocking. Returns how many it took, 0 where the file ends at or before the offset, or -1
/// with the errno. The calling thread must have SIGPIPE blocked or ignored. Any thread.
ssize_t send_file_part(int socket, int file, uint64_t offset_bytes, size_t size_bytes);

/// Sends what the buffers hold, as far as the socket takes it; `more_follows` lets the kernel keep
/// a segment open for what comes next. Returns as sendmsg() does. Any thread.
ssize_t send_buffers(int socket, std::span<iovec> buffers, bool more_follows);

}  // namespace workload
