// What an open loop did not come to before the run ended.
#pragma once

#include <cstdint>

#include "storage/base/clock.h"
#include "workload/client/request_source.h"
#include "workload/client/run_control.h"
#include "workload/client/run_part.h"

namespace workload {

/// Adds `requests` that were due at `due` and never came to be sent, as offered ones. Nothing where
/// that was not within a recorded phase, or not before the run's end.
void add_overdue(RunPart& part, const RunControl& control, storage::SteadyTime due,
                 uint64_t requests);

/// Adds those that the schedule had due until the run's end and that nobody took from it, in the
/// intervals and phases in which they were due: as many as are expected of it, since they are not
/// drawn any more. Nothing where the run was aborted. After all threads have ended.
void add_never_taken(RunPart& part, const RunControl& control, const RequestSource& source);

}  // namespace workload
