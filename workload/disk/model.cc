#include "workload/disk/model.h"

#include <algorithm>

namespace workload::disk {

DiskModel::DiskModel(const DiskProfile& profile, uint64_t size_bytes)
    : profile_(profile), size_bytes_(size_bytes), queue_(profile) {
  if (const auto* rotating = profile.rotating()) {
    arm_.emplace(*rotating, size_bytes);
    read_buffer_.emplace(*arm_, rotating->read_ahead_bytes, size_bytes);
  } else {
    channels_.emplace(*profile.flash());
  }
}

void DiskModel::submit(const Command& command, DiskTime now) {
  advance(now);
  switch (command.operation) {
    case Operation::kRead:
      ++counters_.reads;
      counters_.read_bytes += command.length_bytes;
      break;
    case Operation::kWrite:
      ++counters_.writes;
      counters_.written_bytes += command.length_bytes;
      break;
    case Operation::kFlush:
      ++counters_.flushes;
      break;
  }
  if (in_drive_.size() < profile_.queue_depth) {
    accept(command, now_);
  } else {
    in_host_.push_back(command);
  }
  counters_.commands_max =
      std::max<uint64_t>(counters_.commands_max, in_drive_.size() + in_host_.size());
}

std::optional<DiskTime> DiskModel::next_event() const {
  if (events_.empty()) return std::nullopt;
  return events_.top().at;
}

void DiskModel::advance(DiskTime now) {
  while (!events_.empty() && events_.top().at <= now) {
    const Event event = events_.top();
    events_.pop();
    note_time(event.at);
    handle(event);
    work(event.at);
  }
  note_time(now);
}

std::vector<Outcome> DiskModel::take_outcomes() {
  return std::exchange(outcomes_, {});
}

void DiskModel::finish_all(DiskTime now) {
  advance(now);
  while (!cache_.clean()) {
    uint64_t generation = 0;
    on_medium(cache_.take(cache_.next(0)->offset_bytes, UINT64_MAX, generation), now_);
  }
  for (const auto& [id, destage] : destages_) on_medium(destage.extent, now_);
  std::vector<Command> commands;
  for (const auto& [id, entry] : in_drive_) commands.push_back(entry.command);
  commands.insert(commands.end(), in_host_.begin(), in_host_.end());
  for (const Command& command : commands) {
    if (command.operation == Operation::kWrite) {
      on_medium({command.offset_bytes, command.length_bytes}, now_);
    }
    outcomes_.push_back({Outcome::Kind::kCompleted, now_, command.id, 0, 0});
  }
  lose_power(now_);
}

void DiskModel::lose_power(DiskTime now) {
  advance(now);
  events_ = {};
  in_host_.clear();
  in_drive_.clear();
  queue_.clear();
  cache_.clear();
  want_room_.clear();
  destages_.clear();
  flushes_.clear();
  reserved_bytes_ = destaging_bytes_ = 0;
  arm_busy_ = destaging_ = false;
  controller_free_ = bus_free_ = now_;
  if (read_buffer_) read_buffer_->clear();
  if (channels_) channels_->clear();
}

void DiskModel::schedule(DiskTime at, EventKind kind, uint64_t id) {
  events_.push({at, events_made_++, kind, id});
}

void DiskModel::handle(const Event& event) {
  if (event.kind == EventKind::kWake) return;  // work() follows
  if (event.kind == EventKind::kDestaged) return destaged(event.id, event.at);
  InDrive& entry = in_drive_.at(event.id);
  if (event.kind == EventKind::kReady) return ready(entry, event.at);
  if (event.kind == EventKind::kOverBus) return over_bus(entry, event.at);
  medium_done(entry.command, event.at);
}

void DiskModel::note_time(DiskTime now) {
  const DiskTime passed = now - now_;
  if (passed.count() <= 0) return;
  now_ = now;
  counters_.elapsed = now;
  counters_.commands_time += passed * static_cast<int64_t>(in_drive_.size() + in_host_.size());
  if (busy()) counters_.busy_time += passed;
}

void DiskModel::accept(const Command& command, DiskTime now) {
  DiskTime ready = std::max(now, controller_free_) + profile_.command_overhead;
  if (in_drive_.empty()) ready += profile_.turnaround;
  controller_free_ = ready;
  in_drive_.emplace(command.id, InDrive{command});
  schedule(ready, EventKind::kReady, command.id);
}

void DiskModel::ready(InDrive& entry, DiskTime now) {
  const Command& command = entry.command;
  if (command.operation == Operation::kFlush) {
    flushes_.push_back({command.id, generation_++});
    return;
  }
  if (command.operation == Operation::kRead) return read_ready(command, now);
  if (read_buffer_) read_buffer_->forget(command.offset_bytes, command.end_bytes(), now);
  // A write that the cache could never hold goes past it.
  entry.cached = command.length_bytes <= profile_.write_cache_bytes;
  if (entry.cached) {
    want_room_.push_back(command.id);
  } else if (arm_) {
    queue_.push(command, now);
  } else {
    send_over_bus(command, now);
  }
}

void DiskModel::read_ready(const Command& command, DiskTime now) {
  if (cache_.covers(command.offset_bytes, command.end_bytes())) {
    ++counters_.write_cache_hits;
    return send_over_bus(command, now);
  }
  if (channels_) {
    counters_.page_reads += channels_->pages(command.offset_bytes, command.length_bytes);
    const DiskTime end = channels_->read(command.offset_bytes, command.length_bytes, now);
    return schedule(end, EventKind::kMediumDone, command.id);
  }
  if (read_buffer_->holds(command.offset_bytes, command.end_bytes(), now)) {
    ++counters_.read_buffer_hits;
    // The arm, if it is still there, goes on to as far behind this read.
    read_buffer_->follow(command.offset_bytes, command.end_bytes(), now);
    return send_over_bus(command, now);
  }
  queue_.push(command, now);
}

void DiskModel::over_bus(const InDrive& entry, DiskTime now) {
  const Command command = entry.command;
  const Extent extent{command.offset_bytes, command.length_bytes};
  if (command.operation == Operation::kRead) return complete(command.id, now);
  if (!entry.cached) {
    counters_.page_programs += channels_->pages(command.offset_bytes, command.length_bytes);
    const DiskTime end = channels_->program(command.offset_bytes, command.length_bytes, now);
    return schedule(end, EventKind::kMediumDone, command.id);
  }
  ++counters_.cached_writes;
  reserved_bytes_ -= command.length_bytes;
  if (cache_.clean()) dirty_since_ = now;
  cache_.insert(extent, generation_);
  complete(command.id, now);
}

void DiskModel::medium_done(const Command& command_in, DiskTime now) {
  const Command command = command_in;  // complete() ends the one that is stored
  if (arm_) {
    arm_busy_ = false;
  } else if (command.operation == Operation::kRead) {
    return send_over_bus(command, now);
  }
  if (command.operation == Operation::kWrite) {
    on_medium({command.offset_bytes, command.length_bytes}, now);
  }
  complete(command.id, now);
}

void DiskModel::destaged(uint64_t id, DiskTime now) {
  const auto found = destages_.find(id);
  on_medium(found->second.extent, now);
  destaging_bytes_ -= found->second.extent.length_bytes;
  destages_.erase(found);
  if (arm_) arm_busy_ = false;
}

void DiskModel::complete(uint64_t id, DiskTime now) {
  outcomes_.push_back({Outcome::Kind::kCompleted, now, id, 0, 0});
  in_drive_.erase(id);
  if (in_host_.empty()) return;
  const Command next = in_host_.front();
  in_host_.pop_front();
  accept(next, now);
}

void DiskModel::on_medium(const Extent& extent, DiskTime now) {
  outcomes_.push_back({Outcome::Kind::kOnMedium, now, 0, extent.offset_bytes, extent.length_bytes});
}

void DiskModel::send_over_bus(const Command& command, DiskTime now) {
  const double seconds =
      static_cast<double>(command.length_bytes) / static_cast<double>(profile_.interface_rate);
  bus_free_ = std::max(now, bus_free_) + DiskTime(static_cast<int64_t>(seconds * 1e9));
  schedule(bus_free_, EventKind::kOverBus, command.id);
}

}  // namespace workload::disk
