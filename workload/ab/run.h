// A whole run of `cacheoff ab`: its threads, from the first connection to the last response.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "workload/ab/first_response.h"
#include "workload/ab/options.h"
#include "workload/ab/tally.h"
#include "workload/ab/worker.h"
#include "workload/experiment/expected.h"

namespace workload::ab {

/// What a run needs beside the options.
struct RunInputs {
  std::string request;
  Address peer;
  std::optional<Address> local;
  int stop_fd = -1;  ///< Readable: leave off. -1: there is none.
  /// Called now and then from the thread of run_once() with the requests that are complete.
  std::function<void(uint64_t complete)> progress;
};

/// How far a run was at a moment.
struct ProgressSample {
  double elapsed_s = 0;   ///< Since its beginning.
  uint64_t complete = 0;  ///< Requests that had ended, well or badly.
  uint64_t good = 0;      ///< Of them, the good ones.
};

/// A run's progress, a sample every 50 ms at first. Where that would be more than kSamplesMax,
/// every other one is dropped and the next ones come half as often. One thread.
class ProgressSamples {
 public:
  static constexpr size_t kSamplesMax = 1000;

  /// Takes a sample, unless the last one is too near. The last of a run is always taken.
  void add(const ProgressSample& sample, bool is_last = false);
  const std::vector<ProgressSample>& samples() const { return samples_; }

 private:
  std::vector<ProgressSample> samples_;
  size_t offered_ = 0;  ///< Samples that came.
  size_t stride_ = 1;   ///< One of so many is kept.
};

/// What a run measured.
struct Measurement {
  Tally tally;
  double duration_s = 0;  ///< From the first connection to the last request's end; 0: none ended.
  std::vector<ThreadUse> threads;
  std::vector<ProgressSample> progress;  ///< In order; the last is the run's end.
  std::optional<BodyDigest> first_body;  ///< Nothing where no response was whole.
  std::string server;                    ///< The first response's Server field, as it came.
  std::string broken_off;                ///< Why; empty where it was not.
  bool out_of_time = false;              ///< -t ended it.
  bool interrupted = false;              ///< A signal ended it.

  double requests_per_s() const;
  double good_per_s() const;
  /// CPU time of all threads. Seconds.
  double cpu_s() const;
  /// The part of its time that the busiest thread was running or waiting for a CPU, 0 to 100.
  double busiest_percent() const;
};

/// The address of a host, or a Problem that begins with `what`.
Expected<Address> resolve(const std::string& what, const storage::HostPort& host);

/// Runs once. What peers do is in the result.
Measurement run_once(const Options& options, const RunInputs& inputs);

}  // namespace workload::ab
