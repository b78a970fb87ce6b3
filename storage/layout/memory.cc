#include "storage/layout/memory.h"

#include <array>

#include "storage/base/units.h"
#include "storage/replacement/policies.h"

namespace storage {
namespace {

/// Below this not even a handful of small objects fits.
constexpr uint64_t kCapacityMin = 64 * kKiB;

constexpr std::array<SchemeOption, 2> kOptions = {{
    {"max-object", "a quarter of size", "largest body that is kept, e.g. 8M"},
    {"policy", kDefaultPolicy, kPolicyMeaning},
}};

class MemoryReader final : public Reader {
 public:
  MemoryReader(const MemoryStore& store, std::shared_ptr<const MemoryObject> object)
      : store_(store), object_(std::move(object)) {}

  const Metadata& metadata() const override { return object_->metadata(); }
  uint64_t body_size_bytes() const override { return object_->body()->size_bytes(); }
  bool in_memory() const override { return true; }
  Task<Piece> read(uint64_t offset_bytes, size_t size_bytes_max) override {
    if (store_.closed()) co_return Error(Errc::kStopped);
    co_return object_->body()->piece(offset_bytes, size_bytes_max);
  }

 private:
  const MemoryStore& store_;
  std::shared_ptr<const MemoryObject> object_;
};

class MemoryWriter final : public Writer {
 public:
  explicit MemoryWriter(std::unique_ptr<MemoryDraft> draft) : draft_(std::move(draft)) {}

  Task<Space> reserve(size_t size_hint_bytes) override {
    co_return draft_->reserve(size_hint_bytes);
  }
  Result<void> append(Space space, size_t used_bytes) override {
    return draft_->append(space, used_bytes);
  }
  Task<void> commit() override { co_return draft_->publish(); }

 private:
  std::unique_ptr<MemoryDraft> draft_;
};

class MemoryScheme final : public StorageScheme {
 public:
  MemoryScheme(uint64_t capacity_bytes, uint64_t object_size_bytes_max, unsigned key_hash_bits,
               std::unique_ptr<ReplacementPolicy> policy)
      : store_(capacity_bytes, object_size_bytes_max, key_hash_bits, std::move(policy)) {
    info_.name = "memory";
    info_.capacity_bytes = capacity_bytes;
    info_.object_size_bytes_max = object_size_bytes_max;
  }

  const SchemeInfo& info() const override { return info_; }

  Task<RecoveryReport> start() override {
    if (store_.closed()) co_return Error(Errc::kStopped);
    started_ = true;
    co_return RecoveryReport();
  }

  Task<std::unique_ptr<Reader>> open(Key key) override {
    if (!serving()) co_return Error(Errc::kStopped);
    std::shared_ptr<const MemoryObject> object = store_.find(key);
    if (!object) co_return Error(Errc::kNotFound);
    co_return make_memory_reader(store_, std::move(object));
  }

  Task<std::unique_ptr<Writer>> create(Key key, Metadata metadata,
                                       std::optional<uint64_t> body_size_bytes) override {
    if (!serving()) co_return Error(Errc::kStopped);
    Result<std::unique_ptr<MemoryDraft>> draft =
        store_.begin(std::move(key), std::move(metadata), body_size_bytes);
    if (draft.has_error()) co_return draft.error();
    co_return std::make_unique<MemoryWriter>(std::move(*draft));
  }

  Task<void> update(Key key, Metadata metadata) override {
    if (!serving()) co_return Error(Errc::kStopped);
    co_return store_.update(key, std::move(metadata));
  }

  Task<void> remove(Key key) override {
    if (!serving()) co_return Error(Errc::kStopped);
    store_.remove(key);
    co_return Result<void>();
  }

  Task<void> stop(StopMode) override {
    store_.close();
    co_return Result<void>();
  }

  void visit_counters(CounterVisitor& visitor) const override {
    store_.visit_counters(visitor, "");
  }

 private:
  bool serving() const { return started_ && !store_.closed(); }

  SchemeInfo info_;
  MemoryStore store_;
  bool started_ = false;
};

}  // namespace

std::unique_ptr<Reader> make_memory_reader(const MemoryStore& store,
                                           std::shared_ptr<const MemoryObject> object) {
  return std::make_unique<MemoryReader>(store, std::move(object));
}

std::span<const SchemeOption> memory_options() {
  return kOptions;
}

SchemeOrError make_memory(const SchemeSpec& spec, const SchemeEnvironment& environment) {
  SchemeOrError made;
  if (spec.capacity_bytes < kCapacityMin) {
    made.error = "scheme memory: size is too small: at least " + format_size(kCapacityMin);
    return made;
  }
  uint64_t object_size_bytes_max = spec.capacity_bytes / 4;
  if (const auto option = spec.options.find("max-object"); option != spec.options.end()) {
    const std::optional<uint64_t> size = parse_size_bytes(option->second);
    if (!size || *size == 0 || *size > spec.capacity_bytes) {
      made.error = "scheme memory: max-object=" + option->second +
                   " is not a size between 1 and the cache's size, such as 8M";
      return made;
    }
    object_size_bytes_max = *size;
  }
  const auto option = spec.options.find("policy");
  std::unique_ptr<ReplacementPolicy> policy =
      make_policy(option != spec.options.end() ? std::string_view(option->second) : kDefaultPolicy,
                  spec.capacity_bytes, made.error);
  if (!policy) {
    made.error = "scheme memory: " + made.error;
    return made;
  }
  made.scheme = std::make_unique<MemoryScheme>(spec.capacity_bytes, object_size_bytes_max,
                                               environment.key_hash_bits, std::move(policy));
  return made;
}

}  // namespace storage
