#include "storage/layout/coss_recovery.h"

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <optional>
#include <unordered_map>
#include <utility>

#include "storage/layout/change_signal.h"
#include "storage/layout/coss_membufs.h"

namespace storage {

namespace {

// Stripes whose ends are read at the same time.
constexpr unsigned kScanners = 16;
// Read from the end of every stripe at first: the directory of 250 objects and more.
constexpr size_t kTailSize = 8 * 1024;
// Further than any generation that was begun and lost in the crash.
constexpr uint64_t kGenerationsSkipped = 1 << 20;

// Enters directories into an index as they are read, in any order of their stripes: of two
// operations on an object the one of the higher generation wins. So none is kept in memory.
class Replay {
 public:
  // `shrinking`: there are stripes beyond the geometry, whose objects are lost.
  Replay(const CossGeometry& geometry, bool shrinking, CossIndex& index)
      : geometry_(geometry),
        shrinking_(shrinking),
        index_(index),
        generations_(geometry.stripe_count) {}

  void add(const CossTrailer& trailer, std::span<const CossEntry> entries) {
    floor_ = std::max(floor_, trailer.floor);
    next_generation_ = std::max(next_generation_, trailer.generation + 1);
    const bool kept = trailer.stripe < geometry_.stripe_count;
    if (kept) generations_[trailer.stripe] = trailer.generation;
    for (const CossEntry& entry : entries) {
      const bool there = kept && entry.size_bytes > 0;
      enter(trailer, entry, there);
    }
  }

  // Drops what is below the floor, and tells the rest.
  void finish(CossRecovery& recovery) {
    recovery.floor = std::max(recovery.floor, floor_);
    recovery.next_generation = std::max(recovery.next_generation, next_generation_);
    uint64_t newest = 0;
    for (uint32_t stripe = 0; stripe < geometry_.stripe_count; ++stripe) {
      const uint64_t generation = generations_[stripe];
      if (generation == 0) continue;
      if (generation > newest) {
        newest = generation;
        recovery.newest_stripe = stripe;
      }
      if (generation < recovery.floor) {
        index_.drop_stripe(stripe);
      } else {
        recovery.live.push_back({stripe, generation});
      }
    }
    std::ranges::sort(recovery.live, {}, &CossLiveStripe::generation);
    for (const auto& [hash, generation] : hidden_) {
      if (!index_.find(hash)) recovery.resurrected.push_back(hash);
    }
  }

 private:
  void enter(const CossTrailer& trailer, const CossEntry& entry, bool there) {
    const KeyHash seen = truncated(entry.hash, index_.key_hash_bits());
    const std::optional<CossLocation> known = index_.find(seen);
    const auto gone = gone_.find(seen);
    const bool older_than_known =
        known && generations_[index_.stripe_of(*known)] > trailer.generation;
    const bool older_than_gone = gone != gone_.end() && gone->second > trailer.generation;
    if (older_than_known) return;
    if (older_than_gone) {
      hide(seen, there);
    } else if (there) {
      if (gone != gone_.end()) gone_.erase(gone);
      index_.put(seen, index_.location(trailer.stripe, entry.offset_bytes, entry.size_bytes));
    } else {
      gone_[seen] = trailer.generation;
      if (known) index_.erase(seen);
      hide(seen, known.has_value());
    }
  }
  // An object that is kept and must not be found: where what says so may be lost, it is said again.
  void hide(KeyHash seen, bool kept) {
    if (kept && shrinking_) hidden_.try_emplace(seen);
  }

  const CossGeometry geometry_;
  const bool shrinking_;
  CossIndex& index_;
  std::vector<uint64_t> generations_;  // of each stripe; 0 where none was found
  // The highest generation that says that an object is not there, where that is all that is known.
  std::unordered_map<KeyHash, uint64_t, KeyHashHasher> gone_;
  std::unordered_map<KeyHash, bool, KeyHashHasher> hidden_;
  uint64_t floor_ = 1;
  uint64_t next_generation_ = 1;
};

// Shared by those who scan.
struct Scan {
  Scan(std::shared_ptr<File> file_in, const CossGeometry& geometry_in, uint32_t previous_count_in,
       CossIndex& index, boost::asio::any_io_executor executor)
      : file(std::move(file_in)),
        geometry(geometry_in),
        previous_count(previous_count_in),
        stripe_count(std::max(previous_count_in, geometry_in.stripe_count)),
        replay(geometry_in, previous_count_in > geometry_in.stripe_count, index),
        signal(std::move(executor)) {}

  const std::shared_ptr<File> file;
  const CossGeometry geometry;
  const uint32_t previous_count;
  const uint32_t stripe_count;
  Replay replay;
  ChangeSignal signal;
  uint32_t next = 0;
  unsigned running = 0;
  std::vector<uint32_t> damaged;
  std::vector<uint32_t> stale;
  Error failure;
};

Task<void> read_tail(Scan& scan, uint32_t stripe, std::span<std::byte> tail) {
  const uint64_t end = scan.geometry.stripe_offset(stripe) + scan.geometry.stripe_size_bytes;
  const Result<size_t> got = co_await scan.file->read(end - tail.size(), tail);
  if (!got) co_return got.error();
  if (*got < tail.size()) co_return Error(Errc::kNotFound);  // the file ends before
  co_return Result<void>();
}

Task<void> read_stripe(Scan& scan, uint32_t stripe, std::span<std::byte> tail) {
  const Result<void> read = co_await read_tail(scan, stripe, tail);
  if (!read) co_return read.error();
  const Result<CossTrailer> trailer = decode_coss_trailer(scan.geometry, stripe, tail);
  if (!trailer) co_return trailer.error();
  if (stripe >= scan.previous_count) {
    scan.stale.push_back(stripe);
    co_return Result<void>();
  }
  Space longer;
  const size_t needed = trailer->directory_size_bytes() + kCossTrailerSize;
  if (needed > tail.size()) {
    longer = make_coss_buffer(round_up(needed, kCossPageSize));
    tail = longer.bytes();
    const Result<void> again = co_await read_tail(scan, stripe, tail);
    if (!again) co_return again.error();
  }
  const Result<std::vector<CossEntry>> entries =
      decode_coss_directory(scan.geometry, *trailer, tail);
  if (!entries) co_return entries.error();
  scan.replay.add(*trailer, *entries);
  co_return Result<void>();
}

boost::asio::awaitable<void> scan_some(std::shared_ptr<Scan> scan) {
  const Space buffer = make_coss_buffer(kTailSize);
  while (scan->next < scan->stripe_count && scan->failure.code == Errc::kNone) {
    const uint32_t stripe = scan->next++;
    const Result<void> read = co_await read_stripe(*scan, stripe, buffer.bytes());
    if (read || read.error().code == Errc::kNotFound) continue;
    if (read.error().code == Errc::kCorrupt || read.error().code == Errc::kIo) {
      if (stripe < scan->previous_count) scan->damaged.push_back(stripe);
    } else {
      scan->failure = read.error();
    }
  }
}

// Reads the directories of all stripes.
Task<void> scan_all(std::shared_ptr<Scan> scan, boost::asio::any_io_executor executor) {
  for (unsigned i = 0; i < std::min(kScanners, scan->stripe_count); ++i) {
    ++scan->running;
    boost::asio::co_spawn(executor, scan_some(scan), [scan](std::exception_ptr thrown) {
      if (thrown) scan->failure = Error(Errc::kOverloaded);  // no memory
      --scan->running;
      scan->signal.notify();
    });
  }
  while (scan->running > 0) co_await scan->signal.wait_for_ever();
  if (scan->failure.code != Errc::kNone) co_return scan->failure;
  co_return Result<void>();
}

// Everything from the index of a clean stop, if that is what there is.
Task<bool> load_clean(File& file, const CossGeometry& geometry, const CossState& state,
                      CossIndex& index, CossRecovery& recovery) {
  if (!state.clean || state.index_size_bytes == 0) co_return false;
  if (state.index_offset != geometry.index_offset()) co_return false;
  recovery.index_damaged = true;
  if (state.index_size_bytes % kCossPageSize != 0) co_return false;
  CossIndexExtent extent;
  extent.size_bytes = state.index_size_bytes;
  extent.checksum = state.index_checksum;
  Result<std::vector<CossLiveStripe>> live =
      co_await read_coss_index(file, geometry, extent, index);
  if (!live) co_return false;
  recovery.index_damaged = false;
  recovery.live = std::move(*live);
  if (!recovery.live.empty()) {
    recovery.newest_stripe = recovery.live.back().stripe;
    recovery.next_generation =
        std::max(recovery.next_generation, recovery.live.back().generation + 1);
  }
  co_return true;
}

}  // namespace

Task<CossRecovery> recover_coss(std::shared_ptr<File> file, CossGeometry geometry,
                                uint32_t previous_stripe_count,
                                boost::asio::any_io_executor executor, CossIndex& index) {
  CossRecovery recovery;
  recovery.newest_stripe = geometry.stripe_count - 1;
  const Space page = make_coss_buffer(kCossPageSize);
  std::optional<CossState> state;
  if (previous_stripe_count > 0) {
    const Result<size_t> got = co_await file->read(kCossStateOffset, page.bytes());
    if (!got) co_return got.error();
    state = decode_coss_state(geometry.store_id, page.bytes());
    recovery.clean = state && state->clean;
    recovery.state_damaged = !state;
  }
  if (state) {
    recovery.floor = std::max(recovery.floor, state->floor);
    recovery.next_generation = std::max(recovery.next_generation, state->next_generation);
  }
  if (state && previous_stripe_count == geometry.stripe_count) {
    const Result<bool> loaded = co_await load_clean(*file, geometry, *state, index, recovery);
    if (!loaded) co_return loaded.error();
    if (*loaded) co_return recovery;
  }
  if (previous_stripe_count == 0) co_return recovery;
  const auto scan =
      std::make_shared<Scan>(std::move(file), geometry, previous_stripe_count, index, executor);
  const Result<void> scanned = co_await scan_all(scan, executor);
  if (!scanned) co_return scanned.error();
  scan->replay.finish(recovery);
  recovery.damaged = std::move(scan->damaged);
  std::ranges::sort(recovery.damaged);
  recovery.stale = std::move(scan->stale);
  recovery.next_generation += kGenerationsSkipped;
  co_return recovery;
}

}  // namespace storage
