// What is asked for and, in an open loop, when: the stream of intended requests, page by page.
#pragma once

#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <vector>

#include "workload/client/arrival_schedule.h"
#include "workload/client/page_source.h"
#include "workload/client/run_control.h"
#include "workload/model/request_stream.h"

namespace workload {

/// Hands out the pages of one stream in order, to whichever thread asks, so that what is asked for
/// does not depend on the number of threads.
class RequestSource final : public PageSource {
 public:
  /// `control` must outlive the source. `schedule` is for an open loop.
  RequestSource(const Workload& workload, uint64_t seed, RunControl& control,
                std::optional<ArrivalSchedule> schedule = std::nullopt);

  Grant next_page(std::vector<IntendedRequest>& page, storage::SteadyTime now) override;
  void next_page(ScheduledPage& page, storage::SteadyTime now) override;
  /// Pages never come later: does nothing.
  void on_arrival(std::function<void(size_t)> come) override;
  /// Takes back a page that was handed out, for whoever asks next.
  void put_back(std::vector<IntendedRequest> page, const Grant& grant);

  /// The schedule's rate from `now` on.
  void set_rate(double rate_rps, storage::SteadyTime now);
  std::optional<storage::SteadyTime> due(double place) const override;
  /// Requests of an open loop that are due before `time` and that nobody has taken.
  uint64_t not_taken_until(storage::SteadyTime time) const;

 private:
  void read_ahead(storage::SteadyTime now);
  Grant take(std::vector<IntendedRequest>& page, storage::SteadyTime now);

  mutable std::mutex mutex_;
  RunControl& control_;
  RequestStream stream_;
  std::optional<ArrivalSchedule> schedule_;
  std::vector<IntendedRequest> ahead_;  ///< The next page, whole.
  std::deque<std::vector<IntendedRequest>> put_back_;
};

}  // namespace workload
