// What is asked for and, in an open loop, when: the stream of intended requests, page by page.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "workload/client/arrival_schedule.h"
#include "workload/client/run_control.h"
#include "workload/model/request_stream.h"

namespace workload {

/// What an infinite cache would have made of the requests that were released.
struct IdealTally {
  uint64_t basic = 0;
  uint64_t hits = 0;
  uint64_t bytes = 0;  ///< Body bytes of basic requests.
  uint64_t hit_bytes = 0;

  void add(const IntendedRequest& request);
  void merge(const IdealTally& other);
  std::optional<double> hit_ratio_percent() const;
  std::optional<double> byte_hit_ratio_percent() const;
};

/// A page of an open loop.
struct ScheduledPage {
  std::vector<IntendedRequest> requests;
  Grant grant;
  double place = 0;  ///< On the schedule.
};

/// Hands out the pages of one stream in order, to whichever thread asks, so that what is asked for
/// does not depend on the number of threads. Safe to call from any thread.
class RequestSource {
 public:
  /// `control` must outlive the source. `schedule` is for an open loop.
  RequestSource(const Workload& workload, uint64_t seed, RunControl& control,
                std::optional<ArrivalSchedule> schedule = std::nullopt);

  /// The next page with what is embedded in it, cut to what the run's goals grant; a grant of 0
  /// requests when the run is over.
  Grant next_page(std::vector<IntendedRequest>& page, storage::SteadyTime now);
  /// The same in an open loop, with its place on the schedule.
  void next_page(ScheduledPage& page, storage::SteadyTime now);

  /// The schedule's rate from `now` on.
  void set_rate(double rate_rps, storage::SteadyTime now);
  /// When a place of the schedule is due, as of now; nothing while the rate is 0.
  std::optional<storage::SteadyTime> due(double place) const;

 private:
  void read_ahead(storage::SteadyTime now);
  Grant take(std::vector<IntendedRequest>& page, storage::SteadyTime now);

  mutable std::mutex mutex_;
  RunControl& control_;
  RequestStream stream_;
  std::optional<ArrivalSchedule> schedule_;
  std::vector<IntendedRequest> ahead_;  ///< The next page, whole.
};

}  // namespace workload
