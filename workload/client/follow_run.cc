#include <algorithm>
#include <memory>
#include <thread>
#include <vector>

#include "workload/client/crew.h"
#include "workload/client/generator_limits.h"
#include "workload/client/load_run.h"
#include "workload/client/run_outcome.h"
#include "workload/client/run_phases.h"
#include "workload/ensemble/follower.h"

namespace workload {
namespace {

/// Looks until `done`, or until the lead is lost.
template <class Done>
void look_until(Follower& follower, const storage::Clock& clock,
                const std::atomic<bool>& interrupted, const EnsembleTiming& timing,
                const Done& done) {
  while (!done() && !follower.lost()) {
    std::this_thread::sleep_for(timing.poll);
    follower.look(clock.steady_now(), interrupted);
  }
}

FollowOutcome follow_from(const RunStart& start, const LoadOptions& options,
                          const storage::Clock& clock, const std::atomic<bool>& interrupted,
                          Company& company) {
  RunControl control(phases_of(options), options.cache_size_bytes, Deciding::kElsewhere);
  control.start(start.at);
  TransactionsUnderWay under_way({start.transaction_base, options.place.rank, options.place.ranks},
                                 options.workload.server.abort_percent > 0);
  std::unique_ptr<RequestLog> log;
  if (!options.request_log.empty()) log = std::make_unique<RequestLog>(options.request_log);
  Follower follower(company.ensemble, clock, control, under_way, options, start, company.timing);
  std::vector<std::unique_ptr<LoadWorker>> workers;
  for (uint64_t index = 0; index < static_cast<uint64_t>(options.threads); ++index) {
    workers.push_back(std::make_unique<LoadWorker>(options, control, follower.pages(), under_way,
                                                   clock, log.get(), &follower.doubts(),
                                                   options.first_thread() + index));
  }
  std::this_thread::sleep_for(start.at - clock.steady_now());
  Crew crew;
  crew.start(workers, control, start.at);
  while (!crew.wait(company.timing.poll)) follower.look(clock.steady_now(), interrupted);
  crew.join();

  RunPart part(options.sample_interval, control.phases().size());
  for (const auto& worker : workers) part.add(*worker);
  follower.add_never_sent(part);
  std::vector<std::string> warnings = health_warnings(health_of(part, options), options);
  const std::string ports = port_warning(options, read_port_limits());
  if (!ports.empty()) warnings.insert(warnings.begin(), ports);
  if (log && !log->close()) {
    control.abort(options.request_log.string() + ": the request log cannot be written");
  }
  look_until(follower, clock, interrupted, company.timing, [&] { return follower.settled(); });
  if (!follower.lost()) follower.send_result(std::move(part), warnings, clock.steady_now());
  look_until(follower, clock, interrupted, company.timing,
             [&] { return follower.final_status().has_value(); });
  FollowOutcome outcome;
  outcome.exit_status = follower.final_status().value_or(1);
  outcome.loss = follower.loss();
  return outcome;
}

}  // namespace

FollowOutcome follow_load(const LoadOptions& options, const storage::Clock& clock,
                          const std::atomic<bool>& interrupted, Company& company) {
  try {
    const RunStart start = start_as_follower(company.ensemble, clock, company.timing);
    return follow_from(start, options, clock, interrupted, company);
  } catch (const WireError& error) {
    FollowOutcome outcome;
    outcome.loss = error.what();
    return outcome;
  }
}

}  // namespace workload
