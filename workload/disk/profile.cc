#include "workload/disk/profile.h"

#include "storage/base/units.h"

namespace workload::disk {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

DiskProfile scsi_2003() {
  DiskProfile disk;
  disk.name = "scsi-2003";
  disk.size_bytes = 8 * storage::kGiB;
  disk.turnaround = milliseconds(1);
  disk.medium = RotatingMedium{};
  return disk;
}

DiskProfile sata_7200() {
  DiskProfile disk;
  disk.name = "sata-7200";
  disk.size_bytes = 80 * storage::kGiB;
  disk.queue_depth = 32;
  disk.command_overhead = microseconds(100);
  disk.interface_rate = 150'000'000;
  disk.write_cache_bytes = 8 * storage::kMiB;
  RotatingMedium medium;
  medium.rpm = 7200;
  medium.track_bytes = 500'000;
  medium.seek_settle = microseconds(800);
  medium.seek_stroke = microseconds(15'200);
  medium.read_ahead_bytes = 512 * storage::kKiB;
  disk.medium = medium;
  return disk;
}

DiskProfile sata_ssd() {
  DiskProfile disk;
  disk.name = "sata-ssd";
  disk.size_bytes = 80 * storage::kGiB;
  disk.queue_depth = 32;
  disk.command_overhead = microseconds(28);
  disk.interface_rate = 250'000'000;
  disk.write_cache_bytes = 16 * storage::kMiB;
  disk.sector_bytes = 4096;
  disk.medium = FlashMedium{};
  return disk;
}

bool within(uint64_t value, uint64_t low, uint64_t high) {
  return value >= low && value <= high;
}

bool within(std::chrono::nanoseconds value, std::chrono::nanoseconds high) {
  return value.count() >= 0 && value <= high;
}

std::string check_rotating(const RotatingMedium& medium) {
  if (!within(medium.rpm, 60, 100'000)) return "rotating.rpm: must lie from 60 to 100000";
  if (!within(medium.track_bytes, 512, 100'000'000)) {
    return "rotating.track: must lie from 512 bytes to 100000000";
  }
  if (!within(medium.tracks_per_cylinder, 1, 1024)) {
    return "rotating.tracks_per_cylinder: must lie from 1 to 1024";
  }
  if (!within(medium.seek_settle, milliseconds(1000))) {
    return "rotating.seek_settle: must be at most 1s";
  }
  if (!within(medium.seek_stroke, milliseconds(1000))) {
    return "rotating.seek_stroke: must be at most 1s";
  }
  if (medium.read_ahead_bytes > 64 * storage::kMiB) {
    return "rotating.read_ahead: must be at most 64M";
  }
  return {};
}

std::string check_flash(const FlashMedium& medium) {
  if (!within(medium.channels, 1, 1024)) return "flash.channels: must lie from 1 to 1024";
  if (!within(medium.page_bytes, 512, storage::kMiB) || medium.page_bytes % 512 != 0) {
    return "flash.page: must be a multiple of 512 bytes, at most 1M";
  }
  if (!within(medium.page_read, milliseconds(1000))) return "flash.page_read: must be at most 1s";
  if (!within(medium.page_program, milliseconds(1000))) {
    return "flash.page_program: must be at most 1s";
  }
  return {};
}

}  // namespace

std::string_view built_in_profile_names() {
  return "scsi-2003, sata-7200, sata-ssd";
}

std::optional<DiskProfile> built_in_profile(std::string_view name) {
  if (name == "scsi-2003") return scsi_2003();
  if (name == "sata-7200") return sata_7200();
  if (name == "sata-ssd") return sata_ssd();
  return std::nullopt;
}

std::string check_profile(const DiskProfile& profile) {
  if (!within(profile.size_bytes, kDiskSizeBytesMin, kDiskSizeBytesMax) ||
      profile.size_bytes % 4096 != 0) {
    return "size: must be a multiple of 4K, from 1M to 16384G";
  }
  if (!within(profile.queue_depth, 1, 1024)) return "queue_depth: must lie from 1 to 1024";
  if (!within(profile.starvation_limit, std::chrono::hours(1))) {
    return "starvation_limit: must be at most 1h";
  }
  if (!within(profile.command_overhead, milliseconds(1000))) {
    return "command_overhead: must be at most 1s";
  }
  if (!within(profile.turnaround, milliseconds(1000))) return "turnaround: must be at most 1s";
  if (!within(profile.interface_rate, 1000, 1'000'000'000'000)) {
    return "interface_rate: must lie from 1000 bytes a second to 1000000000000";
  }
  if (profile.write_cache_bytes > kWriteCacheBytesMax) return "write_cache: must be at most 1G";
  if (!within(profile.destage_delay, std::chrono::hours(1))) {
    return "destage_delay: must be at most 1h";
  }
  if (profile.sector_bytes != 512 && profile.sector_bytes != 4096) {
    return "sector: must be 512 or 4096 bytes";
  }
  if (const auto* medium = profile.rotating()) return check_rotating(*medium);
  return check_flash(*profile.flash());
}

}  // namespace workload::disk
