// The body of an object that is arriving at a coss store.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "storage/base/error.h"
#include "storage/types.h"

namespace storage {

/// Collects a body in pieces of the heap. What all drafts of a store hold together is bounded,
/// leases on it included.
class CossDraft {
 public:
  /// `size_bytes` where it is known; `sum` is what all drafts hold, `sum_max` its bound.
  CossDraft(std::optional<uint64_t> size_bytes, std::shared_ptr<std::atomic<uint64_t>> sum,
            uint64_t sum_max)
      : declared_size_bytes_(size_bytes), sum_(std::move(sum)), sum_max_(sum_max) {}

  /// Lends the next bytes, at least 1. kOverloaded where the bound is reached.
  Result<Space> reserve(size_t size_hint_bytes);
  /// kAborted where `space` is not what reserve() lent last.
  Result<void> append(const Space& space, size_t used_bytes);

  uint64_t size_bytes() const { return size_bytes_; }
  /// Copies all of it, one after the other, to `out`.
  void copy_to(std::span<std::byte> out) const;
  void clear();

 private:
  struct Chunk {
    Space space;
    size_t used_bytes = 0;
  };

  Result<Space> make_chunk(size_t size_bytes);

  const std::optional<uint64_t> declared_size_bytes_;
  std::shared_ptr<std::atomic<uint64_t>> sum_;
  const uint64_t sum_max_;
  std::vector<Chunk> chunks_;
  uint64_t size_bytes_ = 0;
};

}  // namespace storage
