#include "storage/layout/coss_store.h"

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <cerrno>
#include <utility>
#include <vector>

#include "storage/layout/coss_recovery.h"

namespace storage {

namespace {

// How long stop() waits for a membuf that a slow reader still has.
constexpr std::chrono::seconds kStopWaitMax{10};
// How many stripes that cannot be written it takes to give up leaving a clean store.
constexpr uint64_t kStopFailuresMax = 3;
constexpr unsigned kRelocationsMax = 2;

}  // namespace

CossStore::Pin::Pin(std::shared_ptr<CossStore> store, uint32_t stripe)
    : store_(std::move(store)), stripe_(stripe) {
  store_->log_.pin(stripe_);
}

CossStore::Pin& CossStore::Pin::operator=(Pin&& other) noexcept {
  if (this != &other) {
    release();
    store_ = std::move(other.store_);
    stripe_ = other.stripe_;
  }
  return *this;
}

void CossStore::Pin::release() {
  if (store_ != nullptr) store_->log_.unpin(stripe_);
  store_.reset();
}

CossStore::CossStore(std::string_view name, const CossOptions& options,
                     const SchemeEnvironment& environment, std::unique_ptr<CossVolume> volume,
                     std::unique_ptr<IoEngine> engine)
    : VolumeStore(name, environment, std::move(volume), std::move(engine)),
      options_(options),
      index_(volume_->geometry(), environment.key_hash_bits),
      log_(
          volume_->geometry(), options.membufs, environment.executor, index_,
          [this](uint32_t stripe) { begin_flush(stripe); },
          [signal = signal_] { signal->notify(); }),
      draft_bytes_(std::make_shared<std::atomic<uint64_t>>(0)) {
  info_.capacity_bytes = uint64_t{options.stripe_count} * options.stripe_size_bytes;
  info_.object_size_bytes_max = options.object_size_bytes_max;
  info_.alignment_bytes = options.block_size_bytes;
}

uint64_t CossStore::draft_bytes_max() const {
  return uint64_t{options_.membufs} * options_.stripe_size_bytes;
}

uint64_t CossStore::file_offset(CossLocation location) const {
  return geometry().stripe_offset(index_.stripe_of(location)) + index_.offset_of(location);
}

size_t CossStore::alignment() const {
  return std::max<size_t>(file_->alignment_bytes(), 1);
}

Task<void> CossStore::recover() {
  Result<void> done =
      co_await open_file(true, kCossPageSize,
                         "coss: the filesystem refuses O_DIRECT, so stripes go through the page "
                         "cache");
  if (!done) co_return done;
  Result<CossRecovery> found = co_await recover_coss(
      file_, geometry(), volume_->previous_stripe_count(), environment_.executor, index_);
  if (!found) co_return found.error();
  recovery_.clean = found->clean;
  recovery_.dropped_damaged = found->damaged.size();
  for (const CossLiveStripe& stripe : found->live) log_.adopt(stripe.stripe, stripe.generation);
  log_.begin(found->newest_stripe, found->next_generation, found->floor);
  // From here on the store is not clean, and says so before anything else is written.
  done = co_await write_state(false, CossIndexExtent());
  if (!done) co_return done;
  // What hid these lies in stripes that the store no longer has.
  for (const KeyHash hash : found->resurrected) log_.note_removal(hash);
  if (!found->resurrected.empty()) done = co_await settle_removals();
  if (done) done = co_await wipe(found->stale);
  if (!done) co_return done;
  if (!volume_->adopt_size()) co_return Error(Errc::kIo, errno);
  recovery_.objects = index_.count();
  recovery_.size_bytes = index_.size_bytes();
  co_return Result<void>();
}

// Takes the trailers of stripes away.
Task<void> CossStore::wipe(std::span<const uint32_t> stripes) {
  const Space zeros = make_coss_buffer(kCossPageSize);
  for (const uint32_t stripe : stripes) {
    const uint64_t end = geometry().stripe_offset(stripe) + geometry().stripe_size_bytes;
    const Result<void> wiped = co_await file_->write(end - kCossPageSize, zeros.bytes());
    if (!wiped) co_return wiped;
  }
  if (stripes.empty()) co_return Result<void>();
  co_return co_await file_->sync();
}

// Brings all that is in memory to the disk.
Task<void> CossStore::settle_removals() {
  const auto deadline = boost::asio::steady_timer::clock_type::now() + kStopWaitMax;
  const uint64_t failures_max = log_.counts().flush_errors + kStopFailuresMax;
  while (log_.counts().flush_errors < failures_max) {
    static_cast<void>(log_.enter_owed_removals());
    log_.seal_open();
    while (log_.in_flight() > 0) co_await signal_->wait_for_ever();
    if (log_.all_sealed()) co_return Result<void>();
    // What has just failed is tried again at once; otherwise a membuf or a stripe has to come back.
    if (log_.removals_fit()) continue;
    const Result<void> waited = co_await signal_->wait(deadline);
    if (!waited) co_return waited;
  }
  co_return Error(Errc::kIo);
}

Task<void> CossStore::leave_clean() {
  if (!volume_->in_place()) co_return Error(Errc::kIo, errno);
  Result<void> done = co_await settle_removals();
  if (done) done = co_await file_->sync();
  if (!done) co_return done;
  // A store of very small objects has an index too large for its place: the next start reads the
  // directories of all stripes then, and misses nothing.
  const uint64_t size_bytes_max = coss_index_area_bytes(options_.capacity_bytes);
  const Result<CossIndexExtent> extent =
      co_await write_coss_index(*file_, geometry(), log_, index_, size_bytes_max);
  if (!extent) co_return extent.error();
  done = co_await file_->sync();
  if (!done) co_return done;
  co_return co_await write_state(true, *extent);
}

Task<void> CossStore::write_state(bool clean, CossIndexExtent index) {
  while (writing_state_) co_await signal_->wait_for_ever();
  writing_state_ = true;
  CossState state;
  state.clean = clean;
  state.floor = log_.floor();
  state.next_generation = log_.next_generation();
  state.index_offset = geometry().index_offset();
  state.index_size_bytes = index.size_bytes;
  state.index_checksum = index.checksum;
  const Space page = make_coss_buffer(kCossPageSize);
  encode_coss_state(state, geometry().store_id, page.bytes());
  Result<void> written = co_await file_->write(kCossStateOffset, page.bytes());
  if (written) written = co_await file_->sync();
  writing_state_ = false;
  if (written) log_.floor_written(state.floor);
  signal_->notify();
  co_return written;
}

void CossStore::begin_flush(uint32_t stripe) {
  Operation operation(shared_from_this());
  boost::asio::co_spawn(environment_.executor, flush(self(), stripe, std::move(operation)),
                        boost::asio::detached);
}

boost::asio::awaitable<void> CossStore::flush(std::shared_ptr<CossStore> store, uint32_t stripe,
                                              [[maybe_unused]] Operation operation) {
  bool written = false;
  try {
    const Result<void> result = co_await store->write_stripe(stripe);
    written = result.has_value();
  } catch (const std::bad_alloc&) {
    written = false;
  }
  store->log_.flushed(stripe, written);
}

Task<void> CossStore::write_stripe(uint32_t stripe) {
  const std::shared_ptr<std::byte> memory = log_.memory(stripe);
  while (!log_.may_overwrite(stripe)) {
    if (log_.older_in_flight(stripe)) {
      co_await signal_->wait_for_ever();
      continue;
    }
    const Result<void> declared = co_await write_state(false, CossIndexExtent());
    if (!declared) co_return declared;
  }
  const std::span<const std::byte> bytes(memory.get(), geometry().stripe_size_bytes);
  co_return co_await file_->write(geometry().stripe_offset(stripe), bytes);
}

size_t CossStore::pooled_read_size_max(uint64_t offset_bytes) const {
  const size_t usable = environment_.buffers.buffer_size_bytes() / alignment() * alignment();
  const size_t misalignment = offset_bytes % alignment();
  return usable > misalignment ? usable - misalignment : 0;
}

Task<Piece> CossStore::read_bytes(uint64_t offset_bytes, size_t size_bytes) {
  const uint64_t begin = offset_bytes / alignment() * alignment();
  const size_t length = round_up(offset_bytes + size_bytes, alignment()) - begin;
  Space buffer;
  if (size_bytes <= pooled_read_size_max(offset_bytes)) {
    Result<Space> pooled = co_await environment_.buffers.acquire();
    if (!pooled) co_return pooled.error();
    buffer = std::move(*pooled);
  } else {
    buffer = make_coss_buffer(round_up(length, kCossPageSize));
  }
  const Result<size_t> got = co_await file_->read(begin, buffer.bytes().first(length));
  if (!got) co_return got.error();
  if (*got < offset_bytes - begin + size_bytes) co_return Error(Errc::kCorrupt);
  co_return buffer.share(length).share(offset_bytes - begin, size_bytes);
}

Error CossStore::decline_for_room() {
  ++(log_.short_of_membufs() ? counts_.declined_membufs : counts_.declined_stripes);
  return Errc::kOverloaded;
}

bool CossStore::current(KeyHash hash, const CossVersion& version) const {
  return index_.find(hash) == version.location &&
         log_.generation(index_.stripe_of(version.location)) == version.generation;
}

bool CossStore::begin_relocation() {
  if (relocations_ >= kRelocationsMax || log_.membufs_scarce()) {
    ++counts_.relocations_given_up;
    return false;
  }
  ++relocations_;
  return true;
}

void CossStore::drop(KeyHash hash, CossLocation location, Errc reason) {
  if (!index_.erase(hash, location)) return;
  ++(reason == Errc::kCorrupt ? counts_.damaged : counts_.unreadable);
}

void CossStore::visit_counters(CounterVisitor& visitor) const {
  const CossLogCounts& log = log_.counts();
  visitor.gauge("objects", "", static_cast<double>(index_.count()));
  visitor.gauge("size_bytes", "", static_cast<double>(index_.size_bytes()));
  visitor.counter("evictions_total", "", log.evictions);
  visitor.counter("stripes_written_total", "", log.stripes_flushed);
  visitor.counter("stripe_write_errors_total", "", log.flush_errors);
  visitor.counter("stripes_skipped_total", "reason=\"being_read\"", log.pinned_skips);
  visitor.counter("removals_logged_total", "", log.removals);
  visitor.gauge("stripes_in_flight", "", static_cast<double>(log_.in_flight()));
  visitor.gauge("membufs_out", "", static_cast<double>(log_.membufs_out()));
  visitor.gauge("draft_bytes", "", static_cast<double>(draft_bytes_->load()));
  const uint64_t flushed = log.stripes_flushed * options_.stripe_size_bytes;
  visitor.counter("log_written_bytes_total", "", flushed);
  visitor.counter("log_accepted_bytes_total", "", counts_.accepted_bytes);
  visitor.counter("relocated_objects_total", "", counts_.relocated);
  visitor.counter("relocated_bytes_total", "", counts_.relocated_bytes);
  visitor.counter("relocations_given_up_total", "", counts_.relocations_given_up);
  visitor.counter("opens_in_membuf_total", "", counts_.reads_in_memory);
  visitor.counter("overloads_total", "reason=\"membufs\"", counts_.declined_membufs);
  visitor.counter("overloads_total", "reason=\"stripes_being_read\"", counts_.declined_stripes);
  visitor.counter("overloads_total", "reason=\"engine\"", counts_.declined_engine);
  visitor.counter("overloads_total", "reason=\"arriving_objects\"", counts_.declined_drafts);
  visitor.counter("dropped_objects_total", "reason=\"damaged\"", counts_.damaged);
  visitor.counter("dropped_objects_total", "reason=\"unreadable\"", counts_.unreadable);
  visitor.counter("dropped_objects_total", "reason=\"unwritten\"", log.objects_unwritten);
  visitor.counter("hash_collisions_total", "", counts_.collisions);
  engine_->visit_counters(visitor);
}

}  // namespace storage
