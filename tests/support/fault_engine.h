// An I/O engine that fails, tears, delays and runs full as a test wants it to.
#pragma once

#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "storage/base/random.h"
#include "storage/io/engine.h"

namespace testing_support {

/// The operations that a plan can pick out.
enum class IoOperation { kOpen, kCreate, kRead, kWrite, kStat, kSync, kClose, kRename, kUnlink };

/// What goes wrong. Shared between a test and the engines that it has made; one executor.
struct FaultPlan {
  /// Operations are numbered from 0 in the order in which they begin; this one fails.
  std::optional<uint64_t> fail_at;
  /// All operations of these kinds fail.
  std::set<IoOperation> fail_always;
  storage::Error error{storage::Errc::kIo, 5};
  /// A write that fails has written the first half of its bytes.
  bool tear_writes = true;
  /// Room on the simulated disk; writes beyond it are kNoSpace and write what fits.
  std::optional<uint64_t> disk_size_bytes;
  /// Opening a file past the page cache is refused, as some filesystems do.
  bool refuse_direct = false;
  /// Each operation lets others run up to so many times before and after it works.
  unsigned yields_max = 0;
  storage::Random random{1};

  uint64_t operations = 0;
  uint64_t failures = 0;
  /// Sizes of the files on the simulated disk, by path.
  std::map<std::string, uint64_t> file_sizes;

  uint64_t disk_used_bytes() const {
    uint64_t sum = 0;
    for (const auto& [path, size] : file_sizes) sum += size;
    return sum;
  }
  /// Counts the operation and says whether it fails.
  bool fails(IoOperation operation) {
    const bool failing = fail_at == operations || fail_always.contains(operation);
    ++operations;
    failures += failing ? 1 : 0;
    return failing;
  }
  boost::asio::awaitable<void> delay() {
    if (yields_max == 0) co_return;
    for (uint64_t left = random.below(yields_max + 1); left > 0; --left) {
      co_await boost::asio::post(co_await boost::asio::this_coro::executor,
                                 boost::asio::use_awaitable);
    }
  }
};

/// Decorates an engine by a plan, which must outlive it and its files.
class FaultEngine final : public storage::IoEngine {
 public:
  FaultEngine(std::unique_ptr<storage::IoEngine> inner, FaultPlan& plan)
      : inner_(std::move(inner)), plan_(plan) {}

  const char* name() const override { return "fault"; }

  storage::Task<std::unique_ptr<storage::File>> open(std::filesystem::path path,
                                                     storage::OpenMode mode) override {
    const bool creates = mode == storage::OpenMode::kCreateExclusive;
    co_await plan_.delay();
    if (plan_.refuse_direct && mode == storage::OpenMode::kReadWriteDirect) {
      co_return storage::Error(storage::Errc::kIo, 22);
    }
    if (plan_.fails(creates ? IoOperation::kCreate : IoOperation::kOpen)) co_return plan_.error;
    auto file = co_await inner_->open(path, mode);
    co_await plan_.delay();
    if (file.has_error()) co_return file.error();
    co_return std::unique_ptr<storage::File>(
        std::make_unique<FaultFile>(std::move(*file), path.string(), plan_));
  }

  storage::Task<void> rename(std::filesystem::path from, std::filesystem::path to) override {
    co_await plan_.delay();
    if (plan_.fails(IoOperation::kRename)) co_return plan_.error;
    const auto renamed = co_await inner_->rename(from, to);
    if (renamed.has_value()) {
      plan_.file_sizes[to.string()] = plan_.file_sizes[from.string()];
      plan_.file_sizes.erase(from.string());
    }
    co_await plan_.delay();
    co_return renamed;
  }

  storage::Task<void> unlink(std::filesystem::path path) override {
    co_await plan_.delay();
    if (plan_.fails(IoOperation::kUnlink)) co_return plan_.error;
    const auto unlinked = co_await inner_->unlink(path);
    if (unlinked.has_value()) plan_.file_sizes.erase(path.string());
    co_await plan_.delay();
    co_return unlinked;
  }

  void visit_counters(storage::CounterVisitor& visitor) const override {
    inner_->visit_counters(visitor);
  }

 private:
  class FaultFile final : public storage::File {
   public:
    FaultFile(std::unique_ptr<storage::File> inner, std::string path, FaultPlan& plan)
        : inner_(std::move(inner)), path_(std::move(path)), plan_(plan) {}

    storage::Task<size_t> read(uint64_t offset_bytes, std::span<std::byte> buffer) override {
      co_await plan_.delay();
      if (plan_.fails(IoOperation::kRead)) co_return plan_.error;
      const auto got = co_await inner_->read(offset_bytes, buffer);
      co_await plan_.delay();
      co_return got;
    }

    storage::Task<void> write(uint64_t offset_bytes, std::span<const std::byte> buffer) override {
      co_await plan_.delay();
      if (plan_.fails(IoOperation::kWrite)) {
        if (plan_.tear_writes) {
          (void)co_await inner_->write(offset_bytes, buffer.first(buffer.size() / 2));
        }
        co_return plan_.error;
      }
      if (!take_room(offset_bytes + buffer.size())) {
        (void)co_await inner_->write(offset_bytes, buffer.first(buffer.size() / 2));
        co_return storage::Error(storage::Errc::kNoSpace, 28);
      }
      const auto written = co_await inner_->write(offset_bytes, buffer);
      co_await plan_.delay();
      co_return written;
    }

    size_t alignment_bytes() const override { return inner_->alignment_bytes(); }
    storage::Task<uint64_t> size_bytes() override {
      if (plan_.fails(IoOperation::kStat)) co_return plan_.error;
      co_return co_await inner_->size_bytes();
    }
    storage::Task<uint64_t> allocated_bytes() override {
      if (plan_.fails(IoOperation::kStat)) co_return plan_.error;
      co_return co_await inner_->allocated_bytes();
    }
    storage::Task<void> sync() override {
      if (plan_.fails(IoOperation::kSync)) co_return plan_.error;
      co_return co_await inner_->sync();
    }
    storage::Task<void> close() override {
      co_await plan_.delay();
      if (plan_.fails(IoOperation::kClose)) co_return plan_.error;
      co_return co_await inner_->close();
    }

   private:
    // Only the end counts: files are written from front to back.
    bool take_room(uint64_t end_bytes) {
      uint64_t& size = plan_.file_sizes[path_];
      const uint64_t grown = end_bytes > size ? end_bytes - size : 0;
      if (plan_.disk_size_bytes && plan_.disk_used_bytes() + grown > *plan_.disk_size_bytes) {
        return false;
      }
      size += grown;
      return true;
    }

    std::unique_ptr<storage::File> inner_;
    const std::string path_;
    FaultPlan& plan_;
  };

  std::unique_ptr<storage::IoEngine> inner_;
  FaultPlan& plan_;
};

}  // namespace testing_support
