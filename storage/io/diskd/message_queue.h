// System V message queues, as a store and its helper use them.
#pragma once

#include <cstddef>
#include <span>

namespace storage {

/// Longer messages are neither sent nor taken.
inline constexpr size_t kMessageSizeMax = 1024;

/// Puts a message into the queue without waiting; an errno or 0. EAGAIN: the queue is full.
int send_message(int queue_id, std::span<const std::byte> message);

/// The same, but waits for room.
int send_message_waiting(int queue_id, std::span<const std::byte> message);

/// What was taken from a queue.
struct ReceivedMessage {
  int system_errno = 0;  ///< ENOMSG: there is none. E2BIG: there is one that is too long.
  size_t size_bytes = 0;
};

/// Takes the oldest message without waiting. `buffer` has kMessageSizeMax bytes.
ReceivedMessage receive_message(int queue_id, std::span<std::byte, kMessageSizeMax> buffer);

/// The same, but waits for one. EIDRM: the queue has been removed.
ReceivedMessage receive_message_waiting(int queue_id, std::span<std::byte, kMessageSizeMax> buffer);

}  // namespace storage
