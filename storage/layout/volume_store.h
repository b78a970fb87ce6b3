// What all stores have alike that lie in one file or on one device: their parts, and how they are
// started, wait for what is under way, and are stopped.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "storage/io/engine.h"
#include "storage/layout/change_signal.h"
#include "storage/layout/volume_open.h"
#include "storage/registry.h"
#include "storage/scheme.h"

namespace storage {

/// `Volume` is the store's file, open and locked: name(), in_place(), unlock(). All calls on the
/// executor.
template <class Volume>
class VolumeStore : public std::enable_shared_from_this<VolumeStore<Volume>> {
 public:
  virtual ~VolumeStore() = default;

  /// Marks one running operation, for stop() to wait for. Move-only.
  class Operation {
   public:
    explicit Operation(std::shared_ptr<VolumeStore> store) : store_(std::move(store)) {
      ++store_->operations_;
    }
    Operation(Operation&& other) noexcept = default;
    Operation& operator=(Operation&&) = delete;
    ~Operation() {
      if (store_ != nullptr && --store_->operations_ == 0) store_->signal_->notify();
    }

   private:
    std::shared_ptr<VolumeStore> store_;
  };

  const SchemeInfo& info() const { return info_; }
  bool running() const { return state_ == State::kRunning; }

  /// See StorageScheme.
  Task<RecoveryReport> start() {
    if (state_ != State::kNew) co_return Error(Errc::kStopped);
    const SteadyTime begin = environment_.clock.steady_now();
    const Operation operation(this->shared_from_this());
    const Result<void> done = co_await recover();
    if (!done) co_return done.error();
    if (state_ != State::kNew) co_return Error(Errc::kStopped);
    state_ = State::kRunning;
    recovery_.duration = environment_.clock.steady_now() - begin;
    co_return recovery_;
  }

  /// See StorageScheme.
  Task<void> stop(StopMode mode) {
    const bool was_running = state_ == State::kRunning;
    if (state_ == State::kStopping) {
      while (state_ != State::kStopped) co_await signal_->wait_for_ever();
    }
    if (state_ == State::kStopped) co_return Result<void>();
    state_ = State::kStopping;
    abandoning_ = mode == StopMode::kAbandon;
    signal_->notify();
    while (operations_ > 0) co_await signal_->wait_for_ever();
    Result<void> result;
    if (was_running && mode == StopMode::kDrain) result = co_await leave_clean();
    if (file_ != nullptr) {
      const Result<void> closed = co_await file_->close();
      if (result) result = closed;
    }
    state_ = State::kStopped;
    volume_->unlock();
    signal_->notify();
    co_return result;
  }

 protected:
  VolumeStore(std::string_view name, const SchemeEnvironment& environment,
              std::unique_ptr<Volume> volume, std::unique_ptr<IoEngine> engine)
      : environment_(environment),
        volume_(std::move(volume)),
        engine_(std::move(engine)),
        signal_(std::make_shared<ChangeSignal>(environment.executor)) {
    info_.name = name;
    info_.persistent = true;
  }

  /// Opens the file, finds what it holds, and says all but the duration in `recovery_`.
  virtual Task<void> recover() = 0;
  /// Leaves what a clean stop leaves; nothing is under way.
  virtual Task<void> leave_clean() = 0;

  /// Opens the volume's file as `file_`; `warning` is given where the filesystem refuses `direct`.
  Task<void> open_file(bool direct, size_t page_size_bytes, std::string warning) {
    Result<std::unique_ptr<File>> file = co_await open_volume_file(
        *engine_, volume_->name(), direct, page_size_bytes, std::move(warning), info_.warnings);
    if (!file) co_return file.error();
    file_ = std::move(*file);
    co_return Result<void>();
  }

  /// Whether what is under way is to be given up, rather than finished.
  bool is_abandoning() const { return abandoning_; }
  bool operations_under_way() const { return operations_ > 0; }

  SchemeEnvironment environment_;
  SchemeInfo info_;
  std::unique_ptr<Volume> volume_;  // before the engine, whose calls are made in its folder
  std::unique_ptr<IoEngine> engine_;
  std::shared_ptr<File> file_;
  const std::shared_ptr<ChangeSignal> signal_;
  RecoveryReport recovery_;

 private:
  enum class State { kNew, kRunning, kStopping, kStopped };

  State state_ = State::kNew;
  bool abandoning_ = false;
  uint64_t operations_ = 0;
};

}  // namespace storage
