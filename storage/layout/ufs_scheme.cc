#include "storage/layout/ufs_scheme.h"

#include <utility>

#include "storage/base/guarded_task.h"
#include "storage/layout/ufs_object.h"
#include "storage/layout/ufs_options.h"
#include "storage/layout/ufs_reader.h"
#include "storage/layout/ufs_store.h"
#include "storage/layout/ufs_update.h"
#include "storage/layout/ufs_writer.h"

namespace storage {

namespace {

Task<std::unique_ptr<Reader>> open_object(std::shared_ptr<UfsStore> store, Key key) {
  Result<std::unique_ptr<UfsReader>> reader =
      co_await open_ufs_object(std::move(store), std::move(key));
  if (!reader) co_return reader.error();
  co_return std::unique_ptr<Reader>(std::move(*reader));
}

// Whether the file holds this key's object; a file that cannot be read might.
Task<bool> may_hold(std::shared_ptr<UfsStore> store, UfsLogRecord object, const Key& key) {
  Result<std::unique_ptr<File>> file =
      co_await store->engine().open(store->object_path(object.sequence), OpenMode::kRead);
  if (!file) co_return true;
  const Result<UfsHead> head = co_await read_ufs_head(**file, store->buffers(), object.sequence);
  co_return !head || head->key == key.text();
}

Task<void> remove_object(std::shared_ptr<UfsStore> store, Key key) {
  if (!store->running()) co_return Error(Errc::kStopped);
  const UfsStore::Operation operation(store);
  while (const std::optional<UfsLogRecord> object = store->index().find(key.hash())) {
    const Result<bool> its_own = co_await may_hold(store, *object, key);
    if (its_own && !*its_own) co_return Result<void>();
    // Replaced meanwhile: then the newer one is looked at.
    if (!store->index().erase(key.hash(), object->sequence)) continue;
    const Result<void> discarded = co_await store->discard(*object);
    (void)co_await store->tidy();
    co_return discarded;
  }
  co_return Result<void>();
}

class UfsScheme final : public StorageScheme {
 public:
  explicit UfsScheme(std::shared_ptr<UfsStore> store) : store_(std::move(store)) {}

  const SchemeInfo& info() const override { return store_->info(); }
  Task<RecoveryReport> start() override { return guarded(store_->start()); }
  Task<std::unique_ptr<Reader>> open(Key key) override {
    return guarded(open_object(store_, std::move(key)));
  }
  Task<std::unique_ptr<Writer>> create(Key key, Metadata metadata,
                                       std::optional<uint64_t> body_size_bytes) override {
    return guarded(create_ufs_object(store_, std::move(key), std::move(metadata), body_size_bytes,
                                     std::nullopt));
  }
  Task<void> update(Key key, Metadata metadata) override {
    return guarded(update_ufs_object(store_, std::move(key), std::move(metadata)));
  }
  Task<void> remove(Key key) override { return guarded(remove_object(store_, std::move(key))); }
  Task<void> stop(StopMode mode) override { return guarded(store_->stop(mode)); }
  void visit_counters(CounterVisitor& visitor) const override { store_->visit_counters(visitor); }

 private:
  std::shared_ptr<UfsStore> store_;
};

}  // namespace

std::span<const SchemeOption> ufs_options() {
  return ufs_option_table();
}

uint64_t ufs_largest_object(const SchemeSpec& spec, std::string& error) {
  return parse_ufs_options(spec, error).object_size_bytes_max;
}

SchemeOrError make_file_per_object(std::string_view name, const SchemeSpec& spec,
                                   const SchemeEnvironment& environment,
                                   const EngineFactory& make_engine) {
  SchemeOrError made;
  const UfsOptions options = parse_ufs_options(spec, made.error);
  if (!made.error.empty()) return made;
  made.not_opened = true;
  std::unique_ptr<UfsDirectory> directory =
      UfsDirectory::open(spec.path, options.shape, UfsDirectory::Access::kUse, made.error);
  if (directory == nullptr) return made;
  SchemeEnvironment outside = environment;
  if (environment.on_event) {
    outside.on_event = [tell = environment.on_event,
                        path = spec.path.string()](const std::string& line) {
      tell("cache directory " + path + ": " + line);
    };
  }
  EngineOrError engine = make_engine(directory->fd(), outside);
  if (engine.engine == nullptr) {
    made.error = "scheme " + spec.scheme + ": " + engine.error;
    return made;
  }
  made.not_opened = false;
  made.scheme = std::make_unique<UfsScheme>(std::make_shared<UfsStore>(
      name, options, environment, std::move(directory), std::move(engine.engine)));
  return made;
}

}  // namespace storage
