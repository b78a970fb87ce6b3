#include "storage/layout/coss_log.h"

#include <algorithm>
#include <utility>

namespace storage {

namespace {

// Stripes that are retired before their turn, so that as many writes may be under way at once
// without waiting for each other's floor; little of a small store.
unsigned lookahead_for(uint32_t stripe_count, unsigned membufs) {
  return std::min(membufs - 1, stripe_count / 64);
}

}  // namespace

CossLog::CossLog(const CossGeometry& geometry, unsigned membufs,
                 boost::asio::any_io_executor executor, CossIndex& index,
                 std::function<void(uint32_t)> flush, std::function<void()> changed)
    : geometry_(geometry),
      lookahead_(lookahead_for(geometry.stripe_count, membufs)),
      index_(index),
      flush_(std::move(flush)),
      changed_(std::move(changed)),
      membufs_(std::move(executor), geometry.stripe_size_bytes, membufs, changed_),
      stripes_(geometry.stripe_count),
      open_(geometry.stripe_count) {}

void CossLog::adopt(uint32_t stripe, uint64_t generation) {
  Stripe& adopted = stripes_[stripe];
  adopted.state = State::kOnDisk;
  adopted.generation = adopted.held = generation;
  adopted.ordinal = next_ordinal_++;
  live_.push_back(stripe);
}

void CossLog::begin(uint32_t newest_stripe, uint64_t next_generation, uint64_t durable_floor) {
  next_generation_ = next_generation;
  durable_floor_ = durable_floor;
  for (uint32_t i = 1; i <= geometry_.stripe_count; ++i) {
    const uint32_t stripe = (newest_stripe + i) % geometry_.stripe_count;
    if (stripes_[stripe].state == State::kFree) free_.push_back(stripe);
  }
}

bool CossLog::fits(uint64_t record_size_bytes) const {
  if (open_ == geometry_.stripe_count) return false;
  const uint64_t directory = (stripes_[open_].entries.size() + 1) * kCossDirectoryEntrySize;
  return open_used_bytes_ + record_size_bytes + directory + kCossTrailerSize <=
         geometry_.stripe_size_bytes;
}

Result<CossLog::Place> CossLog::try_place(uint32_t record_size_bytes) {
  while (true) {
    if (!enter_owed_removals()) return Error(Errc::kOverloaded);
    if (fits(record_size_bytes)) break;
    if (!rotate()) return Error(Errc::kOverloaded);
  }
  Stripe& stripe = stripes_[open_];
  Place place;
  place.stripe = open_;
  place.offset_bytes = open_used_bytes_;
  place.seed = coss_record_seed(geometry_.store_id, stripe.generation, open_used_bytes_);
  place.bytes = bytes(stripe).subspan(open_used_bytes_, record_size_bytes);
  return place;
}

void CossLog::publish(const Place& place, KeyHash hash) {
  Stripe& stripe = stripes_[place.stripe];
  CossEntry entry;
  entry.hash = hash;
  entry.offset_bytes = place.offset_bytes;
  entry.size_bytes = static_cast<uint32_t>(place.bytes.size());
  stripe.entries.push_back(entry);
  const uint64_t end = place.offset_bytes + place.bytes.size();
  const uint64_t padded =
      std::min<uint64_t>(round_up(end, geometry_.block_size_bytes), geometry_.stripe_size_bytes);
  // Nothing of what the membuf held before goes to the disk.
  std::ranges::fill(bytes(stripe).subspan(end, padded - end), std::byte{0});
  open_used_bytes_ = static_cast<uint32_t>(padded);
  index_.put(hash, index_.location(place.stripe, entry.offset_bytes, entry.size_bytes));
}

void CossLog::note_removal(KeyHash hash) {
  owed_removals_.push_back(hash);
  ++counts_.removals;
  static_cast<void>(enter_owed_removals());
}

bool CossLog::enter_owed_removals() {
  while (!owed_removals_.empty()) {
    if (!fits(0)) {
      if (!rotate()) return false;
      continue;
    }
    CossEntry entry;
    entry.hash = owed_removals_.back();
    owed_removals_.pop_back();  // among removals the order means nothing
    stripes_[open_].entries.push_back(entry);
  }
  return true;
}

bool CossLog::can_accept(uint32_t record_size_bytes) const {
  if (fits(record_size_bytes)) return true;
  if (!membufs_.available()) return false;
  const bool open_is_read = open_ == geometry_.stripe_count || stripes_[open_].pins > 0;
  return stripe_available() || in_flight_ > 0 || !open_is_read;
}

// Position in live_ of the oldest stripe that can be overwritten, or past the end.
size_t CossLog::next_victim() const {
  for (size_t at = 0; at < live_.size(); ++at) {
    const Stripe& stripe = stripes_[live_[at]];
    if (stripe.state != State::kOnDisk) break;
    if (stripe.pins == 0) return at;
  }
  return live_.size();
}

bool CossLog::retire_oldest() {
  const size_t victim = next_victim();
  if (victim == live_.size()) return false;
  // Those before it are being read: they go too, since the floor passes them, but their places are
  // not taken before their readers have gone.
  counts_.pinned_skips += victim;
  for (size_t i = 0; i <= victim; ++i) {
    const uint32_t stripe = live_.front();
    live_.pop_front();
    counts_.evictions += index_.drop_stripe(stripe);
    stripes_[stripe].state = i == victim ? State::kFree : State::kRetired;
    if (i == victim) free_.push_back(stripe);
  }
  return true;
}

// Begins the next stripe, and sends the present one off.
bool CossLog::rotate() {
  if (!stripe_available()) {
    // Everything else is being read: once on disk, the present stripe can be overwritten itself.
    if (in_flight_ == 0 && open_ != geometry_.stripe_count) seal_open();
    return false;
  }
  std::shared_ptr<std::byte> memory = membufs_.try_take();
  if (memory == nullptr) return false;
  while (free_.size() < size_t{1} + lookahead_ && retire_oldest()) {
  }
  const uint32_t sealed = open_;
  const uint32_t begun = free_.front();
  free_.pop_front();
  if (sealed != geometry_.stripe_count) seal(sealed);
  Stripe& stripe = stripes_[begun];
  stripe.state = State::kOpen;
  stripe.generation = next_generation_++;
  stripe.ordinal = next_ordinal_++;
  stripe.memory = std::move(memory);
  stripe.entries.clear();
  live_.push_back(begun);
  open_ = begun;
  open_used_bytes_ = 0;
  if (sealed != geometry_.stripe_count) flush_(sealed);
  return true;
}

void CossLog::seal_open() {
  const uint32_t stripe = open_;
  if (stripe == geometry_.stripe_count || stripes_[stripe].entries.empty()) return;
  seal(stripe);
  open_ = geometry_.stripe_count;
  flush_(stripe);
}

bool CossLog::all_sealed() const {
  const bool empty = open_ == geometry_.stripe_count || stripes_[open_].entries.empty();
  return empty && owed_removals_.empty();
}

void CossLog::seal(uint32_t stripe) {
  Stripe& sealed = stripes_[stripe];
  CossTrailer trailer;
  trailer.generation = sealed.generation;
  trailer.floor = sealed.floor = floor();
  trailer.stripe = stripe;
  trailer.entry_count = static_cast<uint32_t>(sealed.entries.size());
  const size_t end =
      geometry_.stripe_size_bytes - kCossTrailerSize - trailer.directory_size_bytes();
  if (open_used_bytes_ < end) {
    std::ranges::fill(bytes(sealed).subspan(open_used_bytes_, end - open_used_bytes_),
                      std::byte{0});
  }
  encode_coss_directory(geometry_.store_id, trailer, sealed.entries, bytes(sealed));
  sealed.state = State::kFlushing;
  ++in_flight_;
}

bool CossLog::older_in_flight(uint32_t stripe) const {
  return std::ranges::any_of(live_, [&](uint32_t other) {
    return stripes_[other].state == State::kFlushing &&
           stripes_[other].generation < stripes_[stripe].generation;
  });
}

uint64_t CossLog::floor() const {
  return live_.empty() ? next_generation_ : stripes_[live_.front()].generation;
}

void CossLog::floor_written(uint64_t floor) {
  durable_floor_ = std::max(durable_floor_, floor);
  changed_();
}

void CossLog::flushed(uint32_t stripe, bool written) {
  Stripe& ended = stripes_[stripe];
  const std::vector<CossEntry> entries = std::exchange(ended.entries, {});
  --in_flight_;
  if (written) {
    ended.state = State::kOnDisk;
    ended.held = ended.generation;
    ended.memory.reset();
    ++counts_.stripes_flushed;
    floor_written(ended.floor);
    return;
  }
  ++counts_.flush_errors;
  counts_.objects_unwritten += index_.drop_stripe(stripe);
  std::erase(live_, stripe);
  // Its readers still have it in memory.
  ended.state = State::kFailed;
  ended.held = 0;
  // What it would have replaced must not be found again: not even where the object is removed
  // after this, when nothing is known of it any more.
  for (const CossEntry& entry : entries) {
    if (!index_.find(entry.hash)) owed_removals_.push_back(entry.hash);
  }
  static_cast<void>(enter_owed_removals());
  free_if_unread(stripe);
  changed_();
}

void CossLog::unpin(uint32_t stripe) {
  if (--stripes_[stripe].pins > 0) return;
  free_if_unread(stripe);
  changed_();
}

void CossLog::free_if_unread(uint32_t stripe) {
  Stripe& unread = stripes_[stripe];
  const bool over = unread.state == State::kRetired || unread.state == State::kFailed;
  if (!over || unread.pins > 0) return;
  unread.state = State::kFree;
  unread.memory.reset();
  free_.push_back(stripe);
}

uint64_t CossLog::stripes_until_overwritten(uint32_t stripe) const {
  if (live_.empty()) return free_.size();
  return free_.size() + stripes_[stripe].ordinal - stripes_[live_.front()].ordinal;
}

}  // namespace storage
