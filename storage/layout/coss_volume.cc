#include "storage/layout/coss_volume.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>
#include <vector>

#include "storage/layout/known_stores.h"
#include "storage/layout/rounding.h"

namespace storage {

namespace {

// Has to be blank before a store is made: every filesystem and partition table marks it.
constexpr size_t kFrontSize = 1024 * 1024;

std::string errno_text(int system_errno) {
  return std::generic_category().message(system_errno);
}

}  // namespace

std::unique_ptr<CossVolume> CossVolume::open(const std::filesystem::path& path,
                                             const CossOptions& options, uint64_t new_id,
                                             Access access, std::string& error) {
  std::unique_ptr<CossVolume> volume(new CossVolume());
  volume->capacity_bytes_ = options.capacity_bytes;
  volume->file_ = VolumeFile::open(path, kCossNameInFolder, access, error);
  if (volume->file_ == nullptr) return nullptr;
  if (volume->take_over(options, access, new_id, error)) return volume;
  volume->file_->remove_if_made();
  return nullptr;
}

uint64_t CossVolume::file_size_bytes() const {
  return geometry_.index_offset() + coss_index_area_bytes(capacity_bytes_);
}

// How many stripes of the geometry's size there is at least a part of, and never none.
uint32_t CossVolume::stripes_present() const {
  const uint64_t bytes = std::max(file_->size_bytes(), kCossStripesOffset + 1) - kCossStripesOffset;
  const uint64_t stripes =
      round_up(bytes, geometry_.stripe_size_bytes) / geometry_.stripe_size_bytes;
  return static_cast<uint32_t>(std::min<uint64_t>(stripes, UINT32_MAX));
}

bool CossVolume::take_over(const CossOptions& options, Access access, uint64_t new_id,
                           std::string& error) {
  std::vector<std::byte> front(kFrontSize);
  const int64_t got = file_->read_front(front);
  if (got < 0) {
    error = file_->shown_path() + ": cannot read it: " + errno_text(errno);
    return false;
  }
  front.resize(static_cast<size_t>(got));
  const auto page = std::span<const std::byte>(front).first(std::min(front.size(), kCossPageSize));
  const Result<CossGeometry> found = decode_coss_superblock(page);
  if (found) {
    geometry_ = *found;
    // A file that was cut has fewer.
    previous_stripe_count_ = geometry_.stripe_count =
        std::min(found->stripe_count, stripes_present());
  }
  if (found && access == Access::kInspect) return true;
  if (found) {
    if (found->stripe_size_bytes != options.stripe_size_bytes ||
        found->block_size_bytes != options.block_size_bytes) {
      error = file_->shown_path() +
              ": the store was made with stripe-size=" + std::to_string(found->stripe_size_bytes) +
              ",block-size=" + std::to_string(found->block_size_bytes) +
              ": give these, or remove the store";
      return false;
    }
    geometry_.stripe_count = options.stripe_count;
    return make_room(error);
  }
  const bool blank =
      std::ranges::all_of(front, [](std::byte value) { return value == std::byte{0}; });
  if (access == Access::kInspect || found.error().code == Errc::kCorrupt || !blank) {
    error = file_->shown_path() + ": holds something else than a coss store" +
            (file_->device() ? ": clear its first MiB if it may be overwritten" : "");
    return false;
  }
  geometry_.store_id = new_id;
  geometry_.stripe_size_bytes = options.stripe_size_bytes;
  geometry_.block_size_bytes = options.block_size_bytes;
  geometry_.stripe_count = options.stripe_count;
  if (!make_room(error)) return false;
  if (write_superblock()) return true;
  error = file_->shown_path() + ": cannot write to it: " + errno_text(errno);
  return false;
}

bool CossVolume::make_room(std::string& error) {
  return file_->make_room(file_size_bytes(), capacity_bytes_, error);
}

bool CossVolume::write_superblock() {
  std::array<std::byte, kCossPageSize> page{};
  encode_coss_superblock(geometry_, page);
  return file_->write(0, page);
}

bool CossVolume::adopt_size() {
  if (previous_stripe_count_ == geometry_.stripe_count) return true;
  if (!write_superblock()) return false;
  previous_stripe_count_ = geometry_.stripe_count;
  return file_->shorten(file_size_bytes());
}

}  // namespace storage
