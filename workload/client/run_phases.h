// The phases that a run is told to have, from the command line or from its workload.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "workload/client/load_options.h"

namespace workload {

/// Sets `options.phases` as `how` says: `file` (those of the workload, durations divided by the
/// time scale) or `polymix4,...` (see parse_polymix_phases()). Load, workload, cache size and time
/// scale must be set already. PolyMix-4's phases also cap the working set where the workload does
/// not. Empty where all is well, else what is wrong.
std::string set_phases(LoadOptions& options, std::string_view how);

/// The phases that the run has, whatever they follow from; never none.
std::vector<Phase> phases_of(const LoadOptions& options);

/// The load at full robots and load factors, in requests/s; 0 where it is not known beforehand.
double full_rate_rps(const LoadOptions& options);

}  // namespace workload
