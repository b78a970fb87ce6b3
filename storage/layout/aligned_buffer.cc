#include "storage/layout/aligned_buffer.h"

#include <algorithm>
#include <new>
#include <utility>

namespace storage {

namespace {

constexpr std::align_val_t kAlignment{4096};

}  // namespace

Space make_aligned_buffer(size_t size_bytes) {
  std::shared_ptr<std::byte> bytes(static_cast<std::byte*>(::operator new(size_bytes, kAlignment)),
                                   [](std::byte* at) { ::operator delete(at, kAlignment); });
  std::fill_n(bytes.get(), size_bytes, std::byte{0});
  const std::span<std::byte> whole(bytes.get(), size_bytes);
  return Space(whole, std::move(bytes));
}

}  // namespace storage
