#include "storage/replacement/w_tiny_lfu.h"

namespace storage {

namespace {

// Values of PolicyEntry::position.
constexpr size_t kInWindow = 0;
constexpr size_t kInProbation = 1;
constexpr size_t kInProtected = 2;

}  // namespace

WTinyLfuPolicy::WTinyLfuPolicy(uint64_t capacity_bytes)
    : window_bytes_max_(capacity_bytes / 100),
      free_main_bytes_(capacity_bytes - window_bytes_max_),
      protected_bytes_max_(free_main_bytes_ - free_main_bytes_ / 5) {}

EntryQueue& WTinyLfuPolicy::queue_of(const PolicyEntry& entry) {
  if (entry.position == kInWindow) return window_;
  return entry.position == kInProbation ? probation_ : protected_;
}

void WTinyLfuPolicy::push(EntryQueue& queue, PolicyEntry& entry) {
  entry.position = &queue == &window_      ? kInWindow
                   : &queue == &probation_ ? kInProbation
                                           : kInProtected;
  queue.push_newest(entry);
}

void WTinyLfuPolicy::insert(PolicyEntry& entry) {
  sketch_.grow_for(count() + 1);
  sketch_.record(entry.hash);
  push(window_, entry);
  while (window_.size_bytes() > window_bytes_max_ &&
         window_.oldest()->size_bytes <= free_main_bytes_) {
    PolicyEntry* const oldest = window_.take_oldest();
    free_main_bytes_ -= oldest->size_bytes;
    push(probation_, *oldest);
  }
}

void WTinyLfuPolicy::touch(PolicyEntry& entry) {
  sketch_.record(entry.hash);
  EntryQueue& queue = queue_of(entry);
  if (&queue == &probation_) {
    protect(entry);
  } else {
    queue.make_newest(entry);
  }
}

void WTinyLfuPolicy::protect(PolicyEntry& entry) {
  probation_.remove(entry);
  push(protected_, entry);
  while (protected_.size_bytes() > protected_bytes_max_ && protected_.count() > 1) {
    push(probation_, *protected_.take_oldest());
  }
}

void WTinyLfuPolicy::remove(PolicyEntry& entry) {
  EntryQueue& queue = queue_of(entry);
  queue.remove(entry);
  if (&queue != &window_) free_main_bytes_ += entry.size_bytes;
}

void WTinyLfuPolicy::resize(PolicyEntry& entry, uint64_t size_bytes) {
  queue_of(entry).resize(entry, size_bytes);
}

PolicyEntry* WTinyLfuPolicy::take_victim() {
  if (!had_victim_) free_main_bytes_ = 0;
  had_victim_ = true;
  EntryQueue& main = probation_.count() > 0 ? probation_ : protected_;
  if (main.count() == 0) return window_.take_oldest();
  if (window_.size_bytes() <= window_bytes_max_) return main.take_oldest();
  PolicyEntry* const newcomer = window_.take_oldest();
  if (sketch_.estimate(newcomer->hash) <= sketch_.estimate(main.oldest()->hash)) return newcomer;
  PolicyEntry* const victim = main.take_oldest();
  push(probation_, *newcomer);
  return victim;
}

void WTinyLfuPolicy::put_back(PolicyEntry& victim) {
  push(probation_, victim);
}

uint64_t WTinyLfuPolicy::count() const {
  return window_.count() + probation_.count() + protected_.count();
}

uint64_t WTinyLfuPolicy::size_bytes() const {
  return window_.size_bytes() + probation_.size_bytes() + protected_.size_bytes();
}

}  // namespace storage
