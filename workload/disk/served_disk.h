// A modelled disk with its data: requests go in from any thread, and are answered in their time.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <unordered_map>
#include <vector>

#include "storage/base/clock.h"
#include "workload/disk/image.h"
#include "workload/disk/model.h"
#include "workload/disk/pending_data.h"
#include "workload/disk/timeline.h"

namespace workload::disk {

struct ServedDiskSettings {
  DiskProfile profile;      ///< Must pass check_profile().
  uint64_t size_bytes = 0;  ///< Of the image.
  double time_scale = 1;    ///< The disk is so many times as fast.
  uint64_t seed = 1;        ///< For what is left by power cuts, and for when they come.
  bool fast = false;        ///< Begins with the delays off.
};

/// What a power cut did.
struct CutReport {
  uint64_t number = 0;  ///< Counted from 1.
  CutManner manner = CutManner::kDrop;
  uint64_t unflushed_writes = 0;  ///< Pieces of writes that were not on the medium.
  uint64_t unflushed_bytes = 0;
  uint64_t surviving_bytes = 0;  ///< Of them those that got there all the same.
};

/// How a disk is at a moment.
struct DiskStatus {
  bool fast = false;
  bool powered = true;
  DiskCounters counters;
  uint64_t fast_operations = 0;  ///< That took no modelled time; not in `counters`.
  uint64_t image_errors = 0;
  uint64_t pending_bytes = 0;  ///< Written and not on the medium.
  uint64_t answers = 0;
  /// By how much answers were later than the model has it, in the machine's time.
  double late_mean_us = 0;
  double late_max_us = 0;
  bool realtime = false;  ///< The thread that answers has a real-time priority.
  std::optional<CutReport> last_cut;
};

/// Safe from any thread. A thread of its own sleeps until the next thing is due and calls back from
/// there; with the delays off, and when the power is gone, calls back from the caller's.
///
/// Memory: the write cache, and the data of requests that are under way; whoever sends them bounds
/// these.
class ServedDisk {
 public:
  /// `error` is 0 or an errno (EIO without power).
  using Done = std::function<void(int error)>;
  using ReadDone = std::function<void(int error, std::span<const std::byte> bytes)>;

  /// `image` must outlive the disk.
  ServedDisk(const ServedDiskSettings& settings, Image& image);
  /// As stop().
  ~ServedDisk();
  ServedDisk(const ServedDisk&) = delete;
  ServedDisk& operator=(const ServedDisk&) = delete;

  /// Offsets and lengths lie within the disk; the caller sees to that.
  void read(uint64_t offset_bytes, size_t length_bytes, ReadDone done);
  void write(uint64_t offset_bytes, std::vector<std::byte> bytes, Done done);
  void flush(Done done);

  /// With the delays off every request is answered at once and is durable; what is under way ends
  /// now.
  void set_fast(bool fast);
  /// Cuts the power now. Everything under way ends with EIO, and so does everything that comes
  /// until power_on(). Without a manner it is the profile's.
  CutReport cut_power(std::optional<CutManner> manner);
  /// Cuts it when the `writes`-th write from now on has come (at least 1), before it is done.
  void cut_power_after_writes(uint64_t writes, std::optional<CutManner> manner);
  /// Cuts it at a moment of the next `within` of the machine's time, as the seed has it. Returns
  /// how long that is from now.
  storage::Nanoseconds cut_power_within(storage::Nanoseconds within,
                                        std::optional<CutManner> manner);
  void power_on();
  /// Counters and times are those of this moment.
  DiskStatus status();

  /// As an orderly power-off: everything under way ends, and the cache goes to the medium. No call
  /// may follow.
  void stop();

 private:
  struct UnderWay {
    Done done;
    ReadDone read_done;
    std::vector<std::byte> bytes;  // of a read
    bool failed = false;           // the image was at fault
  };
  /// An answer that is due, given when no lock is held.
  using Answers = std::vector<std::function<void()>>;

  DiskTime disk_now() const { return timeline_.disk_time(clock_.steady_now()); }
  void submit(Command command, DiskTime arrival, UnderWay request, std::vector<std::byte> written);
  static void end(UnderWay& request, int error, Answers& answers);
  void answer_outcomes(Answers& answers);
  void put_on_image(const std::vector<DataPiece>& pieces);
  /// What came about up to `at` did so before the cut.
  CutReport cut(CutManner manner, DiskTime at, Answers& answers);
  static void give(Answers& answers);
  void run_timer();
  std::optional<storage::SteadyTime> next_due() const;

  const ServedDiskSettings settings_;
  Image& image_;
  storage::SystemClock clock_;
  const Timeline timeline_;

  std::mutex mutex_;  // all that follows
  std::condition_variable changed_;
  DiskModel model_;
  PendingData pending_;
  std::unordered_map<uint64_t, UnderWay> under_way_;
  uint64_t requests_ = 0;
  bool fast_;
  bool powered_ = true;
  bool ending_ = false;
  bool image_failed_ = false;  // and nobody was told yet
  DiskStatus status_;
  double late_sum_us_ = 0;
  uint64_t cuts_ = 0;
  uint64_t cut_after_writes_ = 0;  // 0 is never
  std::optional<storage::SteadyTime> cut_at_;
  CutManner cut_manner_;
  std::thread timer_;
};

}  // namespace workload::disk
