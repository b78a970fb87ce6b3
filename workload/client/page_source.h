// Where the threads of a process get the pages from that they ask for.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "storage/base/clock.h"
#include "workload/client/run_control.h"
#include "workload/model/request_stream.h"

namespace workload {

/// A page of an open loop.
struct ScheduledPage {
  std::vector<IntendedRequest> requests;
  Grant grant;
  double place = 0;  ///< On the schedule.
};

/// Hands out pages of the run's one stream. Safe to call from any thread; never waits for anything
/// but a lock.
class PageSource {
 public:
  virtual ~PageSource() = default;

  /// The next page with what is embedded in it, cut to what the run's goals grant; a grant of 0
  /// requests when the run is over, or `later` where the next page has not come yet.
  virtual Grant next_page(std::vector<IntendedRequest>& page, storage::SteadyTime now) = 0;
  /// The same in an open loop, with its place on the schedule.
  virtual void next_page(ScheduledPage& page, storage::SteadyTime now) = 0;
  /// When a place of the schedule is due, as of now; nothing while the rate is 0.
  virtual std::optional<storage::SteadyTime> due(double place) const = 0;
  /// `come` is called, on any thread, after pages have come, with their number. Before the run
  /// starts only. Where no page ever comes later it is never called.
  virtual void on_arrival(std::function<void(size_t)> come) = 0;
};

}  // namespace workload
