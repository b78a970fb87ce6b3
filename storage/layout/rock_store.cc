#include "storage/layout/rock_store.h"

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cerrno>
#include <utility>

#include "storage/base/units.h"
#include "storage/layout/aligned_buffer.h"
#include "storage/layout/rock_clean_index.h"
#include "storage/layout/rock_recovery.h"

namespace storage {

namespace {

// How long a writer waits for a slot.
constexpr std::chrono::seconds kRoomWaitMax{10};
// After so many failures to clear a head slot a writer gives up: the disk is at fault, and more
// evictions would only empty the store.
constexpr uint64_t kClearErrorsMax = 4;
// How many head slots that could not be cleared are tried again when there is no other room.
constexpr size_t kCondemnedRetries = 2;
// Memory for the first slots of objects that are arriving.
constexpr uint64_t kArrivingBytesMax = 64 * kMiB;

std::unique_ptr<ReplacementPolicy> make_checked_policy(const RockOptions& options) {
  std::string error;  // The name was checked when the options were read.
  return make_policy(options.policy, uint64_t{options.slot_count} * options.slot_size_bytes, error);
}

}  // namespace

RockStore::Pin::Pin(std::shared_ptr<RockStore> store, uint32_t first_slot)
    : store_(std::move(store)), first_slot_(first_slot) {
  if (first_slot_ != kRockNoSlot) store_->slots_.pin(first_slot_);
}

RockStore::Pin& RockStore::Pin::operator=(Pin&& other) noexcept {
  if (this != &other) {
    release();
    store_ = std::move(other.store_);
    first_slot_ = other.first_slot_;
  }
  return *this;
}

void RockStore::Pin::release() {
  if (store_ != nullptr && first_slot_ != kRockNoSlot) {
    store_->slots_.unpin(first_slot_);
    if (store_->waiting_for_slots_ > 0) store_->signal_->notify();
  }
  store_.reset();
}

RockStore::RockStore(std::string_view name, const RockOptions& options,
                     const SchemeEnvironment& environment, std::unique_ptr<RockVolume> volume,
                     std::unique_ptr<IoEngine> engine)
    : VolumeStore(name, environment, std::move(volume), std::move(engine)),
      options_(options),
      index_(make_checked_policy(options), options.slot_count, environment.key_hash_bits),
      slots_(options.slot_count),
      turns_(environment.executor),
      pacing_(options.swap_rate_max, options.swap_timeout) {
  info_.capacity_bytes = uint64_t{options.slot_count} * options.slot_size_bytes;
  info_.object_size_bytes_max = options.object_size_bytes_max;
  info_.alignment_bytes = kRockPageSize;
}

Task<void> RockStore::recover() {
  const Result<void> opened =
      co_await open_file(options_.direct, kRockPageSize,
                         "rock: the filesystem refuses O_DIRECT, so direct=on has no effect: slots "
                         "go through the page cache");
  if (!opened) co_return opened;
  Result<RockRecovery> found = co_await recover_rock(
      file_, geometry(), volume_->previous_slot_count(), environment_.executor, index_, slots_);
  if (!found) co_return found.error();
  recovery_.clean = found->clean;
  recovery_.dropped_damaged = found->damaged;
  recovery_.dropped_stray = found->stale.size();
  next_generation_ = found->next_generation;
  // From here on the store is not clean, and says so before anything else is written.
  const Result<void> declared = co_await write_state(RockState());
  if (!declared) co_return declared;
  for (const RockVersion& stale : found->stale) {
    const Result<void> cleared = co_await clear_head(stale.head_slot);
    if (!cleared) co_return cleared;
  }
  if (!volume_->adopt_size()) co_return Error(Errc::kIo, errno);
  recovery_.objects = index_.count();
  recovery_.size_bytes = index_.size_bytes();
  co_return Result<void>();
}

Task<void> RockStore::leave_clean() {
  if (!volume_->in_place()) co_return Error(Errc::kIo, errno);
  retry_condemned(condemned_.size());
  while (operations_under_way()) co_await signal_->wait_for_ever();
  // The clean index would hide a head slot that is still there until it comes back after a crash:
  // only a scan finds it.
  if (!condemned_.empty()) co_return condemned_.front().error;
  Result<void> done = co_await file_->sync();
  if (!done) co_return done;
  RockState state;
  state.next_generation = next_generation_;
  state.object_count = index_.count();
  const Result<uint64_t> written =
      co_await write_rock_index(*file_, geometry(), next_generation_, index_, slots_);
  if (!written) co_return written.error();
  done = co_await file_->sync();
  if (!done) co_return done;
  state.index_size_bytes = *written;
  state.clean = *written > 0 || state.object_count == 0;
  co_return co_await write_state(state);
}

Task<void> RockStore::write_state(RockState state) {
  const Space page = make_aligned_buffer(kRockPageSize);
  encode_rock_state(state, geometry().store_id, page.bytes());
  const Result<void> written = co_await file_->write(kRockStateOffset, page.bytes());
  if (!written) co_return written;
  co_return co_await file_->sync();
}

Task<void> RockStore::pace() {
  const std::chrono::nanoseconds wait = pacing_.take_turn(environment_.clock.steady_now());
  if (wait.count() == 0) co_return Result<void>();
  ++counts_.paced;
  boost::asio::steady_timer timer(environment_.executor, wait);
  const auto [ended] = co_await timer.async_wait(boost::asio::as_tuple(boost::asio::use_awaitable));
  if (ended) co_return Error(Errc::kAborted);
  co_return Result<void>();
}

Task<Space> RockStore::lend_buffer(size_t size_bytes) {
  if (size_bytes <= environment_.buffers.buffer_size_bytes()) {
    co_return co_await environment_.buffers.acquire();
  }
  co_return make_aligned_buffer(size_bytes);
}

uint32_t RockStore::slots_in_buffer() const {
  const size_t held = environment_.buffers.buffer_size_bytes() / options_.slot_size_bytes;
  return static_cast<uint32_t>(std::max<size_t>(held, 1));
}

Task<size_t> RockStore::read_slots(uint32_t first, std::span<std::byte> bytes) {
  const RockPacing::UnderWay under_way(pacing_, environment_.clock.steady_now());
  const Result<void> turn = co_await pace();
  if (!turn) co_return turn.error();
  co_return co_await file_->read(geometry().slot_offset(first), bytes);
}

Task<void> RockStore::write_slot(uint32_t number, RockSlot slot, std::span<std::byte> bytes) {
  const RockPacing::UnderWay under_way(pacing_, environment_.clock.steady_now());
  const size_t size = encode_rock_slot(geometry(), number, slot, bytes);
  const Result<void> turn = co_await pace();
  if (!turn) co_return turn;
  co_return co_await file_->write(geometry().slot_offset(number), bytes.first(size));
}

Result<void> RockStore::admit_read() {
  if (pacing_.admits(environment_.clock.steady_now())) return {};
  ++counts_.declined_reads;
  return Error(Errc::kOverloaded);
}

Result<void> RockStore::admit_write() {
  if (engine_->overloaded()) {
    ++counts_.declined_engine;
    return Error(Errc::kOverloaded);
  }
  if (pacing_.admits(environment_.clock.steady_now())) return {};
  ++counts_.declined_writes;
  return Error(Errc::kOverloaded);
}

Result<void> RockStore::claim(uint64_t slots) {
  if (claimed_ + slots > slots_.count()) {
    ++counts_.declined_room;
    return Error(Errc::kNoSpace);
  }
  claimed_ += slots;
  return {};
}

Result<void> RockStore::enter_writer() {
  if (writers_ >= std::max<uint64_t>(kArrivingBytesMax / options_.slot_size_bytes, 16)) {
    ++counts_.declined_arriving;
    return Error(Errc::kOverloaded);
  }
  ++writers_;
  return {};
}

bool RockStore::evict_one() {
  const std::optional<RockVersion> victim =
      index_.take_victim([this](uint32_t head_slot) { return slots_.pinned(head_slot); });
  if (!victim) return false;
  ++counts_.evictions;
  retire(*victim, Keep::kNothing);
  return true;
}

// A retirement may have come to its end before evict_one() returns.
void RockStore::make_room_ahead() {
  // On a disk that fails no more goes than is asked for.
  const uint64_t ahead = condemned_.empty() ? options_.free_slots : 0;
  const uint64_t errors_before = counts_.clear_errors;
  while (slots_.free_count() + retiring_slots_ < ahead + waiting_for_slots_) {
    if (counts_.clear_errors != errors_before || !evict_one()) break;
  }
}

Task<uint32_t> RockStore::take_slot() {
  struct Waiting {
    explicit Waiting(uint64_t& count_in) : count(count_in) { ++count; }
    ~Waiting() { --count; }
    uint64_t& count;
  };
  const auto deadline = boost::asio::steady_timer::clock_type::now() + kRoomWaitMax;
  const uint64_t errors_before = counts_.clear_errors;
  uint64_t fruitless = 0;
  while (true) {
    if (!running()) co_return Error(Errc::kStopped);
    if (const std::optional<uint32_t> slot = slots_.take()) {
      make_room_ahead();
      co_return *slot;
    }
    const Waiting waiting(waiting_for_slots_);
    if (counts_.clear_errors - errors_before >= kClearErrorsMax) co_return Error(Errc::kIo);
    make_room_ahead();
    if (retiring_slots_ == 0) retry_condemned(kCondemnedRetries);
    if (slots_.free_count() > 0) continue;
    if (retiring_slots_ == 0) {
      if (counts_.clear_errors != errors_before && ++fruitless < kClearErrorsMax) continue;
      ++counts_.declined_room;
      co_return Error(Errc::kNoSpace);
    }
    const Result<void> waited = co_await signal_->wait(deadline);
    if (!waited) co_return waited.error();
  }
}

void RockStore::publish(const RockVersion& version, uint64_t slot_count) {
  const std::optional<RockVersion> replaced =
      index_.put(version, slot_count * options_.slot_size_bytes);
  if (replaced) retire(*replaced, Keep::kNothing);
}

void RockStore::publish_update(const RockVersion& version, uint64_t slot_count) {
  const std::optional<RockVersion> replaced =
      index_.put(version, slot_count * options_.slot_size_bytes);
  if (replaced) retire(*replaced, Keep::kBody);
}

void RockStore::retire(const RockVersion& version, Keep keep) {
  Retired gone;
  gone.version = version;
  const RockChain chain = slots_.chain(version.head_slot);
  gone.slot_count = keep == Keep::kBody ? chain.head_count : chain.slots.size();
  if (keep == Keep::kNothing) gone.body_slot = chain.first_body_slot();
  begin_retirement(std::move(gone));
}

void RockStore::begin_retirement(Retired gone) {
  retiring_slots_ += gone.slot_count;
  gone.ticket = lanes_[index_.shortened(gone.version.hash)].next_ticket++;
  Operation operation(shared_from_this());
  boost::asio::co_spawn(environment_.executor,
                        finish_retirement(self(), std::move(gone), std::move(operation)),
                        boost::asio::detached);
}

boost::asio::awaitable<void> RockStore::finish_retirement(std::shared_ptr<RockStore> store,
                                                          Retired gone,
                                                          [[maybe_unused]] Operation operation) {
  const KeyHash hash = store->index_.shortened(gone.version.hash);
  while (store->lanes_[hash].serving != gone.ticket) co_await store->signal_->wait_for_ever();
  Result<void> cleared = Error(Errc::kOverloaded);
  try {
    cleared = co_await store->clear_in_order(gone);
  } catch (const std::bad_alloc&) {
    cleared = Error(Errc::kOverloaded);
  }
  store->retiring_slots_ -= gone.slot_count;
  if (cleared) {
    store->let_go(gone);
  } else {
    ++store->counts_.clear_errors;
    gone.error = cleared.error();
    store->condemned_.push_back(gone);
  }
  Lane& lane = store->lanes_[hash];
  if (++lane.serving == lane.next_ticket) store->lanes_.erase(hash);
  if (cleared) store->retry_condemned(1);
  store->signal_->notify();
}

// What left the index before it and could not be cleared comes first.
Task<void> RockStore::clear_in_order(Retired gone) {
  const KeyHash hash = index_.shortened(gone.version.hash);
  const auto same_hash = [this, hash](const Retired& other) {
    return index_.shortened(other.version.hash) == hash;
  };
  for (auto older = std::ranges::find_if(condemned_, same_hash); older != condemned_.end();
       older = std::ranges::find_if(condemned_, same_hash)) {
    const Retired first = *older;
    const Result<void> cleared = co_await clear_head(first.version.head_slot);
    if (!cleared) co_return cleared;
    let_go(first);
    std::erase_if(condemned_, [&first](const Retired& other) {
      return other.version.generation == first.version.generation;
    });
  }
  co_return co_await clear_head(gone.version.head_slot);
}

Task<void> RockStore::clear_head(uint32_t slot) {
  const Space page = make_aligned_buffer(kRockPageSize);
  const RockPacing::UnderWay under_way(pacing_, environment_.clock.steady_now());
  const Result<void> turn = co_await pace();
  if (!turn) co_return turn;
  co_return co_await file_->write(geometry().slot_offset(slot), page.bytes());
}

void RockStore::let_go(const Retired& gone) {
  slots_.let_go(gone.version.head_slot);
  if (gone.body_slot != kRockNoSlot) slots_.let_go(gone.body_slot);
}

// Tries once more to clear the oldest of those whose turn it can be.
void RockStore::retry_condemned(size_t count_max) {
  std::vector<Retired> again;
  std::erase_if(condemned_, [&](const Retired& gone) {
    if (again.size() == count_max || lanes_.contains(index_.shortened(gone.version.hash)))
      return false;
    again.push_back(gone);
    return true;
  });
  for (Retired& gone : again) begin_retirement(std::move(gone));
}

Task<void> RockStore::settle(KeyHash hash) {
  const KeyHash wanted = index_.shortened(hash);
  const auto same_hash = [this, wanted](const Retired& gone) {
    return index_.shortened(gone.version.hash) == wanted;
  };
  if (std::ranges::any_of(condemned_, same_hash)) retry_condemned(condemned_.size());
  while (lanes_.contains(wanted)) {
    const auto never = boost::asio::steady_timer::time_point::max();
    const Result<void> waited = co_await signal_->wait(never);
    if (!waited) co_return waited;
  }
  const auto left = std::ranges::find_if(condemned_, same_hash);
  if (left != condemned_.end()) co_return left->error;
  co_return Result<void>();
}

void RockStore::drop(const RockVersion& version, Errc reason) {
  if (!index_.erase(version)) return;
  ++(reason == Errc::kCorrupt ? counts_.damaged : counts_.unreadable);
  retire(version, Keep::kNothing);
}

void RockStore::visit_counters(CounterVisitor& visitor) const {
  visitor.gauge("objects", "", static_cast<double>(index_.count()));
  visitor.gauge("size_bytes", "", static_cast<double>(index_.size_bytes()));
  visitor.gauge("index_memory_bytes", "",
                static_cast<double>(index_.memory_bytes() + slots_.memory_bytes()));
  visitor.gauge("free_slots", "", static_cast<double>(slots_.free_count()));
  visitor.gauge("slots_being_cleared", "", static_cast<double>(retiring_slots_));
  visitor.gauge("condemned_objects", "", static_cast<double>(condemned_.size()));
  visitor.counter("evictions_total", "", counts_.evictions);
  visitor.counter("slot_clear_errors_total", "", counts_.clear_errors);
  visitor.counter("paced_operations_total", "", counts_.paced);
  visitor.counter("overloads_total", "reason=\"swap_timeout_read\"", counts_.declined_reads);
  visitor.counter("overloads_total", "reason=\"swap_timeout_write\"", counts_.declined_writes);
  visitor.counter("overloads_total", "reason=\"engine\"", counts_.declined_engine);
  visitor.counter("overloads_total", "reason=\"arriving_objects\"", counts_.declined_arriving);
  visitor.counter("overloads_total", "reason=\"no_free_slot\"", counts_.declined_room);
  visitor.counter("dropped_objects_total", "reason=\"damaged\"", counts_.damaged);
  visitor.counter("dropped_objects_total", "reason=\"unreadable\"", counts_.unreadable);
  visitor.counter("hash_collisions_total", "", counts_.collisions);
  engine_->visit_counters(visitor);
}

}  // namespace storage
