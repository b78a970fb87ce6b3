// A scheme whose operations wait where a test wants them to, and fail when it wants them to.
#pragma once

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <deque>
#include <memory>
#include <utility>

#include "storage/scheme.h"

namespace testing_support {

/// Where operations stop until they are let go, one by one in any order. Executor of the test.
class SchemeGate {
 public:
  /// While it is closed, operations wait; opening it does not let go of those that wait already.
  void close() { closed_ = true; }
  void open() { closed_ = false; }
  size_t waiting() const { return waiting_.size(); }

  /// Lets the operation go that came as number `at` of those that wait.
  void let_go(size_t at = 0) {
    const std::shared_ptr<boost::asio::steady_timer> timer = waiting_.at(at);
    waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(at));
    timer->cancel();
  }

  boost::asio::awaitable<void> pass() {
    if (!closed_) co_return;
    const auto timer = std::make_shared<boost::asio::steady_timer>(
        co_await boost::asio::this_coro::executor, std::chrono::hours(24));
    waiting_.push_back(timer);
    co_await timer->async_wait(boost::asio::as_tuple(boost::asio::use_awaitable));
  }

 private:
  bool closed_ = false;
  std::deque<std::shared_ptr<boost::asio::steady_timer>> waiting_;
};

/// Passes everything on to `inner`. open(), update(), remove() and commit() stop at `before` before
/// they reach it and at `after` when it has done its part; while `failure` is set, update(),
/// remove() and commit() end with it after `before`, without reaching `inner`.
class GatedScheme final : public storage::StorageScheme {
 public:
  explicit GatedScheme(std::unique_ptr<storage::StorageScheme> inner) : inner_(std::move(inner)) {}

  SchemeGate before;
  SchemeGate after;
  storage::Error failure;

  const storage::SchemeInfo& info() const override { return inner_->info(); }
  storage::Task<storage::RecoveryReport> start() override { return inner_->start(); }
  storage::Task<std::unique_ptr<storage::Reader>> open(storage::Key key) override {
    co_await before.pass();
    auto reader = co_await inner_->open(std::move(key));
    co_await after.pass();
    co_return reader;
  }
  storage::Task<std::unique_ptr<storage::Writer>> create(
      storage::Key key, storage::Metadata metadata,
      std::optional<uint64_t> body_size_bytes) override {
    auto writer = co_await inner_->create(std::move(key), std::move(metadata), body_size_bytes);
    if (writer.has_error()) co_return writer.error();
    co_return std::make_unique<GatedWriter>(std::move(*writer), *this);
  }
  storage::Task<void> update(storage::Key key, storage::Metadata metadata) override {
    co_await before.pass();
    if (failure.code != storage::Errc::kNone) co_return failure;
    const auto updated = co_await inner_->update(std::move(key), std::move(metadata));
    co_await after.pass();
    co_return updated;
  }
  storage::Task<void> remove(storage::Key key) override {
    co_await before.pass();
    if (failure.code != storage::Errc::kNone) co_return failure;
    const auto removed = co_await inner_->remove(std::move(key));
    co_await after.pass();
    co_return removed;
  }
  storage::Task<void> stop(storage::StopMode mode) override { return inner_->stop(mode); }
  void visit_counters(storage::CounterVisitor& visitor) const override {
    inner_->visit_counters(visitor);
  }

 private:
  class GatedWriter final : public storage::Writer {
   public:
    GatedWriter(std::unique_ptr<storage::Writer> inner, GatedScheme& scheme)
        : inner_(std::move(inner)), scheme_(scheme) {}
    storage::Task<storage::Space> reserve(size_t size_hint_bytes) override {
      return inner_->reserve(size_hint_bytes);
    }
    storage::Result<void> append(storage::Space space, size_t used_bytes) override {
      return inner_->append(std::move(space), used_bytes);
    }
    storage::Task<void> commit() override {
      co_await scheme_.before.pass();
      if (scheme_.failure.code != storage::Errc::kNone) co_return scheme_.failure;
      const auto committed = co_await inner_->commit();
      co_await scheme_.after.pass();
      co_return committed;
    }

   private:
    std::unique_ptr<storage::Writer> inner_;
    GatedScheme& scheme_;
  };

  std::unique_ptr<storage::StorageScheme> inner_;
};

}  // namespace testing_support
