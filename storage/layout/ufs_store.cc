#include "storage/layout/ufs_store.h"

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cerrno>

#include "storage/layout/filesystem_room.h"
#include "storage/layout/ufs_rebuild.h"
#include "storage/layout/ufs_writer.h"
#include "storage/replacement/policies.h"

namespace storage {

namespace {

// Objects that one change may evict on the way down to the low water mark: bounds the delay of
// the request that pays for it. Down to the capacity itself there is no bound.
constexpr int kEvictionsPerChange = 8;
constexpr unsigned kDiskSpaceAttempts = 4;

std::unique_ptr<ReplacementPolicy> make_checked_policy(const UfsOptions& options) {
  std::string error;  // The name was checked when the options were read.
  return make_policy(options.policy, options.capacity_bytes, error);
}

}  // namespace

uint64_t ufs_expected_footprint(uint64_t file_size_bytes) {
  constexpr uint64_t kUnit = 4096;
  return (file_size_bytes + kUnit - 1) / kUnit * kUnit;
}

UfsStore::Operation::Operation(std::shared_ptr<UfsStore> store) : store_(std::move(store)) {
  ++store_->operations_;
}

UfsStore::Operation::~Operation() {
  if (store_ != nullptr && --store_->operations_ == 0) store_->changed_.cancel();
}

UfsStore::UfsStore(std::string_view name, const UfsOptions& options,
                   const SchemeEnvironment& environment, std::unique_ptr<UfsDirectory> directory,
                   std::unique_ptr<IoEngine> engine)
    : options_(options),
      environment_(environment),
      directory_(std::move(directory)),
      engine_(std::move(engine)),
      index_(make_checked_policy(options), environment.key_hash_bits),
      log_(*engine_),
      changed_(environment.executor) {
  changed_.expires_at(boost::asio::steady_timer::time_point::max());
  info_.name = name;
  info_.persistent = true;
  info_.capacity_bytes = options.capacity_bytes;
  info_.object_size_bytes_max = options.object_size_bytes_max;
}

std::string UfsStore::object_path(uint64_t sequence) const {
  return ufs_object_path(options_.shape, sequence);
}

Task<RecoveryReport> UfsStore::start() {
  if (state_ != State::kNew) co_return Error(Errc::kStopped);
  const SteadyTime begin = environment_.clock.steady_now();
  const Operation operation(shared_from_this());
  Result<UfsRecovery> recovery =
      co_await recover_ufs(*engine_, *directory_, environment_.buffers, index_, log_);
  if (!recovery) co_return recovery.error();
  if (state_ != State::kNew) co_return Error(Errc::kStopped);
  next_sequence_ = recovery->next_sequence;
  state_ = State::kRunning;
  // The store may have been larger when it was written.
  while (used_bytes() > options_.capacity_bytes) {
    const Result<bool> evicted = co_await evict_one();
    if (!evicted || !*evicted) break;
  }
  recovery_ = recovery->report;
  recovery_.objects = index_.count();
  recovery_.size_bytes = index_.size_bytes();
  std::string warning =
      beyond_filesystem(directory_->fd(), options_.capacity_bytes, recovery_.size_bytes);
  if (!warning.empty()) info_.warnings.push_back(std::move(warning));
  recovery_.duration = environment_.clock.steady_now() - begin;
  co_return recovery_;
}

Task<void> UfsStore::stop(StopMode mode) {
  const bool was_running = state_ == State::kRunning;
  if (state_ == State::kStopping) {
    while (state_ != State::kStopped) (void)co_await wait_for_change();
  }
  if (state_ == State::kStopped) co_return Result<void>();
  abandoned_ = mode == StopMode::kAbandon;
  state_ = State::kStopping;
  while (operations_ > 0) (void)co_await wait_for_change();
  Result<void> result;
  if (was_running) {
    // All of them before the first await: one may be destroyed meanwhile.
    std::vector<Leftover> leftovers;
    for (UfsWriter* writer : writers_) leftovers.push_back(writer->give_up_for_stop());
    for (Leftover& leftover : leftovers) {
      leftover.file.reset();
      (void)co_await discard_temporary(std::move(leftover.path), leftover.reserved_bytes);
    }
    if (!abandoned_) result = co_await leave_clean();
  }
  state_ = State::kStopped;
  directory_->unlock();
  changed_.cancel();
  co_return result;
}

Task<void> UfsStore::wait_for_change() {
  // The timer never expires: a cancel is how a change is told.
  boost::system::error_code ended;
  co_await changed_.async_wait(boost::asio::redirect_error(boost::asio::use_awaitable, ended));
  co_return Result<void>();
}

Task<void> UfsStore::leave_clean() {
  (void)co_await retry_condemned(condemned_.size());
  // A file that cannot be removed must be found again: only the scan after a crash does that.
  if (!condemned_.empty()) co_return Error(Errc::kIo);
  std::vector<UfsLogRecord> records;
  records.reserve(index_.count());
  while (std::optional<UfsLogRecord> next = index_.take_victim()) records.push_back(*next);
  for (unsigned attempt = 0;; ++attempt) {
    const Result<void> written = co_await log_.rewrite(records, true, next_sequence_);
    const bool full = !written && written.error().code == Errc::kNoSpace;
    if (!full || attempt >= kDiskSpaceAttempts || records.empty()) co_return written;
    // A full disk: the objects that would have gone next make room for the log.
    ++counts_.disk_full;
    const size_t victims = records.size() / 64 + 1;
    for (size_t i = 0; i < victims; ++i) {
      ++counts_.evictions;
      const Result<void> unlinked = co_await engine_->unlink(object_path(records[i].sequence));
      if (!unlinked && unlinked.error().code != Errc::kNotFound) co_return unlinked;
    }
    records.erase(records.begin(), records.begin() + static_cast<ptrdiff_t>(victims));
  }
}

Task<void> UfsStore::reserve_space(uint64_t size_bytes) {
  while (used_bytes() + size_bytes > options_.capacity_bytes) {
    const Result<bool> evicted = co_await evict_one();
    if (!evicted || !*evicted) co_return Error(Errc::kNoSpace);
  }
  reserved_bytes_ += size_bytes;
  co_return Result<void>();
}

void UfsStore::release_space(uint64_t size_bytes) {
  reserved_bytes_ -= size_bytes;
}

Task<void> UfsStore::make_disk_space(uint64_t size_bytes, unsigned attempt) {
  ++counts_.disk_full;
  if (attempt >= kDiskSpaceAttempts) co_return Error(Errc::kNoSpace);
  // More than was asked for, so that the next writers need not evict again.
  const uint64_t wanted = std::max(2 * size_bytes, index_.size_bytes() / 64);
  const uint64_t before = index_.size_bytes();
  while (before - std::min(before, index_.size_bytes()) < wanted) {
    const Result<bool> evicted = co_await evict_one();
    if (!evicted || !*evicted) break;
  }
  if (index_.size_bytes() >= before) co_return Error(Errc::kNoSpace);
  co_return Result<void>();
}

Task<void> UfsStore::tidy() {
  (void)co_await retry_condemned(1);
  const uint64_t high = options_.capacity_bytes / 100 * options_.high_water_percent;
  const uint64_t low = options_.capacity_bytes / 100 * options_.low_water_percent;
  for (int evictions = 0;; ++evictions) {
    // What writers have reserved does not push out what was just stored.
    evicting_ = index_.size_bytes() > (evicting_ ? low : high) && index_.count() > 1;
    const bool over = used_bytes() > options_.capacity_bytes;
    if (!over && (!evicting_ || evictions >= kEvictionsPerChange)) break;
    const Result<bool> evicted = co_await evict_one();
    if (!evicted || !*evicted) break;
  }
  (void)co_await log_.flush();
  if (log_.overgrown(index_.count())) {
    (void)co_await log_.rewrite(index_.by_sequence(), false, next_sequence_);
  }
  co_return Result<void>();
}

Task<bool> UfsStore::evict_one() {
  const std::optional<UfsLogRecord> victim = index_.take_victim();
  if (!victim) co_return false;
  ++counts_.evictions;
  (void)co_await discard(*victim);  // counted, and tried again later
  co_return true;
}

Task<void> UfsStore::publish(UfsLogRecord object, uint64_t reserved_bytes,
                             std::optional<uint64_t> replaces) {
  const std::string temporary = ufs_temporary_path(options_.shape, object.sequence);
  for (unsigned attempt = 0;; ++attempt) {
    if (abandoned_) co_return Error(Errc::kStopped);
    const Result<void> renamed = co_await engine_->rename(temporary, object_path(object.sequence));
    if (renamed) break;
    if (renamed.error().system_errno == EIO) {
      // It may have been done all the same, by a helper that died before it could say so.
      (void)co_await unlink_or_condemn(object_path(object.sequence), 0);
    }
    if (renamed.error().code != Errc::kNoSpace) co_return renamed;
    const Result<void> freed = co_await make_disk_space(object.allocated_bytes, attempt);
    if (!freed) co_return renamed;
  }
  const std::optional<UfsLogRecord> current = index_.find(object.hash);
  if (replaces && (!current || current->sequence != *replaces)) {
    (void)co_await discard(object);
    co_return Error(Errc::kNotFound);
  }
  release_space(reserved_bytes);
  const std::optional<UfsLogRecord> replaced = index_.insert(object);
  log_.note(object);
  if (replaced) (void)co_await discard(*replaced);
  (void)co_await tidy();
  co_return Result<void>();
}

Task<void> UfsStore::discard(UfsLogRecord object) {
  object.kind = UfsLogRecord::Kind::kRemove;
  log_.note(object);
  co_return co_await unlink_or_condemn(object_path(object.sequence), object.allocated_bytes);
}

Task<void> UfsStore::drop(UfsLogRecord object, Errc reason) {
  if (!index_.erase(object.hash, object.sequence)) co_return Result<void>();
  ++(reason == Errc::kNotFound ? counts_.missing
     : reason == Errc::kIo     ? counts_.unreadable
                               : counts_.damaged);
  (void)co_await discard(object);
  co_return Result<void>();
}

Task<void> UfsStore::unlink_or_condemn(std::string path, uint64_t size_bytes) {
  if (abandoned_) co_return Error(Errc::kStopped);
  condemned_bytes_ += size_bytes;
  const Result<void> unlinked = co_await engine_->unlink(path);
  if (unlinked || unlinked.error().code == Errc::kNotFound) {
    condemned_bytes_ -= size_bytes;
    co_return Result<void>();
  }
  ++counts_.unlink_errors;
  Condemned condemned;
  condemned.path = std::move(path);
  condemned.size_bytes = size_bytes;
  condemned_.push_back(std::move(condemned));
  co_return unlinked;
}

Task<void> UfsStore::retry_condemned(size_t files_max) {
  for (; files_max > 0 && !condemned_.empty(); --files_max) {
    const Condemned next = std::move(condemned_.back());
    condemned_.pop_back();
    const Result<void> unlinked = co_await engine_->unlink(next.path);
    if (unlinked || unlinked.error().code == Errc::kNotFound) {
      condemned_bytes_ -= next.size_bytes;
    } else {
      condemned_.insert(condemned_.begin(), next);  // behind the others
    }
  }
  co_return Result<void>();
}

Task<void> UfsStore::discard_temporary(std::string path, uint64_t reserved_bytes) {
  Result<void> unlinked;
  if (!path.empty()) unlinked = co_await unlink_or_condemn(std::move(path), reserved_bytes);
  release_space(reserved_bytes);
  co_return unlinked;
}

void UfsStore::discard_later(Leftover leftover) {
  if (leftover.file == nullptr) release_space(leftover.reserved_bytes);
  if (leftover.file == nullptr || state_ == State::kStopped) return;
  boost::asio::co_spawn(
      environment_.executor,
      clean_up(std::move(leftover), shared_from_this(), Operation(shared_from_this())),
      [store = shared_from_this()](const std::exception_ptr& failure) {
        if (failure) ++store->counts_.cleanup_errors;
      });
}

boost::asio::awaitable<void> UfsStore::clean_up(Leftover leftover, std::shared_ptr<UfsStore> store,
                                                Operation operation) {
  const Operation held = std::move(operation);
  (void)co_await leftover.file->close();
  leftover.file.reset();
  (void)co_await store->discard_temporary(std::move(leftover.path), leftover.reserved_bytes);
}

void UfsStore::visit_counters(CounterVisitor& visitor) const {
  visitor.gauge("objects", "", static_cast<double>(index_.count()));
  visitor.gauge("size_bytes", "", static_cast<double>(index_.size_bytes()));
  visitor.gauge("reserved_bytes", "", static_cast<double>(reserved_bytes_));
  visitor.gauge("unremovable_bytes", "", static_cast<double>(condemned_bytes_));
  visitor.counter("evictions_total", "", counts_.evictions);
  visitor.gauge("replacement_policy", "policy=\"" + std::string(index_.policy_name()) + "\"", 1);
  visitor.counter("disk_full_total", "", counts_.disk_full);
  visitor.counter("dropped_objects_total", "reason=\"damaged\"", counts_.damaged);
  visitor.counter("dropped_objects_total", "reason=\"unreadable\"", counts_.unreadable);
  visitor.counter("dropped_objects_total", "reason=\"missing\"", counts_.missing);
  visitor.counter("hash_collisions_total", "", counts_.collisions);
  visitor.counter("unlink_errors_total", "", counts_.unlink_errors);
  visitor.counter("cleanup_errors_total", "", counts_.cleanup_errors);
  visitor.counter("update_methods_total", "how=\"in_place\"", counts_.updates_in_place);
  visitor.counter("update_methods_total", "how=\"rewritten\"", counts_.updates_rewritten);
  visitor.counter("swap_log_rewrites_total", "", log_.rewrites());
  visitor.counter("swap_log_errors_total", "", log_.write_errors());
  engine_->visit_counters(visitor);
}

}  // namespace storage
