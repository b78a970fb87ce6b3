#include "tests/support/plain_policies.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <tuple>

#include "storage/base/random.h"

namespace testing_support {

namespace {

struct Item {
  uint64_t key = 0;
  uint64_t size_bytes = 0;
  uint64_t uses = 0;
  double priority = 0;
  uint64_t last_use = 0;
};

/// From the oldest to the newest.
using Items = std::vector<Item>;

std::optional<size_t> find(const Items& items, uint64_t key) {
  const auto found = std::ranges::find(items, key, &Item::key);
  if (found == items.end()) return std::nullopt;
  return static_cast<size_t>(found - items.begin());
}

Item take(Items& items, size_t at) {
  const Item item = items[at];
  items.erase(items.begin() + static_cast<std::ptrdiff_t>(at));
  return item;
}

uint64_t total_bytes(const Items& items) {
  uint64_t sum = 0;
  for (const Item& item : items) sum += item.size_bytes;
  return sum;
}

class PlainLru final : public PlainCache {
 public:
  explicit PlainLru(uint64_t capacity_bytes) : PlainCache(capacity_bytes) {}

 private:
  bool use(uint64_t key) override {
    const auto at = find(items_, key);
    if (!at) return false;
    items_.push_back(take(items_, *at));
    return true;
  }
  void admit(uint64_t key, uint64_t size_bytes) override { items_.push_back({key, size_bytes}); }
  uint64_t evict() override { return take(items_, 0).size_bytes; }
  uint64_t forget(uint64_t key) override {
    const auto at = find(items_, key);
    return at ? take(items_, *at).size_bytes : 0;
  }
  Items items_;
};

/// Textbook: the priority of each object, and the lowest one searched for.
class PlainGreedyDual final : public PlainCache {
 public:
  PlainGreedyDual(uint64_t capacity_bytes, bool by_size)
      : PlainCache(capacity_bytes), by_size_(by_size) {}

 private:
  bool use(uint64_t key) override {
    const auto at = find(items_, key);
    if (at) count_use(items_[*at]);
    return at.has_value();
  }
  void admit(uint64_t key, uint64_t size_bytes) override {
    items_.push_back({key, size_bytes});
    count_use(items_.back());
  }
  uint64_t evict() override {
    const auto lowest = std::ranges::min_element(
        items_, {}, [](const Item& item) { return std::tuple(item.priority, item.last_use); });
    age_ = lowest->priority;
    return take(items_, static_cast<size_t>(lowest - items_.begin())).size_bytes;
  }
  uint64_t forget(uint64_t key) override {
    const auto at = find(items_, key);
    return at ? take(items_, *at).size_bytes : 0;
  }
  void count_use(Item& item) {
    const double size = by_size_ ? static_cast<double>(item.size_bytes) : 1;
    item.priority = age_ + static_cast<double>(++item.uses) / size;
    item.last_use = ++now_;
  }

  const bool by_size_;
  double age_ = 0;
  uint64_t now_ = 0;
  Items items_;
};

class PlainSieve final : public PlainCache {
 public:
  explicit PlainSieve(uint64_t capacity_bytes) : PlainCache(capacity_bytes) {}

 private:
  bool use(uint64_t key) override {
    const auto at = find(items_, key);
    if (at) items_[*at].uses = 1;
    return at.has_value();
  }
  void admit(uint64_t key, uint64_t size_bytes) override { items_.push_back({key, size_bytes}); }
  uint64_t evict() override {
    while (true) {
      if (items_[hand_].uses == 0) return take_at(hand_).size_bytes;
      items_[hand_].uses = 0;
      hand_ = (hand_ + 1) % items_.size();
    }
  }
  uint64_t forget(uint64_t key) override {
    const auto at = find(items_, key);
    if (!at) return 0;
    return take_at(*at).size_bytes;
  }
  /// The hand stays on its item, or goes on to the next one, or round to the oldest.
  Item take_at(size_t at) {
    const Item item = take(items_, at);
    if (at < hand_) --hand_;
    if (hand_ == items_.size()) hand_ = 0;
    return item;
  }

  size_t hand_ = 0;
  Items items_;
};

class PlainS3Fifo final : public PlainCache {
 public:
  explicit PlainS3Fifo(uint64_t capacity_bytes) : PlainCache(capacity_bytes) {}

 private:
  bool use(uint64_t key) override {
    for (Items* const queue : {&small_, &main_}) {
      if (const auto at = find(*queue, key)) {
        Item& item = (*queue)[*at];
        item.uses = std::min<uint64_t>(item.uses + 1, 3);
        return true;
      }
    }
    return false;
  }
  void admit(uint64_t key, uint64_t size_bytes) override {
    const auto ghost = find(ghosts_, key);
    if (ghost) take(ghosts_, *ghost);
    (ghost ? main_ : small_).push_back({key, size_bytes});
  }
  uint64_t evict() override {
    if (10 * total_bytes(small_) >= capacity_bytes() || main_.empty()) {
      while (!small_.empty()) {
        Item item = take(small_, 0);
        if (item.uses <= 1) {
          ghosts_.push_back(item);
          while (10 * total_bytes(ghosts_) > 9 * capacity_bytes() + 9) take(ghosts_, 0);
          return item.size_bytes;
        }
        item.uses = 0;
        main_.push_back(item);
        if (10 * total_bytes(main_) > 9 * capacity_bytes() + 9) break;
      }
    }
    while (true) {
      Item item = take(main_, 0);
      if (item.uses == 0) return item.size_bytes;
      --item.uses;
      main_.push_back(item);
    }
  }
  uint64_t forget(uint64_t key) override {
    for (Items* const queue : {&small_, &main_}) {
      if (const auto at = find(*queue, key)) return take(*queue, *at).size_bytes;
    }
    return 0;
  }

  Items small_;
  Items main_;
  Items ghosts_;
};

/// The sketch of the policy, for keys that are the lower half of a hash whose upper half is 0 and
/// for at most 1024 objects at once.
class PlainSketch {
 public:
  void record(uint64_t key) {
    for (unsigned row = 0; row < 4; ++row) {
      uint64_t& count = counts_[{row, column(key, row)}];
      count = std::min<uint64_t>(count + 1, 15);
    }
    if (++uses_ < 10 * 1024) return;
    for (auto& [place, count] : counts_) count /= 2;
    uses_ /= 2;
  }
  uint64_t estimate(uint64_t key) {
    uint64_t lowest = 15;
    for (unsigned row = 0; row < 4; ++row) {
      lowest = std::min(lowest, counts_[{row, column(key, row)}]);
    }
    return lowest;
  }

 private:
  static uint64_t column(uint64_t key, unsigned row) {
    return storage::mix64(key + storage::mix64(row)) % 1024;
  }
  std::map<std::pair<unsigned, uint64_t>, uint64_t> counts_;
  uint64_t uses_ = 0;
};

class PlainWTinyLfu final : public PlainCache {
 public:
  explicit PlainWTinyLfu(uint64_t capacity_bytes)
      : PlainCache(capacity_bytes),
        window_bytes_(capacity_bytes / 100),
        main_bytes_(capacity_bytes - window_bytes_),
        free_bytes_(main_bytes_) {}

 private:
  bool use(uint64_t key) override {
    for (Items* const queue : {&window_, &probation_, &protected_}) {
      const auto at = find(*queue, key);
      if (!at) continue;
      sketch_.record(key);
      const Item item = take(*queue, *at);
      (queue == &window_ ? window_ : protected_).push_back(item);
      while (total_bytes(protected_) > main_bytes_ - main_bytes_ / 5 && protected_.size() > 1) {
        probation_.push_back(take(protected_, 0));
      }
      return true;
    }
    return false;
  }
  void admit(uint64_t key, uint64_t size_bytes) override {
    sketch_.record(key);
    window_.push_back({key, size_bytes});
    while (total_bytes(window_) > window_bytes_ && window_[0].size_bytes <= free_bytes_) {
      free_bytes_ -= window_[0].size_bytes;
      probation_.push_back(take(window_, 0));
    }
  }
  uint64_t evict() override {
    if (!full_once_) free_bytes_ = 0;
    full_once_ = true;
    Items& main = probation_.empty() ? protected_ : probation_;
    if (main.empty()) return take(window_, 0).size_bytes;
    if (total_bytes(window_) > window_bytes_) {
      const Item newcomer = take(window_, 0);
      if (sketch_.estimate(newcomer.key) <= sketch_.estimate(main[0].key)) {
        return newcomer.size_bytes;
      }
      const Item victim = take(main, 0);
      probation_.push_back(newcomer);
      return victim.size_bytes;
    }
    return take(main, 0).size_bytes;
  }
  uint64_t forget(uint64_t key) override {
    for (Items* const queue : {&window_, &probation_, &protected_}) {
      const auto at = find(*queue, key);
      if (!at) continue;
      const Item item = take(*queue, *at);
      if (queue != &window_) free_bytes_ += item.size_bytes;
      return item.size_bytes;
    }
    return 0;
  }

  const uint64_t window_bytes_;
  const uint64_t main_bytes_;
  uint64_t free_bytes_;
  bool full_once_ = false;
  Items window_;
  Items probation_;
  Items protected_;
  PlainSketch sketch_;
};

}  // namespace

std::unique_ptr<PlainCache> make_plain_cache(std::string_view policy, uint64_t capacity_bytes) {
  if (policy == "lru") return std::make_unique<PlainLru>(capacity_bytes);
  if (policy == "heap-gdsf") return std::make_unique<PlainGreedyDual>(capacity_bytes, true);
  if (policy == "heap-lfuda") return std::make_unique<PlainGreedyDual>(capacity_bytes, false);
  if (policy == "sieve") return std::make_unique<PlainSieve>(capacity_bytes);
  if (policy == "s3-fifo") return std::make_unique<PlainS3Fifo>(capacity_bytes);
  if (policy == "w-tinylfu") return std::make_unique<PlainWTinyLfu>(capacity_bytes);
  return nullptr;
}

}  // namespace testing_support
