#include "storage/layout/memory_front.h"

#include <string>
#include <unordered_map>
#include <utility>

#include "storage/layout/memory.h"
#include "storage/layout/memory_store.h"
#include "storage/replacement/lru.h"

namespace storage {
namespace {

struct Activity;
using Activities = std::unordered_map<KeyHash, std::weak_ptr<Activity>, KeyHashHasher>;

/// What is under way on one key (or on keys of one hash, which does no harm): lives while a change
/// or a reader from disk does.
struct Activity {
  Activity(Activities& all_in, KeyHash hash_in) : all(all_in), hash(hash_in) {}
  ~Activity() { all.erase(hash); }
  Activity(const Activity&) = delete;
  Activity& operator=(const Activity&) = delete;

  Activities& all;
  const KeyHash hash;
  uint64_t version = 0;     ///< Grows when a change begins: what was opened before is old.
  unsigned changes = 0;     ///< Changes that run now.
  bool overlapped = false;  ///< More than one ran at once, so their order on disk is unknown.
  bool promoting = false;   ///< A reader is copying this version into memory,
  bool promoted = false;    ///< or has done so.
};

/// A change of one key on disk, from before it begins until its end is known in memory too. Unless
/// settle() said that memory holds what the disk now holds, memory forgets the key: after errors,
/// cancellation, or changes that overlapped.
class Change {
 public:
  Change(std::shared_ptr<Activity> activity, MemoryStore& memory, const Key& key)
      : activity_(std::move(activity)), memory_(memory), key_(key) {
    ++activity_->version;
    activity_->overlapped = activity_->changes > 0;
    activity_->promoted = false;
    ++activity_->changes;
  }
  ~Change() {
    if (!settled_) memory_.remove(key_);
    if (--activity_->changes == 0) activity_->overlapped = false;
  }
  Change(const Change&) = delete;
  Change& operator=(const Change&) = delete;

  /// Whether no other change of the key ran at any time beside this one.
  bool alone() const { return !activity_->overlapped; }
  void settle() { settled_ = true; }

 private:
  std::shared_ptr<Activity> activity_;
  MemoryStore& memory_;
  const Key key_;
  bool settled_ = false;
};

/// What the front counts beside its MemoryStore.
struct FrontCounts {
  uint64_t hits = 0;
  uint64_t misses = 0;
  uint64_t promotions = 0;
};

/// Reads from disk and copies into memory what is read in one go from the first byte to the last,
/// unless the key was changed since it was opened.
class PromotingReader final : public Reader {
 public:
  PromotingReader(std::unique_ptr<Reader> disk, std::shared_ptr<Activity> activity, Key key,
                  MemoryStore& memory, FrontCounts& counts)
      : disk_(std::move(disk)),
        activity_(std::move(activity)),
        version_(activity_->version),
        key_(std::move(key)),
        memory_(memory),
        counts_(counts) {}
  ~PromotingReader() override { give_up(); }

  const Metadata& metadata() const override { return disk_->metadata(); }
  uint64_t body_size_bytes() const override { return disk_->body_size_bytes(); }
  bool in_memory() const override { return disk_->in_memory(); }

  Task<Piece> read(uint64_t offset_bytes, size_t size_bytes_max) override {
    Result<Piece> piece = co_await disk_->read(offset_bytes, size_bytes_max);
    if (piece.has_error()) {
      give_up();
    } else if (!continue_promotion(offset_bytes, piece->bytes())) {
      give_up();
    }
    co_return piece;
  }

 private:
  /// False where there is no promotion (any more).
  bool continue_promotion(uint64_t offset_bytes, std::span<const std::byte> bytes) {
    if (activity_->version != version_) return false;
    if (!draft_ && !begin_promotion(offset_bytes)) return false;
    if (offset_bytes != draft_->size_bytes()) return false;
    if (draft_->append_copy(bytes).has_error()) return false;
    if (draft_->size_bytes() < disk_->body_size_bytes()) return true;
    if (draft_->publish().has_value()) {
      activity_->promoted = true;
      ++counts_.promotions;
    }
    return false;
  }

  bool begin_promotion(uint64_t offset_bytes) {
    if (offset_bytes != 0 || activity_->promoting || activity_->promoted) return false;
    Result<std::unique_ptr<MemoryDraft>> draft =
        memory_.begin(key_, disk_->metadata(), disk_->body_size_bytes());
    if (draft.has_error()) return false;
    draft_ = std::move(*draft);
    activity_->promoting = true;
    return true;
  }

  void give_up() {
    if (draft_) activity_->promoting = false;
    draft_.reset();
  }

  std::unique_ptr<Reader> disk_;
  std::shared_ptr<Activity> activity_;
  const uint64_t version_;
  const Key key_;
  MemoryStore& memory_;
  FrontCounts& counts_;
  std::unique_ptr<MemoryDraft> draft_;
};

/// Writes to disk, and to memory for as long as the object fits there.
class FrontWriter final : public Writer {
 public:
  FrontWriter(std::unique_ptr<Writer> disk, std::unique_ptr<MemoryDraft> draft, Key key,
              MemoryStore& memory, Activities& activities);

  Task<Space> reserve(size_t size_hint_bytes) override { return disk_->reserve(size_hint_bytes); }

  Result<void> append(Space space, size_t used_bytes) override {
    if (draft_ && draft_->append_copy(space.bytes().first(used_bytes)).has_error()) draft_.reset();
    return disk_->append(std::move(space), used_bytes);
  }

  Task<void> commit() override;

 private:
  std::unique_ptr<Writer> disk_;
  std::unique_ptr<MemoryDraft> draft_;
  const Key key_;
  MemoryStore& memory_;
  Activities& activities_;
};

std::shared_ptr<Activity> activity_of(Activities& activities, const Key& key) {
  std::weak_ptr<Activity>& known = activities[key.hash()];
  std::shared_ptr<Activity> activity = known.lock();
  if (!activity) {
    activity = std::make_shared<Activity>(activities, key.hash());
    known = activity;
  }
  return activity;
}

FrontWriter::FrontWriter(std::unique_ptr<Writer> disk, std::unique_ptr<MemoryDraft> draft, Key key,
                         MemoryStore& memory, Activities& activities)
    : disk_(std::move(disk)),
      draft_(std::move(draft)),
      key_(std::move(key)),
      memory_(memory),
      activities_(activities) {}

Task<void> FrontWriter::commit() {
  Change change(activity_of(activities_, key_), memory_, key_);
  const Result<void> committed = co_await disk_->commit();
  if (committed.has_value() && draft_ && change.alone() && draft_->publish().has_value()) {
    change.settle();
  }
  co_return committed;
}

class MemoryFront final : public StorageScheme {
 public:
  MemoryFront(std::unique_ptr<StorageScheme> disk, const MemoryFrontOptions& options)
      : memory_(options.capacity_bytes, options.object_size_bytes_max, options.key_hash_bits,
                std::make_unique<LruPolicy>()),
        disk_(std::move(disk)) {}

  const SchemeInfo& info() const override { return disk_->info(); }

  Task<RecoveryReport> start() override { return disk_->start(); }

  Task<std::unique_ptr<Reader>> open(Key key) override {
    if (std::shared_ptr<const MemoryObject> object = memory_.find(key)) {
      ++counts_.hits;
      co_return make_memory_reader(memory_, std::move(object));
    }
    ++counts_.misses;
    std::shared_ptr<Activity> activity = activity_of(activities_, key);
    const uint64_t version = activity->version;
    const bool changing = activity->changes > 0;
    Result<std::unique_ptr<Reader>> reader = co_await disk_->open(key);
    if (reader.has_error() || changing || activity->version != version) co_return reader;
    co_return std::make_unique<PromotingReader>(std::move(*reader), std::move(activity),
                                                std::move(key), memory_, counts_);
  }

  Task<std::unique_ptr<Writer>> create(Key key, Metadata metadata,
                                       std::optional<uint64_t> body_size_bytes) override {
    Result<std::unique_ptr<Writer>> writer = co_await disk_->create(key, metadata, body_size_bytes);
    if (writer.has_error()) co_return writer.error();
    Result<std::unique_ptr<MemoryDraft>> draft =
        memory_.begin(key, std::move(metadata), body_size_bytes);
    co_return std::make_unique<FrontWriter>(std::move(*writer),
                                            draft.has_value() ? std::move(*draft) : nullptr,
                                            std::move(key), memory_, activities_);
  }

  Task<void> update(Key key, Metadata metadata) override {
    Change change(activity_of(activities_, key), memory_, key);
    const Result<void> updated = co_await disk_->update(key, metadata);
    if (updated.has_value() && change.alone() &&
        memory_.update(key, std::move(metadata)).has_value()) {
      change.settle();
    }
    co_return updated;
  }

  Task<void> remove(Key key) override {
    // Memory forgets it first, and again at the end of the change: nothing serves it after an
    // error.
    memory_.remove(key);
    const Change change(activity_of(activities_, key), memory_, key);
    co_return co_await disk_->remove(key);
  }

  Task<void> stop(StopMode mode) override {
    memory_.close();
    co_return co_await disk_->stop(mode);
  }

  void visit_counters(CounterVisitor& visitor) const override {
    visitor.counter("memory_front_opens_total", "result=\"hit\"", counts_.hits);
    visitor.counter("memory_front_opens_total", "result=\"miss\"", counts_.misses);
    visitor.counter("memory_front_promotions_total", "", counts_.promotions);
    memory_.visit_counters(visitor, "memory_front_");
    disk_->visit_counters(visitor);
  }

 private:
  FrontCounts counts_;
  Activities activities_;
  MemoryStore memory_;
  std::unique_ptr<StorageScheme> disk_;
};

}  // namespace

std::unique_ptr<StorageScheme> make_memory_front(std::unique_ptr<StorageScheme> disk,
                                                 const MemoryFrontOptions& options) {
  return std::make_unique<MemoryFront>(std::move(disk), options);
}

}  // namespace storage
