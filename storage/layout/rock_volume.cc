#include "storage/layout/rock_volume.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>
#include <vector>

#include "storage/layout/known_stores.h"

namespace storage {

namespace {

std::string errno_text(int system_errno) {
  return std::generic_category().message(system_errno);
}

}  // namespace

std::unique_ptr<RockVolume> RockVolume::open(const std::filesystem::path& path,
                                             const RockOptions& options, uint64_t new_id,
                                             Access access, std::string& error) {
  std::unique_ptr<RockVolume> volume(new RockVolume());
  volume->file_ = VolumeFile::open(path, kRockNameInFolder, access, error);
  if (volume->file_ == nullptr) return nullptr;
  if (volume->take_over(options, access, new_id, error)) return volume;
  volume->file_->remove_if_made();
  return nullptr;
}

bool RockVolume::take_over(const RockOptions& options, Access access, uint64_t new_id,
                           std::string& error) {
  const std::string& shown_path = file_->shown_path();
  std::vector<std::byte> front(kRockSlotsOffset);
  const int64_t got = file_->read_front(front);
  if (got < 0) {
    error = shown_path + ": cannot read it: " + errno_text(errno);
    return false;
  }
  front.resize(static_cast<size_t>(got));
  const auto page = std::span<const std::byte>(front).first(std::min(front.size(), kRockPageSize));
  const Result<RockGeometry> found = decode_rock_superblock(page);
  if (found) {
    geometry_ = *found;
    previous_slot_count_ = found->slot_count;
    if (access == Access::kInspect) return true;
    if (found->slot_size_bytes != options.slot_size_bytes) {
      error = shown_path +
              ": the store was made with slot-size=" + std::to_string(found->slot_size_bytes) +
              ": give that, or remove the store";
      return false;
    }
    geometry_.slot_count = options.slot_count;
    return file_->make_room(geometry_.file_size_bytes(), options.capacity_bytes, error);
  }
  const bool blank =
      std::ranges::all_of(front, [](std::byte value) { return value == std::byte{0}; });
  if (access == Access::kInspect || found.error().code == Errc::kCorrupt || !blank) {
    error = shown_path + ": holds something else than a rock store of this version" +
            (file_->device() ? ": clear its beginning first if it may be overwritten" : "");
    return false;
  }
  geometry_.store_id = new_id;
  geometry_.slot_size_bytes = options.slot_size_bytes;
  geometry_.slot_count = options.slot_count;
  if (!file_->make_room(geometry_.file_size_bytes(), options.capacity_bytes, error)) return false;
  if (write_superblock()) return true;
  error = shown_path + ": cannot write to it: " + errno_text(errno);
  return false;
}

bool RockVolume::write_superblock() {
  std::array<std::byte, kRockPageSize> page{};
  encode_rock_superblock(geometry_, page);
  return file_->write(0, page);
}

bool RockVolume::adopt_size() {
  if (previous_slot_count_ == geometry_.slot_count) return true;
  if (!write_superblock()) return false;
  previous_slot_count_ = geometry_.slot_count;
  return file_->shorten(geometry_.file_size_bytes());
}

}  // namespace storage
