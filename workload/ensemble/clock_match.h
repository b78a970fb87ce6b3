// How far two machines' steady clocks are apart.
#pragma once

#include <optional>

#include "storage/base/clock.h"

namespace workload {

/// What is known of another clock.
struct ClockOffset {
  storage::Nanoseconds here_less_there{0};  ///< What this clock shows more than the other.
  storage::Nanoseconds bound{0};            ///< The true offset is at most so far off either way.

  storage::SteadyTime to_here(storage::SteadyTime there) const { return there + here_less_there; }
  storage::SteadyTime to_there(storage::SteadyTime here) const { return here - here_less_there; }
};

/// Finds the offset from messages there and back. The other clock was read between sending and
/// receiving, so half of the round trip bounds the error, and the quickest one says most (Cristian:
/// "Probabilistic clock synchronization", 1989). Pure; one thread at a time.
class ClockMatch {
 public:
  /// `sent` and `received` are of this clock, `there` is what the other showed in between.
  void add(storage::SteadyTime sent, storage::SteadyTime there, storage::SteadyTime received);
  /// Of the quickest round trip since the start; nothing where there was none.
  const std::optional<ClockOffset>& best() const { return best_; }
  /// Forgets all.
  void clear() { best_.reset(); }

 private:
  std::optional<ClockOffset> best_;
};

/// How far instants may be off that were converted with `offset`, given what was found later.
storage::Nanoseconds error_bound(const ClockOffset& offset,
                                 const std::optional<ClockOffset>& later);

}  // namespace workload
