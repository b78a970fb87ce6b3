// A server of known capacity in simulated time: M/M/k, and with stalls.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <queue>
#include <vector>

#include "storage/base/random.h"

namespace testing_support {

/// `servers` of exponential service times behind one queue (first come, first served). Times are in
/// seconds; arrivals come in order of time.
class QueueingServer {
 public:
  QueueingServer(size_t servers, storage::Random random) : random_(random) {
    for (size_t server = 0; server < servers; ++server) free_at_.push(0);
  }

  /// When the request that arrives at `now_s` is served, in a time of this mean.
  double serve(double now_s, double service_mean_s) {
    const double free_s = free_at_.top();
    free_at_.pop();
    const double start_s = std::max(now_s, free_s);
    const double end_s = start_s - service_mean_s * std::log1p(-random_.uniform());
    free_at_.push(end_s);
    return end_s;
  }

  /// Nobody serves until `end_s`: all that would start before starts then.
  void stall(double end_s) {
    std::vector<double> times;
    for (; !free_at_.empty(); free_at_.pop()) times.push_back(std::max(free_at_.top(), end_s));
    for (const double time : times) free_at_.push(time);
  }

 private:
  storage::Random random_;
  std::priority_queue<double, std::vector<double>, std::greater<>> free_at_;
};

/// Mean time in such a system at a rate below its capacity (Erlang's C formula; Kleinrock:
/// "Queueing Systems", volume 1, 1975, section 3.5). `spread` is the squared coefficient of
/// variation of the service times, 1 where they are exponential; others by the approximation of
/// Allen and Cunneen (Allen: "Probability, Statistics, and Queueing Theory", 1990, section 5.3).
inline double mean_time_s(size_t servers, double service_mean_s, double spread, double rate_rps) {
  const double load = rate_rps * service_mean_s;  // In servers.
  // Erlang's B by its recursion, then C.
  double blocking = 1;
  for (size_t server = 1; server <= servers; ++server) {
    blocking = load * blocking / (static_cast<double>(server) + load * blocking);
  }
  const auto count = static_cast<double>(servers);
  const double use = load / count;
  const double waiting = blocking / (1 - use * (1 - blocking));
  return service_mean_s * (1 + waiting * (1 + spread) / 2 / (count * (1 - use)));
}

/// The rate at which the mean time is `target_s`; 0 where it is longer at no load.
inline double rate_at_s(size_t servers, double service_mean_s, double spread, double target_s) {
  double low = 0;
  double high = static_cast<double>(servers) / service_mean_s;
  for (int turn = 0; turn < 100; ++turn) {
    const double middle = (low + high) / 2;
    (mean_time_s(servers, service_mean_s, spread, middle) < target_s ? low : high) = middle;
  }
  return low;
}

}  // namespace testing_support
