#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "workload/origin/static/send_file.h"

namespace workload {

// Through memory: read, and offer what was read. What the socket does not take is read again.
ssize_t send_file_part(int socket, int file, uint64_t offset_bytes, size_t size_bytes) {
  std::array<char, 32768> piece;
  const ssize_t got = ::pread(file, piece.data(), std::min(size_bytes, piece.size()),
                              static_cast<off_t>(offset_bytes));
  if (got <= 0) return got;
  return ::send(socket, piece.data(), static_cast<size_t>(got), MSG_NOSIGNAL);
}

ssize_t send_buffers(int socket, std::span<iovec> buffers, bool) {
  msghdr message{};
  message.msg_iov = buffers.data();
  message.msg_iovlen = static_cast<decltype(message.msg_iovlen)>(buffers.size());
  ssize_t sent = -1;
  do {
    sent = ::sendmsg(socket, &message, MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  return sent;
}

}  // namespace workload
