#include "storage/layout/coss_scheme.h"

#include <unistd.h>

#include <initializer_list>
#include <string_view>
#include <utility>

#include "storage/base/guarded_task.h"
#include "storage/base/random.h"
#include "storage/io/engine_factory.h"
#include "storage/layout/coss_options.h"
#include "storage/layout/coss_reader.h"
#include "storage/layout/coss_rewrite.h"
#include "storage/layout/coss_store.h"
#include "storage/layout/coss_writer.h"

namespace storage {

namespace {

Task<std::unique_ptr<Writer>> create_object(std::shared_ptr<CossStore> store, Key key,
                                            Metadata metadata,
                                            std::optional<uint64_t> body_size_bytes) {
  co_return create_coss_object(std::move(store), std::move(key), std::move(metadata),
                               body_size_bytes);
}

// An object of another key with the same hash goes too, which is a miss and no more.
Task<void> remove_object(std::shared_ptr<CossStore> store, Key key) {
  if (!store->running()) co_return Error(Errc::kStopped);
  if (store->index().erase(key.hash())) store->log().note_removal(key.hash());
  co_return Result<void>();
}

class CossScheme final : public StorageScheme {
 public:
  explicit CossScheme(std::shared_ptr<CossStore> store) : store_(std::move(store)) {}

  const SchemeInfo& info() const override { return store_->info(); }
  Task<RecoveryReport> start() override { return guarded(store_->start()); }
  Task<std::unique_ptr<Reader>> open(Key key) override {
    return guarded(open_coss_object(store_, std::move(key)));
  }
  Task<std::unique_ptr<Writer>> create(Key key, Metadata metadata,
                                       std::optional<uint64_t> body_size_bytes) override {
    return guarded(create_object(store_, std::move(key), std::move(metadata), body_size_bytes));
  }
  Task<void> update(Key key, Metadata metadata) override {
    return guarded(update_coss_object(store_, std::move(key), std::move(metadata)));
  }
  Task<void> remove(Key key) override { return guarded(remove_object(store_, std::move(key))); }
  Task<void> stop(StopMode mode) override { return guarded(store_->stop(mode)); }
  void visit_counters(CounterVisitor& visitor) const override { store_->visit_counters(visitor); }

 private:
  std::shared_ptr<CossStore> store_;
};

// The first that the build has is the default.
const std::initializer_list<std::string_view> kEngines = {"libaio", "posix_aio", "io_uring",
                                                          "thread_pool", "blocking"};

// A number that no other store, and none that was in the same place before, is likely to have.
uint64_t new_store_id(const SchemeSpec& spec, const SchemeEnvironment& environment) {
  const auto wall = environment.clock.wall_now().time_since_epoch().count();
  const auto steady = environment.clock.steady_now().time_since_epoch().count();
  return mix64(mix64(environment.seed ^ static_cast<uint64_t>(wall)) +
               mix64(static_cast<uint64_t>(steady)) + static_cast<uint64_t>(::getpid()) +
               Key(spec.path.string()).hash().low);
}

}  // namespace

std::span<const SchemeOption> coss_options() {
  static const std::vector<SchemeOption> kOptions = [] {
    const auto own = coss_option_table();
    std::vector<SchemeOption> options(own.begin(), own.end());
    const std::vector<SchemeOption> engine = engine_options(default_engine_of(kEngines));
    options.insert(options.end(), engine.begin(), engine.end());
    return options;
  }();
  return kOptions;
}

uint64_t coss_largest_object(const SchemeSpec& spec, std::string& error) {
  return parse_coss_options(spec, error).object_size_bytes_max;
}

SchemeOrError make_log_of_stripes(const SchemeSpec& spec, const SchemeEnvironment& environment,
                                  const EngineFactory& make_engine_for) {
  SchemeOrError made;
  const CossOptions options = parse_coss_options(spec, made.error);
  if (!made.error.empty()) return made;
  made.not_opened = true;
  std::unique_ptr<CossVolume> volume = CossVolume::open(
      spec.path, options, new_store_id(spec, environment), CossVolume::Access::kUse, made.error);
  if (volume == nullptr) return made;
  EngineOrError engine = make_engine_for(volume->directory_fd(), environment);
  made.error = std::move(engine.error);
  if (engine.engine == nullptr) return made;
  made.not_opened = false;
  made.scheme = std::make_unique<CossScheme>(std::make_shared<CossStore>(
      "coss", options, environment, std::move(volume), std::move(engine.engine)));
  return made;
}

SchemeOrError make_coss(const SchemeSpec& spec, const SchemeEnvironment& environment) {
  SchemeOrError made;
  const EngineChoice choice = choose_engine(spec, kEngines, made.error);
  if (!made.error.empty()) return made;
  return make_log_of_stripes(spec, environment,
                             [&](int directory_fd, const SchemeEnvironment& outside) {
                               return make_engine(choice, directory_fd, outside);
                             });
}

}  // namespace storage
