// A scheme that fails where and when a test wants it to.
#pragma once

#include <atomic>
#include <memory>
#include <utility>

#include "storage/scheme.h"

namespace testing_support {

/// Passes everything on to `inner`, but for the operations that are told to fail. The switches may
/// be set from any thread; they count for operations that begin later.
class FaultyScheme final : public storage::StorageScheme {
 public:
  explicit FaultyScheme(std::unique_ptr<storage::StorageScheme> inner) : inner_(std::move(inner)) {}

  std::atomic<bool> fail_open{false};
  std::atomic<bool> fail_create{false};
  std::atomic<bool> fail_reserve{false};
  std::atomic<bool> fail_append{false};
  std::atomic<bool> fail_commit{false};
  std::atomic<bool> fail_read{false};
  std::atomic<bool> fail_update{false};
  std::atomic<bool> fail_remove{false};

  const storage::SchemeInfo& info() const override { return inner_->info(); }
  storage::Task<storage::RecoveryReport> start() override { return inner_->start(); }
  storage::Task<std::unique_ptr<storage::Reader>> open(storage::Key key) override {
    if (fail_open) co_return storage::Error(storage::Errc::kIo, 5);
    auto opened = co_await inner_->open(std::move(key));
    if (!opened) co_return opened.error();
    co_return std::make_unique<FaultyReader>(std::move(*opened), *this);
  }
  storage::Task<std::unique_ptr<storage::Writer>> create(
      storage::Key key, storage::Metadata metadata,
      std::optional<uint64_t> body_size_bytes) override {
    if (fail_create) co_return storage::Error(storage::Errc::kNoSpace, 28);
    auto made = co_await inner_->create(std::move(key), std::move(metadata), body_size_bytes);
    if (!made) co_return made.error();
    co_return std::make_unique<FaultyWriter>(std::move(*made), *this);
  }
  storage::Task<void> update(storage::Key key, storage::Metadata metadata) override {
    if (fail_update) co_return storage::Error(storage::Errc::kIo, 5);
    co_return co_await inner_->update(std::move(key), std::move(metadata));
  }
  storage::Task<void> remove(storage::Key key) override {
    if (fail_remove) co_return storage::Error(storage::Errc::kIo, 5);
    co_return co_await inner_->remove(std::move(key));
  }
  storage::Task<void> stop(storage::StopMode mode) override { return inner_->stop(mode); }
  void visit_counters(storage::CounterVisitor& visitor) const override {
    inner_->visit_counters(visitor);
  }

 private:
  class FaultyReader final : public storage::Reader {
   public:
    FaultyReader(std::unique_ptr<storage::Reader> inner, FaultyScheme& scheme)
        : inner_(std::move(inner)), scheme_(scheme) {}
    const storage::Metadata& metadata() const override { return inner_->metadata(); }
    uint64_t body_size_bytes() const override { return inner_->body_size_bytes(); }
    bool in_memory() const override { return inner_->in_memory(); }
    storage::Task<storage::Piece> read(uint64_t offset_bytes, size_t size_bytes_max) override {
      if (scheme_.fail_read) co_return storage::Error(storage::Errc::kCorrupt);
      co_return co_await inner_->read(offset_bytes, size_bytes_max);
    }

   private:
    std::unique_ptr<storage::Reader> inner_;
    FaultyScheme& scheme_;
  };

  class FaultyWriter final : public storage::Writer {
   public:
    FaultyWriter(std::unique_ptr<storage::Writer> inner, FaultyScheme& scheme)
        : inner_(std::move(inner)), scheme_(scheme) {}
    storage::Task<storage::Space> reserve(size_t size_hint_bytes) override {
      if (scheme_.fail_reserve) co_return storage::Error(storage::Errc::kOverloaded);
      co_return co_await inner_->reserve(size_hint_bytes);
    }
    storage::Result<void> append(storage::Space space, size_t used_bytes) override {
      if (scheme_.fail_append) return storage::Error(storage::Errc::kNoSpace, 28);
      return inner_->append(std::move(space), used_bytes);
    }
    storage::Task<void> commit() override {
      if (scheme_.fail_commit) co_return storage::Error(storage::Errc::kIo, 5);
      co_return co_await inner_->commit();
    }

   private:
    std::unique_ptr<storage::Writer> inner_;
    FaultyScheme& scheme_;
  };

  std::unique_ptr<storage::StorageScheme> inner_;
};

}  // namespace testing_support
