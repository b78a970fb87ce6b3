// A server of known capacity in simulated time: M/M/k, or with a stall.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <queue>
#include <vector>

#include "storage/base/random.h"

namespace testing_support {

/// `servers` of exponential service times behind one queue (first come, first served), and a delay
/// that every request takes besides. Times are in seconds; arrivals come in order of time.
class QueueingServer {
 public:
  QueueingServer(size_t servers, double service_mean_s, double delay_s, storage::Random random)
      : service_mean_s_(service_mean_s), delay_s_(delay_s), random_(random) {
    for (size_t server = 0; server < servers; ++server) free_at_.push(0);
  }

  /// When the request that arrives at `now_s` is answered.
  double serve(double now_s) {
    const double free_s = free_at_.top();
    free_at_.pop();
    const double start_s = std::max(now_s, free_s);
    const double end_s = start_s - service_mean_s_ * std::log1p(-random_.uniform());
    free_at_.push(end_s);
    return end_s + delay_s_;
  }

  /// Nobody serves from `begin_s` to `end_s`: all that would start in it starts at its end.
  void stall(double end_s) {
    std::vector<double> times;
    for (; !free_at_.empty(); free_at_.pop()) times.push_back(std::max(free_at_.top(), end_s));
    for (const double time : times) free_at_.push(time);
  }

 private:
  double service_mean_s_;
  double delay_s_;
  storage::Random random_;
  std::priority_queue<double, std::vector<double>, std::greater<>> free_at_;
};

/// Mean time in such a system at a rate below its capacity (Erlang's C formula; Kleinrock:
/// "Queueing Systems", volume 1, 1975, section 3.5).
inline double mean_time_s(size_t servers, double service_mean_s, double delay_s, double rate_rps) {
  const double load = rate_rps * service_mean_s;  // In servers.
  // Erlang's B by its recursion, then C.
  double blocking = 1;
  for (size_t server = 1; server <= servers; ++server) {
    blocking = load * blocking / (static_cast<double>(server) + load * blocking);
  }
  const auto count = static_cast<double>(servers);
  const double use = load / count;
  const double waiting = blocking / (1 - use * (1 - blocking));
  return delay_s + service_mean_s + waiting * service_mean_s / (count * (1 - use));
}

/// The rate at which the mean time is `target_s`.
inline double rate_at_s(size_t servers, double service_mean_s, double delay_s, double target_s) {
  double low = 0;
  double high = static_cast<double>(servers) / service_mean_s;
  for (int turn = 0; turn < 100; ++turn) {
    const double middle = (low + high) / 2;
    (mean_time_s(servers, service_mean_s, delay_s, middle) < target_s ? low : high) = middle;
  }
  return low;
}

}  // namespace testing_support
