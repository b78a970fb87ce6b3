#include "storage/layout/memory_pages.h"

#include <algorithm>
#include <cassert>

namespace storage {

MemoryCharge::MemoryCharge(std::shared_ptr<MemoryAccount> account, uint64_t size_bytes)
    : account_(std::move(account)), size_bytes_(size_bytes) {
  account_->used_bytes += size_bytes_;
}

MemoryCharge::~MemoryCharge() {
  if (account_) account_->used_bytes -= size_bytes_;
}

MemoryCharge MemoryCharge::split(uint64_t size_bytes) {
  MemoryCharge part;
  part.account_ = account_;
  part.size_bytes_ = std::min(size_bytes, size_bytes_);
  size_bytes_ -= part.size_bytes_;
  return part;
}

MemoryPage::MemoryPage(size_t size_bytes, MemoryCharge charge)
    : bytes_(std::make_unique_for_overwrite<std::byte[]>(size_bytes)),
      size_bytes_(size_bytes),
      charge_(std::move(charge)) {}

uint64_t MemoryBody::charged_bytes() const {
  uint64_t total = 0;
  for (const Extent& extent : extents_) total += extent.page->charged_bytes();
  return total;
}

bool MemoryBody::lent() const {
  return std::any_of(extents_.begin(), extents_.end(),
                     [](const Extent& extent) { return extent.page.use_count() > 1; });
}

Piece MemoryBody::piece(uint64_t offset_bytes, size_t size_bytes_max) const {
  if (offset_bytes >= size_bytes_) return Piece();
  const auto after = std::upper_bound(
      extents_.begin(), extents_.end(), offset_bytes,
      [](uint64_t offset, const Extent& extent) { return offset < extent.offset_bytes; });
  const Extent& extent = *(after - 1);
  const auto begin = static_cast<size_t>(offset_bytes - extent.offset_bytes);
  const size_t length = std::min(size_bytes_max, extent.used_bytes - begin);
  return Piece(extent.page->bytes().subspan(begin, length), extent.page);
}

void MemoryBody::append(std::shared_ptr<MemoryPage> page, size_t used_bytes) {
  if (used_bytes == 0) return;
  if (extents_.empty() || extents_.back().page != page) {
    Extent extent;
    extent.offset_bytes = size_bytes_;
    extent.page = std::move(page);
    extents_.push_back(std::move(extent));
  }
  extents_.back().used_bytes += used_bytes;
  size_bytes_ += used_bytes;
  assert(extents_.back().used_bytes <= extents_.back().page->size_bytes());
}

void MemoryBody::replace_last(std::shared_ptr<MemoryPage> page) {
  Extent& last = extents_.back();
  assert(page->size_bytes() >= last.used_bytes);
  std::ranges::copy(last.page->bytes().first(last.used_bytes), page->bytes().begin());
  last.page = std::move(page);
}

const std::shared_ptr<MemoryPage>& MemoryBody::last_page() const {
  static const std::shared_ptr<MemoryPage> kNone;
  return extents_.empty() ? kNone : extents_.back().page;
}

size_t MemoryBody::last_page_used_bytes() const {
  return extents_.empty() ? 0 : extents_.back().used_bytes;
}

}  // namespace storage
