// `cacheoff load` as one of several processes that mpirun has started.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "workload/client/load_options.h"
#include "workload/client/load_run.h"
#include "workload/ensemble/ensemble.h"
#include "workload/ensemble/launch.h"

namespace workload {

/// Joins the processes that the launcher started. Null where this program is built without MPI:
/// then the first of them has said so on standard error.
std::unique_ptr<Ensemble> join_ranks(const Launch& launch);

/// Brings the ranks of a load together and ends them together: rank 0 alone speaks, and all have
/// its exit status.
class LoadRanks {
 public:
  /// `ensemble` must outlive it.
  explicit LoadRanks(Ensemble& ensemble) : ensemble_(ensemble) {}

  RankPlace place() const { return {ensemble_.rank(), ensemble_.size()}; }

  /// Compares what all ranks were told, and runs `lead` or `follow` where nobody has a `refusal`
  /// (one line; empty where this rank can run). `command`: this rank's command line; `workload`:
  /// the name of a workload, or a file that every machine must hold alike. `lead` sets whether a
  /// rank was lost. Returns the exit status.
  int run(const std::string& command, const std::string& workload, const std::string& refusal,
          const std::function<int(Company&, bool&)>& lead,
          const std::function<FollowOutcome(Company&)>& follow);

 private:
  int lead_all(Company& company, const std::function<int(Company&, bool&)>& lead);

  Ensemble& ensemble_;
};

}  // namespace workload
