// The fills that are under way.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "proxy/fill.h"

namespace proxy {

/// Starts fills, runs them to their end whoever reads them, and knows which can be joined.
/// Single-threaded on the services' executor.
class FillTable {
 public:
  FillTable(const boost::asio::any_io_executor& executor, uint64_t fills_max,
            uint64_t first_fill_id);

  /// A fill under this lookup key that a request may join; null where there is none.
  std::shared_ptr<Fill> find(const std::string& lookup_key);

  /// Starts a fill; null where too many are under way. `joinable`: others may find it.
  std::shared_ptr<Fill> start(Services& services, FillOrder order, bool joinable);

  /// Fills of this resource will not be stored, nor joined by anyone else.
  void invalidate(std::string_view primary_key);

  /// Remembers for a while that responses to this key cannot be shared, so that requests do not
  /// wait for each other's heads in vain.
  void note_unshareable(const std::string& lookup_key, storage::SteadyTime now);
  bool is_unshareable(const std::string& lookup_key, storage::SteadyTime now) const;

  uint64_t size() const { return running_.size(); }
  void abandon_all();
  /// Returns when no fill is under way.
  boost::asio::awaitable<void> wait_until_empty();

 private:
  void end(Fill& fill);

  boost::asio::any_io_executor executor_;
  uint64_t fills_max_;
  uint64_t last_id_;
  std::unordered_map<Fill*, std::shared_ptr<Fill>> running_;
  std::unordered_map<std::string, Fill*> joinable_;
  std::unordered_map<size_t, storage::SteadyTime> unshareable_until_;  ///< By hash of the key.
  Wakeup ended_;
};

}  // namespace proxy
