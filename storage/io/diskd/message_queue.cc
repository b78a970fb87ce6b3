#include "storage/io/diskd/message_queue.h"

#include <sys/ipc.h>
#include <sys/msg.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace storage {

namespace {

struct Message {
  long type = 1;  // the kernel wants one above 0
  std::array<std::byte, kMessageSizeMax> bytes{};
};

int send(int queue_id, std::span<const std::byte> message, int flags) {
  if (message.size() > kMessageSizeMax) return EMSGSIZE;
  Message sent;
  std::ranges::copy(message, sent.bytes.begin());
  while (::msgsnd(queue_id, &sent, message.size(), flags) != 0) {
    if (errno != EINTR) return errno;
  }
  return 0;
}

ReceivedMessage receive(int queue_id, std::span<std::byte, kMessageSizeMax> buffer, int flags) {
  Message taken;
  ReceivedMessage received;
  ssize_t size = ::msgrcv(queue_id, &taken, kMessageSizeMax, 0, flags);
  while (size < 0 && errno == EINTR) {
    size = ::msgrcv(queue_id, &taken, kMessageSizeMax, 0, flags);
  }
  if (size < 0) {
    received.system_errno = errno;
    return received;
  }
  received.size_bytes = static_cast<size_t>(size);
  std::ranges::copy(std::span(taken.bytes).first(received.size_bytes), buffer.begin());
  return received;
}

}  // namespace

int send_message(int queue_id, std::span<const std::byte> message) {
  return send(queue_id, message, IPC_NOWAIT);
}

int send_message_waiting(int queue_id, std::span<const std::byte> message) {
  return send(queue_id, message, 0);
}

ReceivedMessage receive_message(int queue_id, std::span<std::byte, kMessageSizeMax> buffer) {
  return receive(queue_id, buffer, IPC_NOWAIT);
}

ReceivedMessage receive_message_waiting(int queue_id,
                                        std::span<std::byte, kMessageSizeMax> buffer) {
  return receive(queue_id, buffer, 0);
}

}  // namespace storage
