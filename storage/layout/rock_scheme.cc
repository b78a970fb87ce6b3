#include "storage/layout/rock_scheme.h"

#include <unistd.h>

#include <utility>
#include <vector>

#include "storage/base/guarded_task.h"
#include "storage/base/random.h"
#include "storage/io/engine_factory.h"
#include "storage/layout/rock_options.h"
#include "storage/layout/rock_reader.h"
#include "storage/layout/rock_store.h"
#include "storage/layout/rock_update.h"
#include "storage/layout/rock_writer.h"

namespace storage {

namespace {

// Done when no head slot of the key is on the disk.
Task<void> remove_object(std::shared_ptr<RockStore> store, Key key) {
  if (!store->running()) co_return Error(Errc::kStopped);
  const RockStore::Operation operation(store);
  const KeyHash hash = key.hash();
  const Result<KeyTurns::Turn> turn = co_await store->turns().take(store->index().shortened(hash));
  if (!turn) co_return turn.error();
  const std::optional<RockVersion> version = store->index().find(hash);
  if (version && version->hash == hash) {
    store->index().erase(hash);
    store->retire(*version, RockStore::Keep::kNothing);
  }
  co_return co_await store->settle(hash);
}

class RockScheme final : public StorageScheme {
 public:
  explicit RockScheme(std::shared_ptr<RockStore> store) : store_(std::move(store)) {}

  const SchemeInfo& info() const override { return store_->info(); }
  Task<RecoveryReport> start() override { return guarded(store_->start()); }
  Task<std::unique_ptr<Reader>> open(Key key) override {
    return guarded(open_rock_object(store_, std::move(key)));
  }
  Task<std::unique_ptr<Writer>> create(Key key, Metadata metadata,
                                       std::optional<uint64_t> body_size_bytes) override {
    return guarded(
        create_rock_object(store_, std::move(key), std::move(metadata), body_size_bytes));
  }
  Task<void> update(Key key, Metadata metadata) override {
    return guarded(update_rock_object(store_, std::move(key), std::move(metadata)));
  }
  Task<void> remove(Key key) override { return guarded(remove_object(store_, std::move(key))); }
  Task<void> stop(StopMode mode) override { return guarded(store_->stop(mode)); }
  void visit_counters(CounterVisitor& visitor) const override { store_->visit_counters(visitor); }

 private:
  std::shared_ptr<RockStore> store_;
};

// A number that no earlier store in the same place is likely to have had.
uint64_t new_store_id(const SchemeEnvironment& environment) {
  const auto wall = environment.clock.wall_now().time_since_epoch().count();
  const auto steady = environment.clock.steady_now().time_since_epoch().count();
  return mix64(mix64(environment.seed ^ static_cast<uint64_t>(wall)) +
               mix64(static_cast<uint64_t>(steady)) + static_cast<uint64_t>(::getpid()));
}

}  // namespace

std::span<const SchemeOption> rock_options() {
  static const std::vector<SchemeOption> kOptions = [] {
    const auto own = rock_option_table();
    std::vector<SchemeOption> options(own.begin(), own.end());
    const std::vector<SchemeOption> engine = engine_options("thread_pool");
    options.insert(options.end(), engine.begin(), engine.end());
    return options;
  }();
  return kOptions;
}

uint64_t rock_largest_object(const SchemeSpec& spec, std::string& error) {
  return parse_rock_options(spec, error).object_size_bytes_max;
}

SchemeOrError make_chained_slots(const SchemeSpec& spec, const SchemeEnvironment& environment,
                                 const EngineFactory& make_engine_for) {
  SchemeOrError made;
  const RockOptions options = parse_rock_options(spec, made.error);
  if (!made.error.empty()) return made;
  made.not_opened = true;
  std::unique_ptr<RockVolume> volume = RockVolume::open(
      spec.path, options, new_store_id(environment), RockVolume::Access::kUse, made.error);
  if (volume == nullptr) return made;
  EngineOrError engine = make_engine_for(volume->directory_fd(), environment);
  made.error = std::move(engine.error);
  if (engine.engine == nullptr) return made;
  made.not_opened = false;
  made.scheme = std::make_unique<RockScheme>(std::make_shared<RockStore>(
      "rock", options, environment, std::move(volume), std::move(engine.engine)));
  return made;
}

SchemeOrError make_rock(const SchemeSpec& spec, const SchemeEnvironment& environment) {
  SchemeOrError made;
  const EngineChoice choice =
      choose_engine(spec, {"thread_pool", "io_uring", "blocking", "libaio"}, made.error);
  const auto direct = spec.options.find("direct");
  if (made.error.empty() && choice.name == "libaio" &&
      (direct == spec.options.end() || direct->second != "on")) {
    made.error = "option engine=libaio of scheme " + spec.scheme +
                 ": it blocks on the page cache: give direct=on with it, or engine=io_uring";
  }
  if (!made.error.empty()) return made;
  return make_chained_slots(spec, environment,
                            [&](int directory_fd, const SchemeEnvironment& outside) {
                              return make_engine(choice, directory_fd, outside);
                            });
}

}  // namespace storage
