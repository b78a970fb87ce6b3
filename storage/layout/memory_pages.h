// Memory that holds bodies, counted to the byte for as long as anybody can see it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "storage/types.h"

namespace storage {

/// All bytes that a memory store and the leases on its pages hold. Any thread.
struct MemoryAccount {
  std::atomic<uint64_t> used_bytes{0};
};

/// A part of an account, given back by the destructor. Move-only.
class MemoryCharge {
 public:
  MemoryCharge() = default;
  MemoryCharge(std::shared_ptr<MemoryAccount> account, uint64_t size_bytes);
  ~MemoryCharge();
  MemoryCharge(MemoryCharge&& other) noexcept
      : account_(std::move(other.account_)), size_bytes_(std::exchange(other.size_bytes_, 0)) {}
  MemoryCharge& operator=(MemoryCharge&& other) noexcept {
    std::swap(account_, other.account_);
    std::swap(size_bytes_, other.size_bytes_);
    return *this;
  }
  MemoryCharge(const MemoryCharge&) = delete;
  MemoryCharge& operator=(const MemoryCharge&) = delete;

  uint64_t size_bytes() const { return size_bytes_; }
  /// Moves `size_bytes` of it, or all where there is less, into a charge of its own.
  MemoryCharge split(uint64_t size_bytes);

 private:
  std::shared_ptr<MemoryAccount> account_;
  uint64_t size_bytes_ = 0;
};

/// A run of bytes, filled once from its front.
class MemoryPage {
 public:
  /// What a page takes beside its bytes: itself, its two heap blocks, its place in a body.
  static constexpr uint64_t kOverheadBytes = 128;

  /// `charge` is given back with the page.
  MemoryPage(size_t size_bytes, MemoryCharge charge);

  std::span<std::byte> bytes() { return std::span(bytes_.get(), size_bytes_); }
  size_t size_bytes() const { return size_bytes_; }
  uint64_t charged_bytes() const { return charge_.size_bytes(); }

 private:
  std::unique_ptr<std::byte[]> bytes_;
  size_t size_bytes_;
  MemoryCharge charge_;
};

/// A body as a row of pages. Immutable once it is shared.
class MemoryBody {
 public:
  uint64_t size_bytes() const { return size_bytes_; }
  /// What its pages are charged with.
  uint64_t charged_bytes() const;
  /// Whether somebody else than this body holds one of its pages.
  bool lent() const;

  /// Lends what lies in one page from `offset_bytes` on, at most `size_bytes_max`; empty at or past
  /// the end.
  Piece piece(uint64_t offset_bytes, size_t size_bytes_max) const;

  /// Adds `used_bytes` that were filled behind the last ones, in `page`: the last page of the body
  /// or a new one.
  void append(std::shared_ptr<MemoryPage> page, size_t used_bytes);
  /// Puts the bytes of the last page into `page`, which takes its place; they must fit.
  void replace_last(std::shared_ptr<MemoryPage> page);

  /// The last page and how much of it is filled; null in an empty body.
  const std::shared_ptr<MemoryPage>& last_page() const;
  size_t last_page_used_bytes() const;

 private:
  struct Extent {
    uint64_t offset_bytes = 0;
    size_t used_bytes = 0;
    std::shared_ptr<MemoryPage> page;
  };
  std::vector<Extent> extents_;
  uint64_t size_bytes_ = 0;
};

}  // namespace storage
