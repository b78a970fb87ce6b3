// The pages that a process holds, where another one draws them.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <vector>

#include "workload/client/arrival_schedule.h"
#include "workload/client/page_source.h"
#include "workload/client/run_part.h"

namespace workload {

/// Hands out what it was dealt, in that order. Safe to call from any thread.
class DealtPages final : public PageSource {
 public:
  /// `control` must outlive it. `start` is the run's.
  DealtPages(RunControl& control, storage::SteadyTime start);

  Grant next_page(std::vector<IntendedRequest>& page, storage::SteadyTime now) override;
  void next_page(ScheduledPage& page, storage::SteadyTime now) override;
  std::optional<storage::SteadyTime> due(double place) const override;
  void on_arrival(std::function<void(size_t)> come) override;

  /// Pages have come.
  void put(std::vector<ScheduledPage> pages);
  /// The schedule's rate from `at` on, as the one who draws has set it.
  void set_rate(double rate_rps, storage::SteadyTime at);
  /// Whether no more will come, as was said by one who knew of `give_backs` times that something
  /// was given back here. A later give-back may bring more. Where none will, whoever waits is told:
  /// one who asks once more may not wait any longer.
  void set_exhausted(bool exhausted, uint64_t give_backs);
  /// Adds, as offered, those in hand that were due before the run's end: one request each, as
  /// nothing that is embedded has come.
  void add_never_sent(RunPart& part) const;
  /// Takes all pages out.
  std::vector<ScheduledPage> take_all();
  /// Takes those out that came too late for the phase that they were granted in, where the phase
  /// that is on counts its requests: they have to be granted anew.
  std::vector<ScheduledPage> take_overdue();
  bool any_overdue() const;

  size_t on_hand() const;
  /// Pages that were handed out so far.
  uint64_t handed_out() const;
  /// How often somebody was told to wait for a page, less those that were asked for.
  uint64_t waiting() const;
  /// So many of those that wait are provided for.
  void asked_for(uint64_t pages);

 private:
  bool take(ScheduledPage& page, storage::SteadyTime now);
  bool none_will_come() const;
  void tell_of(size_t pages) const;

  RunControl& control_;
  mutable std::mutex mutex_;
  ArrivalSchedule schedule_;
  std::deque<ScheduledPage> pages_;
  std::vector<ScheduledPage> overdue_;
  bool exhausted_ = false;
  uint64_t give_backs_known_ = 0;
  uint64_t handed_out_ = 0;
  uint64_t waiting_ = 0;
  std::vector<std::function<void(size_t)>> listeners_;
};

}  // namespace workload
