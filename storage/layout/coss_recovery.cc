#include "storage/layout/coss_recovery.h"

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <optional>
#include <utility>

#include "storage/layout/coss_membufs.h"
#include "storage/layout/coss_signal.h"

namespace storage {

namespace {

// Stripes whose ends are read at the same time.
constexpr unsigned kScanners = 16;
// Read from the end of every stripe at first: the directory of 250 objects and more.
constexpr size_t kTailSize = 8 * 1024;
// Further than any generation that was begun and lost in the crash.
constexpr uint64_t kGenerationsSkipped = 1 << 20;

// One stripe with its directory.
struct FoundStripe {
  CossTrailer trailer;
  std::vector<CossEntry> entries;
};

// Shared by those who scan.
struct Scan {
  Scan(std::shared_ptr<File> file_in, const CossGeometry& geometry_in, uint32_t stripe_count_in,
       boost::asio::any_io_executor executor)
      : file(std::move(file_in)),
        geometry(geometry_in),
        stripe_count(stripe_count_in),
        signal(std::move(executor)) {}

  const std::shared_ptr<File> file;
  const CossGeometry geometry;
  const uint32_t stripe_count;
  CossSignal signal;
  uint32_t next = 0;
  unsigned running = 0;
  std::vector<FoundStripe> found;
  uint64_t damaged = 0;
  Error failure;
};

Task<void> read_tail(Scan& scan, uint32_t stripe, std::span<std::byte> tail) {
  const uint64_t end = scan.geometry.stripe_offset(stripe) + scan.geometry.stripe_size_bytes;
  const Result<size_t> got = co_await scan.file->read(end - tail.size(), tail);
  if (!got) co_return got.error();
  if (*got < tail.size()) co_return Error(Errc::kNotFound);  // the file ends before
  co_return Result<void>();
}

Task<FoundStripe> read_stripe(Scan& scan, uint32_t stripe, std::span<std::byte> tail) {
  const Result<void> read = co_await read_tail(scan, stripe, tail);
  if (!read) co_return read.error();
  const Result<CossTrailer> trailer = decode_coss_trailer(scan.geometry, stripe, tail);
  if (!trailer) co_return trailer.error();
  FoundStripe found;
  found.trailer = *trailer;
  Space longer;
  const size_t needed = trailer->directory_size_bytes() + kCossTrailerSize;
  if (needed > tail.size()) {
    longer = make_coss_buffer(round_up(needed, kCossPageSize));
    tail = longer.bytes();
    const Result<void> again = co_await read_tail(scan, stripe, tail);
    if (!again) co_return again.error();
  }
  Result<std::vector<CossEntry>> entries = decode_coss_directory(scan.geometry, *trailer, tail);
  if (!entries) co_return entries.error();
  found.entries = std::move(*entries);
  co_return found;
}

boost::asio::awaitable<void> scan_some(std::shared_ptr<Scan> scan) {
  const Space buffer = make_coss_buffer(kTailSize);
  while (scan->next < scan->stripe_count && scan->failure.code == Errc::kNone) {
    const uint32_t stripe = scan->next++;
    Result<FoundStripe> found = co_await read_stripe(*scan, stripe, buffer.bytes());
    if (found) {
      scan->found.push_back(std::move(*found));
    } else if (found.error().code == Errc::kCorrupt || found.error().code == Errc::kIo) {
      ++scan->damaged;
    } else if (found.error().code != Errc::kNotFound) {
      scan->failure = found.error();
    }
  }
}

// The directories of all stripes, oldest first.
Task<std::shared_ptr<Scan>> scan_all(std::shared_ptr<Scan> scan,
                                     boost::asio::any_io_executor executor) {
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
  std::ranges::sort(scan->found, {},
                    [](const FoundStripe& stripe) { return stripe.trailer.generation; });
  co_return scan;
}

void replay(const FoundStripe& stripe, CossIndex& index) {
  for (const CossEntry& entry : stripe.entries) {
    if (entry.size_bytes == 0) {
      index.erase(entry.hash);
    } else {
      index.put(entry.hash,
                index.location(stripe.trailer.stripe, entry.offset_bytes, entry.size_bytes));
    }
  }
}

// Objects that `index`, made of the stripes that are kept, has and all stripes together have not,
// or not there.
std::vector<KeyHash> find_resurrected(const Scan& scan, uint64_t floor, CossIndex& index) {
  CossGeometry wider = scan.geometry;
  wider.stripe_count = scan.stripe_count;
  CossIndex complete(wider, index.key_hash_bits());
  for (const FoundStripe& stripe : scan.found) {
    if (stripe.trailer.generation >= floor) replay(stripe, complete);
  }
  std::vector<KeyHash> resurrected;
  for (const auto& [hash, location] : index.entries()) {
    const std::optional<CossLocation> true_place = complete.find(hash);
    if (true_place != location) resurrected.push_back(hash);
  }
  for (const KeyHash hash : resurrected) index.erase(hash);
  return resurrected;
}

// Everything from the index of a clean stop, if that is what there is.
Task<bool> load_clean(File& file, const CossGeometry& geometry, const CossState& state,
                      CossIndex& index, CossRecovery& recovery) {
  const bool usable =
      state.clean && state.index_size_bytes > 0 && state.index_offset == geometry.index_offset() &&
      state.index_size_bytes % kCossPageSize == 0 &&
      state.index_size_bytes <= uint64_t{geometry.stripe_count} * geometry.stripe_size_bytes;
  if (!usable) co_return false;
  const Space buffer = make_coss_buffer(state.index_size_bytes);
  const Result<size_t> got = co_await file.read(state.index_offset, buffer.bytes());
  if (!got || *got < buffer.size()) co_return false;
  if (coss_index_checksum(geometry, buffer.bytes()) != state.index_checksum) co_return false;
  std::optional<std::vector<CossLiveStripe>> live =
      decode_coss_index(geometry, buffer.bytes(), index);
  if (!live) co_return false;
  recovery.live = std::move(*live);
  recovery.next_generation = std::max<uint64_t>(state.next_generation, 1);
  recovery.floor = std::max<uint64_t>(state.floor, 1);
  if (!recovery.live.empty()) recovery.newest_stripe = recovery.live.back().stripe;
  co_return true;
}

void rebuild(const Scan& scan, const CossState& state, CossIndex& index, CossRecovery& recovery) {
  recovery.damaged_stripes = scan.damaged;
  recovery.floor = std::max<uint64_t>(state.floor, 1);
  recovery.next_generation = state.next_generation;
  for (const FoundStripe& stripe : scan.found) {
    recovery.floor = std::max(recovery.floor, stripe.trailer.floor);
    recovery.next_generation = std::max(recovery.next_generation, stripe.trailer.generation + 1);
  }
  recovery.next_generation += kGenerationsSkipped;
  for (const FoundStripe& stripe : scan.found) {
    const CossTrailer& trailer = stripe.trailer;
    if (trailer.stripe >= scan.geometry.stripe_count) continue;
    if (trailer.generation >= recovery.floor) {
      replay(stripe, index);
      recovery.live.push_back({trailer.stripe, trailer.generation});
    }
    recovery.newest_stripe = trailer.stripe;
  }
  if (scan.stripe_count > scan.geometry.stripe_count) {
    recovery.resurrected = find_resurrected(scan, recovery.floor, index);
  }
}

}  // namespace

Task<CossRecovery> recover_coss(std::shared_ptr<File> file, CossGeometry geometry,
                                uint32_t previous_stripe_count,
                                boost::asio::any_io_executor executor, CossIndex& index) {
  CossRecovery recovery;
  recovery.newest_stripe = geometry.stripe_count - 1;
  if (previous_stripe_count == 0) co_return recovery;
  const Space page = make_coss_buffer(kCossPageSize);
  const Result<size_t> got = co_await file->read(kCossStateOffset, page.bytes());
  if (!got) co_return got.error();
  const std::optional<CossState> state = decode_coss_state(geometry.store_id, page.bytes());
  recovery.clean = state && state->clean;
  if (state && previous_stripe_count == geometry.stripe_count) {
    const Result<bool> loaded = co_await load_clean(*file, geometry, *state, index, recovery);
    if (loaded && *loaded) co_return recovery;
  }
  const uint32_t stripes = std::max(previous_stripe_count, geometry.stripe_count);
  const auto prepared = std::make_shared<Scan>(std::move(file), geometry, stripes, executor);
  const Result<std::shared_ptr<Scan>> scan = co_await scan_all(prepared, executor);
  if (!scan) co_return scan.error();
  rebuild(**scan, state.value_or(CossState()), index, recovery);
  co_return recovery;
}

}  // namespace storage
