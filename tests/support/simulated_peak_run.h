// An open loop that the peak finder steers against a server of known capacity, in simulated time.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

#include "storage/base/clock.h"
#include "storage/base/random.h"
#include "tests/support/queueing_server.h"
#include "workload/client/arrival_schedule.h"
#include "workload/client/peak_sampler.h"

namespace testing_support {

/// What a simulated system does with a request. Times are in seconds.
struct SimulatedSystem {
  size_t servers = 1;
  double capacity_rps = 1000;  ///< Of all servers together, once the cache is as full as it gets.
  double delay_s = 0;          ///< That every request takes besides.
  /// Misses take a think time besides: normal, of this mean and two fifths of it. 0: no misses.
  double think_s = 0;
  double miss_share_first = 0.8;  ///< While the cache is empty.
  double miss_share_last = 0.45;  ///< Once it is full.
  double fill_requests = 1;       ///< The surplus of misses falls to 1/e with so many requests.
  double miss_cost = 1;           ///< Service time of a miss over that of a hit.
  uint64_t cold_requests = 0;     ///< So many first ones take `cold_s` longer each.
  double cold_s = 0;
  uint64_t in_system_max = UINT64_MAX;  ///< More than these fail at once.

  double miss_share(double requests) const {
    if (think_s == 0) return 0;
    const double surplus = miss_share_first - miss_share_last;
    return miss_share_last + surplus * std::exp(-requests / fill_requests);
  }
  double hit_service_s() const {
    const double mean_cost = 1 + miss_share(INFINITY) * (miss_cost - 1);
    return static_cast<double>(servers) / capacity_rps / mean_cost;
  }
  /// Mean service time after so many requests, and mean of all else that they take.
  double service_s(double requests) const {
    return hit_service_s() * (1 + miss_share(requests) * (miss_cost - 1));
  }
  /// Squared coefficient of variation of the service times.
  double spread(double requests) const {
    const double share = miss_share(requests);
    const double mean = 1 + share * (miss_cost - 1);
    return 2 * (1 + share * (miss_cost * miss_cost - 1)) / (mean * mean) - 1;
  }
  double base_delay_s(double requests) const { return delay_s + miss_share(requests) * think_s; }
};

class SimulatedPeakRun {
 public:
  SimulatedPeakRun(const SimulatedSystem& system, const workload::PeakFinderOptions& options,
                   uint64_t seed)
      : system_(system),
        options_(options),
        server_(system.servers, storage::Random(seed).fork(1)),
        random_(storage::Random(seed).fork(3)),
        schedule_(true, storage::Random(seed).fork(2), kStart),
        sampler_(options, kStart) {
    schedule_.set_rate(sampler_.rate_rps(), kStart);
    place_ = schedule_.take(1);
  }

  /// Runs until there are `samples` samples; those that begin after `measured_from` count.
  void run(size_t samples, size_t measured_from) {
    const double look_s = options_.sample_s / kLooksPerSample;
    while (finder().points().size() < samples) {
      now_s_ += look_s;
      arrive_until(now_s_);
      end_until(now_s_);
      const bool measured = finder().points().size() >= measured_from;
      sampler_.look(counts_, time_at(now_s_), measured);
      schedule_.set_rate(sampler_.rate_rps(), time_at(now_s_));
    }
  }

  /// Nobody serves for so long from now on.
  void stall(double length_s) { server_.stall(now_s_ + length_s); }

  const workload::PeakFinder& finder() const { return sampler_.finder(); }
  double now_s() const { return now_s_; }
  uint64_t offered() const { return counts_.offered; }
  /// The rate at which the mean response time is the target, as the cache is now.
  double true_rate() const {
    const auto requests = static_cast<double>(counts_.offered);
    return rate_at_s(system_.servers, system_.service_s(requests), system_.spread(requests),
                     options_.target_ms() / 1e3 - system_.base_delay_s(requests));
  }

 private:
  static constexpr storage::SteadyTime kStart{};
  static constexpr double kLooksPerSample = 50;

  static storage::SteadyTime time_at(double time_s) {
    return kStart + storage::Nanoseconds(std::llround(time_s * 1e9));
  }

  double normal() {
    constexpr double kPi = 3.14159265358979323846;
    return std::sqrt(-2 * std::log1p(-random_.uniform())) * std::cos(2 * kPi * random_.uniform());
  }

  double end_of(double due_s) {
    const bool miss = random_.uniform() < system_.miss_share(static_cast<double>(counts_.offered));
    double delay_s = system_.delay_s;
    if (miss) delay_s += system_.think_s * std::max(0.0, 1 + 0.4 * normal());
    if (counts_.offered <= system_.cold_requests) delay_s += system_.cold_s;
    return server_.serve(due_s, system_.hit_service_s() * (miss ? system_.miss_cost : 1)) + delay_s;
  }

  void arrive_until(double now_s) {
    for (;;) {
      const auto due = schedule_.due(place_);
      if (!due || *due > time_at(now_s)) return;
      place_ = schedule_.take(1);
      ++counts_.offered;
      const double due_s = std::chrono::duration<double>(due->time_since_epoch()).count();
      end_until(due_s);
      if (counts_.unfinished() > system_.in_system_max) {
        ++counts_.ended;
        ++counts_.errors;
        continue;
      }
      ends_.push({end_of(due_s), due_s});
    }
  }

  void end_until(double now_s) {
    for (; !ends_.empty() && ends_.top().first <= now_s; ends_.pop()) {
      ++counts_.ended;
      ++counts_.good;
      counts_.response_time_ns +=
          static_cast<uint64_t>((ends_.top().first - ends_.top().second) * 1e9);
    }
  }

  SimulatedSystem system_;
  workload::PeakFinderOptions options_;
  QueueingServer server_;
  storage::Random random_;
  workload::ArrivalSchedule schedule_;
  workload::PeakSampler sampler_;
  double place_ = 0;
  double now_s_ = 0;
  workload::LiveCounts counts_;
  /// End and due time of what is in the system, the next to end on top.
  std::priority_queue<std::pair<double, double>, std::vector<std::pair<double, double>>,
                      std::greater<>>
      ends_;
};

}  // namespace testing_support
