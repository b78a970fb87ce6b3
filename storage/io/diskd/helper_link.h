// One store's connection to its helpers, one after the other: the process, its queues, its memory.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "storage/io/diskd/helper_process.h"
#include "storage/io/diskd/helper_queue.h"
#include "storage/io/diskd/helper_state.h"
#include "storage/io/diskd/ipc_objects.h"
#include "storage/io/diskd/wire.h"

namespace storage {

/// Every helper gets queues and memory of its own, so that nothing of an earlier one can come into
/// the hands of a later one. One thread.
class HelperLink {
 public:
  /// Opens the state file in `root_fd` and removes what a killed store has left. Null with one line
  /// in `error` where that fails. Blocks for at most the options' `timeout`.
  static std::unique_ptr<HelperLink> open(const HelperOptions& options, int root_fd,
                                          std::string& error);
  ~HelperLink() { end(std::chrono::milliseconds(0)); }
  HelperLink(const HelperLink&) = delete;
  HelperLink& operator=(const HelperLink&) = delete;

  const std::string& program() const { return program_; }
  /// For people: the program and, where there is a helper, its process number.
  std::string helper_text() const;
  unsigned leftovers() const { return state_->leftovers(); }

  /// Starts a helper; there must be none. False with one line in `error` where it cannot be.
  bool start(Random& random, std::string& error);
  /// The store's end of the socket; the caller closes it, which asks the helper to end.
  int take_socket() { return process_->socket().release(); }
  /// A descriptor of the caller's that is readable once the helper has ended.
  int duplicate_end_fd() const;
  void kill() {
    if (process_ != nullptr) process_->kill();
  }
  /// Waits for the helper's end, kills it after `wait_max`, and removes queues and memory.
  void end(std::chrono::milliseconds wait_max);

  /// An errno or 0; EAGAIN: there is no room.
  int send(const HelperRequest& request);
  /// An errno or 0; ENOMSG: there is no reply. EPROTO: what came is none.
  int receive(HelperReply& reply);

  bool slots_free() const { return !free_slots_.empty(); }
  uint32_t take_slot();
  void give_back_slot(uint32_t slot) { free_slots_.push_back(slot); }
  std::span<std::byte> slot(uint32_t slot) const {
    return objects_->memory().subspan(slot * kHelperSlotSizeBytes, kHelperSlotSizeBytes);
  }
  unsigned slot_count() const { return slot_count_; }
  size_t slots_used_max() const { return slots_used_max_; }

 private:
  HelperLink(const HelperOptions& options, OwnedFd folder);

  const std::string program_;
  const unsigned slot_count_;
  const unsigned messages_max_;
  const OwnedFd folder_;
  std::unique_ptr<HelperState> state_;
  std::unique_ptr<IpcObjects> objects_;
  std::unique_ptr<HelperProcess> process_;  // before the objects go
  std::vector<uint32_t> free_slots_;
  size_t slots_used_max_ = 0;
};

}  // namespace storage
