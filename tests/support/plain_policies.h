// Replacement policies written down as plainly as they can be said: lists that are searched from
// end to end. What the real ones must equal, hit for hit.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace testing_support {

/// A cache of keys, filled on each miss after evicting until the new object fits.
class PlainCache {
 public:
  virtual ~PlainCache() = default;
  /// Whether it holds `key`; a use of it if so. If not, the object is brought in.
  bool request(uint64_t key, uint64_t size_bytes) {
    if (use(key)) return true;
    while (used_bytes_ + size_bytes > capacity_bytes_) used_bytes_ -= evict();
    admit(key, size_bytes);
    used_bytes_ += size_bytes;
    return false;
  }
  /// Takes `key` out, if it is there.
  void remove(uint64_t key) { used_bytes_ -= forget(key); }

 protected:
  explicit PlainCache(uint64_t capacity_bytes) : capacity_bytes_(capacity_bytes) {}
  /// False where there is no such object.
  virtual bool use(uint64_t key) = 0;
  virtual void admit(uint64_t key, uint64_t size_bytes) = 0;
  /// These return the size of what went.
  virtual uint64_t evict() = 0;
  virtual uint64_t forget(uint64_t key) = 0;
  uint64_t capacity_bytes() const { return capacity_bytes_; }

 private:
  const uint64_t capacity_bytes_;
  uint64_t used_bytes_ = 0;
};

/// The policy of that name; null where there is none. `capacity_bytes` as for make_policy(); no
/// object may be larger.
std::unique_ptr<PlainCache> make_plain_cache(std::string_view policy, uint64_t capacity_bytes);

}  // namespace testing_support
