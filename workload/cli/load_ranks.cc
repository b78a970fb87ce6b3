#include "workload/cli/load_ranks.h"

#include <chrono>
#include <fstream>
#include <iostream>
#include <sstream>
#include <thread>

#include "storage/base/clock.h"
#include "workload/cli/command.h"
#include "workload/ensemble/lead.h"
#include "workload/ensemble/muster.h"
#ifdef CACHEOFF_HAS_MPI
#include "workload/mpi/mpi_ensemble.h"
#endif

namespace workload {
namespace {

constexpr std::chrono::seconds kFlushMax{5};

/// Version, command line and workload file of this process.
std::string fingerprint_of(const std::string& command, const std::string& workload) {
  std::ostringstream text;
  text << CACHEOFF_VERSION << '\n' << command;
  std::ifstream file(workload, std::ios::binary);
  if (file) text << file.rdbuf();
  return text.str();
}

}  // namespace

std::unique_ptr<Ensemble> join_ranks(const Launch& launch) {
#ifdef CACHEOFF_HAS_MPI
  static_cast<void>(launch);
  return join_mpi();
#else
  if (launch.rank == 0) {
    std::cerr << "cacheoff load: started as one of several processes, but built without MPI: "
                 "install libboost-mpi1.81-dev and libopenmpi-dev and build again"
              << std::endl;
  } else {
    // A launcher ends all at the first that fails, and the first rank is to have spoken by then.
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
  }
  return nullptr;
#endif
}

int LoadRanks::lead_all(Company& company, const std::function<int(Company&, bool&)>& lead) {
  bool lost = false;
  const int status = lead(company, lost);
  send_final(ensemble_, status);
  const bool sent = ensemble_.flush(kFlushMax);
  if (lost || !sent) ensemble_.abandon(status == kExitSuccess ? kExitFailed : status);
  return status;
}

int LoadRanks::run(const std::string& command, const std::string& workload,
                   const std::string& refusal, const std::function<int(Company&, bool&)>& lead,
                   const std::function<FollowOutcome(Company&)>& follow) {
  const storage::SystemClock clock;
  const EnsembleTiming timing;
  const MusterEntry own{fingerprint_of(command, workload), refusal};
  const bool leads = ensemble_.rank() == 0;
  const MusterOutcome all = leads ? muster_as_lead(ensemble_, clock, own, timing)
                                  : muster_as_follower(ensemble_, clock, own, timing);
  if (!all.go) {
    if (leads) {
      std::cerr << "cacheoff load: " << all.refusal << std::endl;
      ensemble_.flush(kFlushMax);
    }
    return kExitUsage;
  }
  Company company{ensemble_, all.hosts, timing};
  if (leads) return lead_all(company, lead);
  const FollowOutcome outcome = follow(company);
  if (outcome.loss.empty()) return outcome.exit_status;
  std::cerr << "cacheoff load: rank " << ensemble_.rank() << ": " << outcome.loss << std::endl;
  ensemble_.abandon(kExitFailed);
  return kExitFailed;
}

}  // namespace workload
