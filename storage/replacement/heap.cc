#include "storage/replacement/heap.h"

#include <algorithm>
#include <cassert>

namespace storage {

HeapPolicy::Node HeapPolicy::node_of(PolicyEntry& entry) {
  const auto uses = static_cast<double>(entry.rank);
  const auto size = static_cast<double>(std::max<uint64_t>(entry.size_bytes, 1));
  Node node;
  node.key = age_ + (value_ == Value::kGdsf ? uses / size : uses);
  node.last_use = uses_++;
  node.entry = &entry;
  return node;
}

void HeapPolicy::insert(PolicyEntry& entry) {
  entry.rank = 1;
  put_back(entry);
}

void HeapPolicy::put_back(PolicyEntry& victim) {
  size_bytes_ += victim.size_bytes;
  heap_.emplace_back();
  sift_up(heap_.size() - 1, node_of(victim));
}

void HeapPolicy::touch(PolicyEntry& entry) {
  assert(heap_[entry.position].entry == &entry);
  ++entry.rank;
  // The age never falls, so no key does, unless a new size makes it.
  const size_t at = entry.position;
  const Node node = node_of(entry);
  if (heap_[at].goes_before(node)) {
    sift_down(at, node);
  } else {
    sift_up(at, node);
  }
}

void HeapPolicy::remove(PolicyEntry& entry) {
  const size_t at = entry.position;
  assert(at < heap_.size() && heap_[at].entry == &entry);
  size_bytes_ -= entry.size_bytes;
  const Node last = heap_.back();
  heap_.pop_back();
  if (at == heap_.size()) return;
  if (heap_[at].goes_before(last)) {
    sift_down(at, last);
  } else {
    sift_up(at, last);
  }
}

void HeapPolicy::resize(PolicyEntry& entry, uint64_t size_bytes) {
  size_bytes_ = size_bytes_ - entry.size_bytes + size_bytes;
  entry.size_bytes = size_bytes;
}

PolicyEntry* HeapPolicy::take_victim() {
  if (heap_.empty()) return nullptr;
  PolicyEntry* const victim = heap_.front().entry;
  age_ = heap_.front().key;
  remove(*victim);
  return victim;
}

void HeapPolicy::place(size_t at, const Node& node) {
  heap_[at] = node;
  node.entry->position = at;
}

void HeapPolicy::sift_up(size_t at, const Node& node) {
  while (at > 0) {
    const size_t parent = (at - 1) / 2;
    if (!node.goes_before(heap_[parent])) break;
    place(at, heap_[parent]);
    at = parent;
  }
  place(at, node);
}

void HeapPolicy::sift_down(size_t at, const Node& node) {
  while (true) {
    size_t child = 2 * at + 1;
    if (child >= heap_.size()) break;
    if (child + 1 < heap_.size() && heap_[child + 1].goes_before(heap_[child])) ++child;
    if (!heap_[child].goes_before(node)) break;
    place(at, heap_[child]);
    at = child;
  }
  place(at, node);
}

}  // namespace storage
