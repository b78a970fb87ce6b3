#include <sys/sendfile.h>
#include <sys/socket.h>

#include <cerrno>

#include "workload/origin/static/send_file.h"

namespace workload {

ssize_t send_file_part(int socket, int file, uint64_t offset_bytes, size_t size_bytes) {
  auto offset = static_cast<off_t>(offset_bytes);
  ssize_t sent = -1;
  do {
    sent = ::sendfile(socket, file, &offset, size_bytes);
  } while (sent < 0 && errno == EINTR);
  return sent;
}

ssize_t send_buffers(int socket, std::span<iovec> buffers, bool more_follows) {
  msghdr message{};
  message.msg_iov = buffers.data();
  message.msg_iovlen = buffers.size();
  ssize_t sent = -1;
  do {
    sent = ::sendmsg(socket, &message, MSG_NOSIGNAL | (more_follows ? MSG_MORE : 0));
  } while (sent < 0 && errno == EINTR);
  return sent;
}

}  // namespace workload
