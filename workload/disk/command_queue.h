// The commands that wait in the drive for its arm, and which of them is next.
#pragma once

#include <optional>
#include <vector>

#include "workload/disk/command.h"

namespace workload::disk {

/// At most as many commands as the drive takes (`queue_depth`), so plain searches do. One thread.
class CommandQueue {
 public:
  /// What is next, of the commands and of the dirty extent that the write cache puts forward.
  struct Choice {
    bool destage = false;  ///< The extent rather than a command.
    size_t index = 0;      ///< For take().
  };

  explicit CommandQueue(const DiskProfile& profile) : profile_(profile) {}

  void push(const Command& command, DiskTime now) { waiting_.push_back({command, now}); }
  bool empty() const { return waiting_.empty(); }
  size_t size() const { return waiting_.size(); }
  void clear() { waiting_.clear(); }

  /// The next one for an arm at byte `head`; nothing where there is none at all. `destage_bytes` is
  /// where the cache's extent begins, if it puts one forward; `destage_urgent` says that it must
  /// not wait for reads to have an end.
  ///
  /// A command that waited for longer than `starvation_limit` goes first, the oldest of them; then,
  /// with `read_priority`, reads; then by offset from the head upwards, and from the lowest when
  /// there is none (C-LOOK), or by arrival (FIFO, where extents come last unless urgent).
  std::optional<Choice> choose(uint64_t head_bytes, std::optional<uint64_t> destage_bytes,
                               bool destage_urgent, DiskTime now) const;
  Command take(size_t index);

 private:
  struct Waiting {
    Command command;
    DiskTime since;
  };
  std::optional<size_t> overdue(DiskTime now) const;

  DiskProfile profile_;
  std::vector<Waiting> waiting_;  // in the order of arrival
};

}  // namespace workload::disk
