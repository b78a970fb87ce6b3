#include "workload/disk/command_queue.h"

#include <tuple>

namespace workload::disk {
namespace {

/// Orders by what C-LOOK takes first: what lies ahead, then what lies lowest.
std::tuple<bool, uint64_t> elevator_place(uint64_t offset_bytes, uint64_t head_bytes) {
  return {offset_bytes < head_bytes, offset_bytes};
}

}  // namespace

std::optional<CommandQueue::Choice> CommandQueue::choose(uint64_t head_bytes,
                                                         std::optional<uint64_t> destage_bytes,
                                                         bool destage_urgent, DiskTime now) const {
  if (const auto index = overdue(now)) return Choice{false, *index};
  bool reads_only = false;
  if (profile_.read_priority) {
    for (const Waiting& each : waiting_) {
      if (each.command.operation == Operation::kRead) reads_only = true;
    }
  }
  std::optional<Choice> best;
  const bool fifo = profile_.scheduling == Scheduling::kFifo;
  for (size_t index = 0; index < waiting_.size(); ++index) {
    const Command& command = waiting_[index].command;
    if (reads_only && command.operation != Operation::kRead) continue;
    if (!best ||
        (!fifo && elevator_place(command.offset_bytes, head_bytes) <
                      elevator_place(waiting_[best->index].command.offset_bytes, head_bytes))) {
      best = Choice{false, index};
    }
  }
  if (!destage_bytes || (reads_only && !destage_urgent)) return best;
  if (!best || (fifo && destage_urgent)) return Choice{true, 0};
  if (!fifo && elevator_place(*destage_bytes, head_bytes) <
                   elevator_place(waiting_[best->index].command.offset_bytes, head_bytes)) {
    return Choice{true, 0};
  }
  return best;
}

Command CommandQueue::take(size_t index) {
  const Command command = waiting_[index].command;
  waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(index));
  return command;
}

std::optional<size_t> CommandQueue::overdue(DiskTime now) const {
  if (profile_.starvation_limit.count() == 0) return std::nullopt;
  // The first of them is the oldest.
  if (waiting_.empty() || now - waiting_.front().since < profile_.starvation_limit) {
    return std::nullopt;
  }
  return 0;
}

}  // namespace workload::disk
