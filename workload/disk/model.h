// A disk as a simulation: commands go in at their time, and what comes of them comes out at its.
#pragma once

#include <deque>
#include <optional>
#include <queue>
#include <unordered_map>
#include <vector>

#include "workload/disk/arm.h"
#include "workload/disk/command.h"
#include "workload/disk/command_queue.h"
#include "workload/disk/counters.h"
#include "workload/disk/flash_channels.h"
#include "workload/disk/read_buffer.h"
#include "workload/disk/write_cache.h"

namespace workload::disk {

/// Moves no data and knows no clock: the caller tells the time, which never goes back. Nothing in
/// it is random, so that the same commands at the same times end at the same times. One thread.
///
/// The way of a command (docs/modelled-disk.md has the formulas):
///   host       waits until fewer than `queue_depth` are in the drive
///   controller `command_overhead`, one command at a time; `turnaround` more where the drive had
///   none read       from write cache or read buffer: the bus, at `interface_rate`, one at a time;
///              from a turning disk: the queue, then the arm (the bus keeps pace with it);
///              from flash: the channels, then the bus
///   write      with a write cache: room in it, the bus, and it is done; the cache writes to the
///              medium later, in the order of the same queue;
///              without one: the queue and the arm, or the bus and the channels
///   flush      until all that the cache had is on the medium
class DiskModel {
 public:
  /// The profile must pass check_profile(); `size_bytes` is that of the image, over which seeks are
  /// measured.
  DiskModel(const DiskProfile& profile, uint64_t size_bytes);
  DiskModel(const DiskModel&) = delete;
  DiskModel& operator=(const DiskModel&) = delete;

  /// A command arrives. Does what advance(now) does first.
  void submit(const Command& command, DiskTime now);
  /// When advance() will next have something to do, if no command arrives; nothing where never.
  std::optional<DiskTime> next_event() const;
  /// Lets everything happen that happens up to `now`.
  void advance(DiskTime now);
  /// What came about since the last call, in the order of time.
  std::vector<Outcome> take_outcomes();

  /// Ends everything that is under way, and puts the cache on the medium, at once.
  void finish_all(DiskTime now);
  /// The power is gone: nothing is under way and the cache is empty. Takes what came about before.
  void lose_power(DiskTime now);

  const DiskCounters& counters() const { return counters_; }

 private:
  enum class EventKind { kReady, kOverBus, kMediumDone, kDestaged, kWake };
  struct Event {
    DiskTime at{0};
    uint64_t order = 0;  // of two at the same time the earlier made comes first
    EventKind kind = EventKind::kWake;
    uint64_t id = 0;  // of a command or a destage
    bool operator>(const Event& other) const {
      return at != other.at ? at > other.at : order > other.order;
    }
  };
  struct InDrive {
    Command command;
    bool cached = false;  // a write that the cache takes
  };
  struct Destage {
    Extent extent;
    uint64_t generation = 0;
  };
  struct Flush {
    uint64_t id = 0;
    uint64_t generation = 0;  // done when nothing of it, or older, is dirty
  };

  void schedule(DiskTime at, EventKind kind, uint64_t id);
  void handle(const Event& event);
  void note_time(DiskTime now);
  bool busy() const { return !in_drive_.empty() || !destages_.empty(); }

  void accept(const Command& command, DiskTime now);
  void ready(InDrive& entry, DiskTime now);
  void read_ready(const Command& command, DiskTime now);
  void over_bus(const InDrive& entry, DiskTime now);
  void medium_done(const Command& command, DiskTime now);
  void destaged(uint64_t id, DiskTime now);
  void complete(uint64_t id, DiskTime now);
  void on_medium(const Extent& extent, DiskTime now);
  void send_over_bus(const Command& command, DiskTime now);

  // Whatever can begin now.
  void work(DiskTime now);
  void admit_cached_writes(DiskTime now);
  void end_flushes(DiskTime now);
  void start_arm(DiskTime now);
  void start_destage_by_arm(const Extent& extent, DiskTime now);
  void start_command_by_arm(const Command& command, DiskTime now);
  DiskTime move_arm(uint64_t offset_bytes, uint64_t length_bytes, DiskTime now);
  void start_programs(DiskTime now);
  bool destage_urgent() const;
  bool destage_due(DiskTime now);
  Destage& begin_destage(const Extent& extent, uint64_t length_max, uint64_t& id);

  DiskProfile profile_;
  uint64_t size_bytes_;
  DiskTime now_{0};
  DiskCounters counters_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  uint64_t events_made_ = 0;
  std::vector<Outcome> outcomes_;

  std::deque<Command> in_host_;
  std::unordered_map<uint64_t, InDrive> in_drive_;
  DiskTime controller_free_{0};
  DiskTime bus_free_{0};

  CommandQueue queue_;
  std::optional<Arm> arm_;  // of a turning disk, as the read buffer
  std::optional<ReadBuffer> read_buffer_;
  bool arm_busy_ = false;
  std::optional<FlashChannels> channels_;

  WriteCache cache_;
  uint64_t reserved_bytes_ = 0;     // of writes that are on their way over the bus
  std::deque<uint64_t> want_room_;  // writes that wait for room in the cache
  std::unordered_map<uint64_t, Destage> destages_;
  uint64_t destages_made_ = 0;
  uint64_t destaging_bytes_ = 0;
  uint64_t destage_from_ = 0;  // where flash goes on
  bool destaging_ = false;     // until the cache is clean
  DiskTime dirty_since_{0};
  DiskTime wake_at_{0};  // the last one that was scheduled
  std::deque<Flush> flushes_;
  uint64_t generation_ = 0;
};

}  // namespace workload::disk
