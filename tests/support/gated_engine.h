// An I/O engine whose operations stop at a gate until a test lets them pass.
#pragma once

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <deque>
#include <memory>
#include <string>
#include <utility>

#include "storage/io/engine.h"
#include "tests/support/fault_engine.h"

namespace testing_support {

/// Where operations stop, e.g. `gate.hold(IoOperation::kRename, Gate::Side::kAfter);`: the next one
/// of that kind is made and its end held back. One executor; must outlive engines and files.
class Gate {
 public:
  enum class Side { kBefore, kAfter };

  /// Stops the next `count` operations of this kind; those of a path that ends in `path_end`.
  void hold(IoOperation operation, Side side, int count = 1, std::string path_end = "") {
    holds_.push_back(Hold{operation, side, count, std::move(path_end)});
  }
  /// How many stand at the gate.
  size_t held() const { return held_.size(); }
  /// Lets the one pass that has stood there longest; the context has to run for it.
  void release() {
    held_.front()->cancel();
    held_.pop_front();
  }
  void release_all() {
    holds_.clear();
    while (!held_.empty()) release();
  }

  boost::asio::awaitable<void> pass(IoOperation operation, Side side, std::string path) {
    if (!take_hold(operation, side, path)) co_return;
    const auto timer =
        std::make_shared<boost::asio::steady_timer>(co_await boost::asio::this_coro::executor);
    timer->expires_at(boost::asio::steady_timer::time_point::max());
    held_.push_back(timer);
    boost::system::error_code ended;
    co_await timer->async_wait(boost::asio::redirect_error(boost::asio::use_awaitable, ended));
  }

 private:
  struct Hold {
    IoOperation operation;
    Side side;
    int count;
    std::string path_end;
  };

  bool take_hold(IoOperation operation, Side side, const std::string& path) {
    for (Hold& hold : holds_) {
      if (hold.operation != operation || hold.side != side || hold.count == 0) continue;
      if (!path.ends_with(hold.path_end)) continue;
      --hold.count;
      return true;
    }
    return false;
  }

  std::deque<Hold> holds_;
  std::deque<std::shared_ptr<boost::asio::steady_timer>> held_;
};

/// Decorates an engine by a gate.
class GatedEngine final : public storage::IoEngine {
 public:
  GatedEngine(std::unique_ptr<storage::IoEngine> inner, Gate& gate)
      : inner_(std::move(inner)), gate_(gate) {}

  const char* name() const override { return "gated"; }

  storage::Task<std::unique_ptr<storage::File>> open(std::filesystem::path path,
                                                     storage::OpenMode mode) override {
    const bool creates = mode == storage::OpenMode::kCreateExclusive;
    const IoOperation operation = creates ? IoOperation::kCreate : IoOperation::kOpen;
    const std::string name = path.string();
    co_await gate_.pass(operation, Gate::Side::kBefore, name);
    auto file = co_await inner_->open(path, mode);
    co_await gate_.pass(operation, Gate::Side::kAfter, name);
    if (file.has_error()) co_return file.error();
    co_return std::make_unique<GatedFile>(std::move(*file), name, gate_);
  }
  storage::Task<void> rename(std::filesystem::path from, std::filesystem::path to) override {
    co_await gate_.pass(IoOperation::kRename, Gate::Side::kBefore, from.string());
    const auto renamed = co_await inner_->rename(from, to);
    co_await gate_.pass(IoOperation::kRename, Gate::Side::kAfter, from.string());
    co_return renamed;
  }
  storage::Task<void> unlink(std::filesystem::path path) override {
    co_await gate_.pass(IoOperation::kUnlink, Gate::Side::kBefore, path.string());
    const auto unlinked = co_await inner_->unlink(path);
    co_await gate_.pass(IoOperation::kUnlink, Gate::Side::kAfter, path.string());
    co_return unlinked;
  }
  bool overloaded() const override { return inner_->overloaded(); }
  void visit_counters(storage::CounterVisitor& visitor) const override {
    inner_->visit_counters(visitor);
  }

 private:
  class GatedFile final : public storage::File {
   public:
    GatedFile(std::unique_ptr<storage::File> inner, std::string path, Gate& gate)
        : inner_(std::move(inner)), path_(std::move(path)), gate_(gate) {}

    storage::Task<size_t> read(uint64_t offset_bytes, std::span<std::byte> buffer) override {
      co_await gate_.pass(IoOperation::kRead, Gate::Side::kBefore, path_);
      const auto got = co_await inner_->read(offset_bytes, buffer);
      co_await gate_.pass(IoOperation::kRead, Gate::Side::kAfter, path_);
      co_return got;
    }
    storage::Task<void> write(uint64_t offset_bytes, std::span<const std::byte> buffer) override {
      co_await gate_.pass(IoOperation::kWrite, Gate::Side::kBefore, path_);
      const auto written = co_await inner_->write(offset_bytes, buffer);
      co_await gate_.pass(IoOperation::kWrite, Gate::Side::kAfter, path_);
      co_return written;
    }
    size_t alignment_bytes() const override { return inner_->alignment_bytes(); }
    storage::Task<uint64_t> size_bytes() override { return inner_->size_bytes(); }
    storage::Task<uint64_t> allocated_bytes() override {
      co_await gate_.pass(IoOperation::kStat, Gate::Side::kBefore, path_);
      co_return co_await inner_->allocated_bytes();
    }
    storage::Task<void> sync() override { return inner_->sync(); }
    storage::Task<void> close() override {
      co_await gate_.pass(IoOperation::kClose, Gate::Side::kBefore, path_);
      co_return co_await inner_->close();
    }

   private:
    std::unique_ptr<storage::File> inner_;
    const std::string path_;
    Gate& gate_;
  };

  std::unique_ptr<storage::IoEngine> inner_;
  Gate& gate_;
};

}  // namespace testing_support
