// A load run of several ranks in one process: what its tests share.
#pragma once

#include <thread>
#include <vector>

#include "tests/support/fake_ensemble.h"
#include "tests/unit/workload/load_run_under_test.h"
#include "workload/ensemble/lead.h"
#include "workload/ensemble/muster.h"

namespace workload {

using testing_support::FakeEnsemble;
using testing_support::FakeNetwork;

/// What each rank came to.
struct RanksOutcome {
  explicit RanksOutcome(std::chrono::nanoseconds interval) : lead(interval) {}
  LoadOutcome lead;
  std::vector<FollowOutcome> followers;
};

/// Runs `options` on as many ranks as the network has. A request log gets `.rankN` behind its name.
/// `interrupted_rank`, where it is a rank, is told to stop by `interrupted`.
inline RanksOutcome run_ranks(const LoadOptions& options, FakeNetwork& network,
                              const EnsembleTiming& timing = {},
                              const std::atomic<bool>* interrupted = nullptr,
                              size_t interrupted_rank = 0) {
  RanksOutcome outcome(options.sample_interval);
  outcome.followers.resize(network.ranks());
  const storage::SystemClock clock;
  const std::atomic<bool> never{false};
  const auto run_rank = [&](size_t rank) {
    FakeEnsemble ensemble(network, rank);
    LoadOptions own = options;
    own.place = {rank, network.ranks()};
    if (!own.request_log.empty()) own.request_log += ".rank" + std::to_string(rank);
    const auto& stop = interrupted != nullptr && rank == interrupted_rank ? *interrupted : never;
    const MusterEntry entry{"same", ""};
    const MusterOutcome all = rank == 0 ? muster_as_lead(ensemble, clock, entry, timing)
                                        : muster_as_follower(ensemble, clock, entry, timing);
    ASSERT_TRUE(all.go);
    Company company{ensemble, all.hosts, timing};
    if (rank > 0) {
      outcome.followers[rank] = follow_load(own, clock, stop, company);
      return;
    }
    outcome.lead = run_load(own, clock, stop, nullptr, &company);
    send_final(ensemble, outcome.lead.failure.empty() ? 0 : 1);
  };
  std::vector<std::thread> threads;
  for (size_t rank = 1; rank < network.ranks(); ++rank) threads.emplace_back(run_rank, rank);
  run_rank(0);
  for (std::thread& thread : threads) thread.join();
  return outcome;
}

}  // namespace workload
