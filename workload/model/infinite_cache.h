// A cache that never forgets for want of room: the bound for every real one.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace workload {

/// Remembers which version of which object it holds. Keys and versions are numbers (an object's id,
/// or a hash of its URL); 17 bytes a slot, at most three quarters of the slots in use. Not safe for
/// concurrent use.
class InfiniteCache {
 public:
  /// Whether this version of the object is held.
  bool holds(uint64_t key, uint64_t version = 0) const;
  /// Keeps this version in place of any other.
  void store(uint64_t key, uint64_t version = 0);
  /// Forgets the object, as RFC 9111 section 4.4 asks after a successful unsafe request.
  void invalidate(uint64_t key);
  /// A plain GET: whether it is a hit; keeps the object afterwards if it is `cachable`. What is not
  /// cachable is never a hit.
  bool get(uint64_t key, bool cachable, uint64_t version = 0);

  /// Objects held.
  uint64_t objects() const { return objects_; }

 private:
  enum class State : uint8_t { kFree, kHeld, kForgotten };
  struct Slot {
    uint64_t key = 0;
    uint64_t version = 0;
  };
  /// The slot of `key`, or else the free one where it belongs.
  size_t find(uint64_t key) const;
  void grow();

  std::vector<Slot> slots_;
  std::vector<State> states_;
  uint64_t objects_ = 0;
  uint64_t used_ = 0;  ///< Slots that are not free.
};

}  // namespace workload
