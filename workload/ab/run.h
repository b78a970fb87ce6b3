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

/// What a run measured.
struct Measurement {
  Tally tally;
  double duration_s = 0;  ///< From the first connection to the last request's end; 0: none ended.
  std::vector<ThreadUse> threads;
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
