// An array that grows without moving what it holds.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace storage {

/// Elements in slabs of the heap: growing costs one slab, never a copy, and leaves at most one slab
/// unused. Elements begin as zeros.
template <class T, size_t kSlabElements>
class SlabArray {
 public:
  size_t size() const { return size_; }
  T& operator[](size_t at) { return slabs_[at / kSlabElements][at % kSlabElements]; }
  const T& operator[](size_t at) const { return slabs_[at / kSlabElements][at % kSlabElements]; }

  /// Adds one element to the end.
  void grow() {
    if (size_ == slabs_.size() * kSlabElements) {
      slabs_.push_back(std::make_unique<T[]>(kSlabElements));
    }
    ++size_;
  }
  void clear() {
    slabs_.clear();
    size_ = 0;
  }

 private:
  std::vector<std::unique_ptr<T[]>> slabs_;
  size_t size_ = 0;
};

}  // namespace storage
