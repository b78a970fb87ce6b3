// How the processes of a run come together: all agree on what they run, and on the time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "storage/base/clock.h"
#include "workload/ensemble/clock_match.h"
#include "workload/ensemble/ensemble.h"
#include "workload/ensemble/messages.h"

namespace workload {

/// What a process brings.
struct MusterEntry {
  /// Version, command line and inputs: must be the same everywhere.
  std::string fingerprint;
  /// Why it can't run, one line; empty where it can.
  std::string refusal;
};

/// What came of it.
struct MusterOutcome {
  /// Why the run can't be, one line; empty where all go on. Only the lead knows the reason.
  std::string refusal;
  bool go = false;
  std::vector<std::string> hosts;  ///< By rank; the lead's alone.
};

/// The lead's part: waits for all, and tells them. `own` is this process'.
MusterOutcome muster_as_lead(Ensemble& ensemble, const storage::Clock& clock,
                             const MusterEntry& own, const EnsembleTiming& timing);

/// Another rank's part.
MusterOutcome muster_as_follower(Ensemble& ensemble, const storage::Clock& clock,
                                 const MusterEntry& own, const EnsembleTiming& timing);

/// When a run starts.
struct RunStart {
  storage::SteadyTime at{};
  uint64_t transaction_base = 0;
  ClockOffset offset;  ///< From this process' clock to the lead's.
  /// What other ranks, which had started already, sent meanwhile.
  std::vector<EnsembleMessage> early;
};

/// The lead's part after muster_as_lead(): lets all compare their clocks with its own, and says
/// when the run starts. Throws WireError where one does not answer in time or not as it should.
RunStart start_as_lead(Ensemble& ensemble, const storage::Clock& clock, uint64_t transaction_base,
                       const EnsembleTiming& timing);

/// Another rank's part.
RunStart start_as_follower(Ensemble& ensemble, const storage::Clock& clock,
                           const EnsembleTiming& timing);

}  // namespace workload
