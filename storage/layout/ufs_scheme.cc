#include "storage/layout/ufs_scheme.h"

#include <utility>

#include "storage/base/guarded_task.h"
#include "storage/io/blocking.h"
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

// By the hash alone: an object that another key has under the same hash goes too, which a cache
// may do and which costs no read.
Task<void> remove_object(std::shared_ptr<UfsStore> store, Key key) {
  if (!store->running()) co_return Error(Errc::kStopped);
  const UfsStore::Operation operation(store);
  const std::optional<UfsLogRecord> removed = store->index().erase(key.hash());
  if (!removed) co_return Result<void>();
  const Result<void> discarded = co_await store->discard(*removed);
  (void)co_await store->tidy();
  co_return discarded;
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

SchemeOrError make_file_per_object(std::string_view name, const SchemeSpec& spec,
                                   const SchemeEnvironment& environment,
                                   const EngineFactory& make_engine) {
  SchemeOrError made;
  const UfsOptions options = parse_ufs_options(spec, made.error);
  if (!made.error.empty()) return made;
  std::unique_ptr<UfsDirectory> directory =
      UfsDirectory::open(spec.path, options.shape, UfsDirectory::Access::kUse, made.error);
  if (directory == nullptr) return made;
  std::unique_ptr<IoEngine> engine = make_engine(directory->fd(), environment);
  made.scheme = std::make_unique<UfsScheme>(std::make_shared<UfsStore>(
      name, options, environment, std::move(directory), std::move(engine)));
  return made;
}

SchemeOrError make_ufs(const SchemeSpec& spec, const SchemeEnvironment& environment) {
  return make_file_per_object(
      "ufs", spec, environment, [](int directory_fd, const SchemeEnvironment& outside) {
        return std::make_unique<BlockingEngine>(outside.clock, directory_fd);
      });
}

}  // namespace storage
