// What a modelled disk is like: its figures, and the three disks that are built in.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace workload::disk {

/// Time of a disk since it was switched on. It runs at the experiment's time scale.
using DiskTime = std::chrono::nanoseconds;

/// One arm over turning platters.
struct RotatingMedium {
  uint64_t rpm = 10'000;
  /// The same on every track, and skewed so that a transfer flows over the end of one: the rate of
  /// the medium is `track_bytes * rpm / 60`.
  uint64_t track_bytes = 180'000;
  uint64_t tracks_per_cylinder = 4;
  /// A seek over the share `d` of the disk takes `seek_settle + seek_stroke * sqrt(d)`, none within
  /// a cylinder.
  std::chrono::nanoseconds seek_settle{600'000};
  std::chrono::nanoseconds seek_stroke{8'500'000};
  /// How far the disk reads on behind a read while nothing else wants the arm; 0 is not at all.
  uint64_t read_ahead_bytes = 64 * 1024;

  friend bool operator==(const RotatingMedium&, const RotatingMedium&) = default;
};

/// Flash behind parallel channels; page `n` lies on channel `n % channels`.
struct FlashMedium {
  uint64_t channels = 10;
  uint64_t page_bytes = 4096;
  /// One page, its transfer over the channel and the share of erasing included.
  std::chrono::nanoseconds page_read{41'000};
  std::chrono::nanoseconds page_program{585'000};

  friend bool operator==(const FlashMedium&, const FlashMedium&) = default;
};

/// In which order the drive takes the commands that it has.
enum class Scheduling {
  kElevator,  ///< Upwards from where the arm is, then from the lowest (C-LOOK).
  kFifo,      ///< As they came.
};

/// What a power cut leaves of the writes that were not flushed.
enum class CutManner {
  kDrop,     ///< None of them.
  kTear,     ///< The oldest ones, up to any one that is torn at a sector.
  kReorder,  ///< Any of them, whatever came first, one of them torn at a sector.
};

/// A disk.
struct DiskProfile {
  std::string name;
  uint64_t size_bytes = 0;
  /// Commands that the drive has at a time; others wait their turn in the host.
  uint64_t queue_depth = 64;
  Scheduling scheduling = Scheduling::kElevator;
  /// Reads go before writes of any kind, but for those that are overdue.
  bool read_priority = false;
  /// A command that waits for so long goes first; 0 is never.
  std::chrono::nanoseconds starvation_limit{0};
  /// For which the controller is busy with each command, one at a time.
  std::chrono::nanoseconds command_overhead{200'000};
  /// Added for a command that finds the drive with no other: bus, interrupt and host have to turn
  /// round, which else happens while the drive works.
  std::chrono::nanoseconds turnaround{0};
  /// Of the bus between host and drive, in bytes a second.
  uint64_t interface_rate = 160'000'000;
  /// 0 is no write cache: a write is done when it is on the medium.
  uint64_t write_cache_bytes = 0;
  /// For so long the oldest written data may stay in the cache; a flush, and a cache that is three
  /// quarters full, are not waited with.
  std::chrono::nanoseconds destage_delay{0};
  CutManner power_cut = CutManner::kReorder;
  /// Smallest part of a write that a power cut leaves whole, 512 or 4096.
  uint64_t sector_bytes = 512;
  std::variant<RotatingMedium, FlashMedium> medium;

  const RotatingMedium* rotating() const { return std::get_if<RotatingMedium>(&medium); }
  const FlashMedium* flash() const { return std::get_if<FlashMedium>(&medium); }
  friend bool operator==(const DiskProfile&, const DiskProfile&) = default;
};

/// Limits of what a profile may say; a profile file and the command line are held to them.
inline constexpr uint64_t kDiskSizeBytesMin = uint64_t{1} << 20;
inline constexpr uint64_t kDiskSizeBytesMax = uint64_t{1} << 44;
inline constexpr uint64_t kWriteCacheBytesMax = uint64_t{1} << 30;

/// Names of the built-in profiles, for messages.
std::string_view built_in_profile_names();

/// One of `scsi-2003`, `sata-7200`, `sata-ssd`; nothing for another name. Where the figures come
/// from: docs/modelled-disk.md.
std::optional<DiskProfile> built_in_profile(std::string_view name);

/// What is wrong with the profile, as `KEY: what would be right`; empty where nothing is.
std::string check_profile(const DiskProfile& profile);

}  // namespace workload::disk
