// What a disk begins whenever something has ended: its arm, its channels, its cache.
#include <algorithm>

#include "workload/disk/model.h"

namespace workload::disk {
namespace {

/// The cache writes so much at a time, so that reads are not kept waiting for long.
constexpr uint64_t kDestageBytesMax = 256 * 1024;

}  // namespace

void DiskModel::work(DiskTime now) {
  admit_cached_writes(now);
  if (arm_ && !arm_busy_) start_arm(now);
  if (channels_) start_programs(now);
  end_flushes(now);
}

void DiskModel::admit_cached_writes(DiskTime now) {
  while (!want_room_.empty()) {
    const Command& command = in_drive_.at(want_room_.front()).command;
    const uint64_t taken = cache_.dirty_bytes() + destaging_bytes_ + reserved_bytes_;
    if (taken + command.length_bytes > profile_.write_cache_bytes) return;
    reserved_bytes_ += command.length_bytes;
    want_room_.pop_front();
    send_over_bus(command, now);
  }
}

void DiskModel::end_flushes(DiskTime now) {
  while (!flushes_.empty()) {
    const Flush flush = flushes_.front();
    const auto oldest = cache_.oldest_generation();
    bool done = !oldest || *oldest > flush.generation;
    for (const auto& [id, destage] : destages_) {
      done = done && destage.generation > flush.generation;
    }
    if (!done) return;
    flushes_.pop_front();
    complete(flush.id, now);
  }
}

bool DiskModel::destage_urgent() const {
  return !flushes_.empty() || !want_room_.empty() ||
         cache_.dirty_bytes() > profile_.write_cache_bytes / 4 * 3;
}

bool DiskModel::destage_due(DiskTime now) {
  if (cache_.clean()) {
    destaging_ = false;
    return false;
  }
  if (destage_urgent() || now - dirty_since_ >= profile_.destage_delay) destaging_ = true;
  if (!destaging_ && wake_at_ < dirty_since_ + profile_.destage_delay) {
    wake_at_ = dirty_since_ + profile_.destage_delay;
    schedule(wake_at_, EventKind::kWake, 0);
  }
  return destaging_;
}

DiskModel::Destage& DiskModel::begin_destage(const Extent& extent, uint64_t length_max,
                                             uint64_t& id) {
  id = destages_made_++;
  Destage destage;
  destage.extent = cache_.take(extent.offset_bytes, length_max, destage.generation);
  destaging_bytes_ += destage.extent.length_bytes;
  ++counters_.destages;
  counters_.destaged_bytes += destage.extent.length_bytes;
  return destages_.emplace(id, destage).first->second;
}

void DiskModel::start_arm(DiskTime now) {
  const uint64_t head = read_buffer_->reading_on() ? read_buffer_->end(now) : arm_->head();
  std::optional<Extent> extent;
  if (destage_due(now)) extent = cache_.next(head);
  const auto choice = queue_.choose(
      head, extent ? std::optional(extent->offset_bytes) : std::nullopt, destage_urgent(), now);
  if (!choice) return;
  arm_busy_ = true;
  if (choice->destage) {
    start_destage_by_arm(*extent, now);
  } else {
    start_command_by_arm(queue_.take(choice->index), now);
  }
}

void DiskModel::start_destage_by_arm(const Extent& extent, DiskTime now) {
  uint64_t id = 0;
  const Extent part = begin_destage(extent, kDestageBytesMax, id).extent;
  schedule(move_arm(part.offset_bytes, part.length_bytes, now), EventKind::kDestaged, id);
}

void DiskModel::start_command_by_arm(const Command& command, DiskTime now) {
  DiskTime end{0};
  if (command.operation != Operation::kRead) {
    end = move_arm(command.offset_bytes, command.length_bytes, now);
  } else if (const auto passed =
                 read_buffer_->follow(command.offset_bytes, command.end_bytes(), now)) {
    ++counters_.read_buffer_hits;
    counters_.transfer_time += *passed - now;
    end = *passed;
  } else {
    end = move_arm(command.offset_bytes, command.length_bytes, now);
    read_buffer_->begin(command.offset_bytes, command.end_bytes(), end);
  }
  schedule(end, EventKind::kMediumDone, command.id);
}

DiskTime DiskModel::move_arm(uint64_t offset_bytes, uint64_t length_bytes, DiskTime now) {
  if (read_buffer_->reading_on()) {
    arm_->set_head(read_buffer_->end(now));
    read_buffer_->leave(now);
  }
  const Movement movement = arm_->movement(offset_bytes, length_bytes, now);
  arm_->set_head(offset_bytes + length_bytes);
  if (movement.seek.count() > 0) ++counters_.seeks;
  counters_.seek_time += movement.seek;
  counters_.rotation_time += movement.rotation;
  counters_.transfer_time += movement.transfer;
  return now + movement.total();
}

void DiskModel::start_programs(DiskTime now) {
  const FlashMedium& flash = *profile_.flash();
  // Enough that no channel runs dry, few enough that reads do not queue up behind them.
  while (destages_.size() < 2 * flash.channels && destage_due(now)) {
    const Extent extent = *cache_.next(destage_from_);
    const uint64_t to_page_end = flash.page_bytes - extent.offset_bytes % flash.page_bytes;
    uint64_t id = 0;
    const Extent part = begin_destage(extent, to_page_end, id).extent;
    destage_from_ = part.end_bytes();
    ++counters_.page_programs;
    schedule(channels_->program(part.offset_bytes, part.length_bytes, now), EventKind::kDestaged,
             id);
  }
}

}  // namespace workload::disk
