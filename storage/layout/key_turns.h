// Changes of one key, one after the other.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <unordered_map>
#include <utility>

#include "storage/base/task.h"
#include "storage/types.h"

namespace storage {

/// Hands out turns: one at a time for each hash, any number for different ones. All calls on one
/// executor. It must outlive all turns and all waiting for them.
class KeyTurns {
 public:
  explicit KeyTurns(boost::asio::any_io_executor executor) : executor_(std::move(executor)) {}
  KeyTurns(const KeyTurns&) = delete;
  KeyTurns& operator=(const KeyTurns&) = delete;

 private:
  struct Lane {
    explicit Lane(const boost::asio::any_io_executor& executor) : ended(executor) {
      ended.expires_at(boost::asio::steady_timer::time_point::max());
    }
    boost::asio::steady_timer ended;  // never expires: a cancel tells that a turn has ended
    unsigned users = 0;               // those who wait and the one whose turn it is
    bool taken = false;
  };
  using Lanes = std::unordered_map<KeyHash, Lane, KeyHashHasher>;

  /// Keeps a lane for as long as somebody uses it.
  class Place {
   public:
    Place() = default;
    Place(Lanes& lanes, Lanes::iterator lane) : lanes_(&lanes), lane_(lane) {
      ++lane_->second.users;
    }
    Place(Place&& other) noexcept
        : lanes_(std::exchange(other.lanes_, nullptr)), lane_(other.lane_) {}
    Place& operator=(Place&& other) noexcept {
      std::swap(lanes_, other.lanes_);
      std::swap(lane_, other.lane_);
      return *this;
    }
    ~Place() {
      if (lanes_ != nullptr && --lane_->second.users == 0) lanes_->erase(lane_);
    }
    bool empty() const { return lanes_ == nullptr; }
    Lane& lane() const { return lane_->second; }

   private:
    Lanes* lanes_ = nullptr;
    Lanes::iterator lane_;
  };

 public:
  /// Lasts until it is destroyed. Move-only; a default one is no turn.
  class Turn {
   public:
    Turn() = default;
    explicit Turn(Place place) : place_(std::move(place)) { place_.lane().taken = true; }
    Turn(Turn&&) noexcept = default;
    Turn& operator=(Turn&& other) noexcept {
      std::swap(place_, other.place_);
      return *this;
    }
    ~Turn() {
      if (place_.empty()) return;
      place_.lane().taken = false;
      place_.lane().ended.cancel();
    }

   private:
    Place place_;
  };

  /// Waits until no other turn of `hash` lasts. kAborted when cancelled, where cancellation does
  /// not throw (see guarded()).
  Task<Turn> take(KeyHash hash);

  /// Hashes that somebody has a turn of.
  size_t size() const { return lanes_.size(); }

 private:
  const boost::asio::any_io_executor executor_;
  Lanes lanes_;
};

}  // namespace storage
