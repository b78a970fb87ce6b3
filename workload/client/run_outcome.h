// What becomes of a run's measurements: its result, its warnings, whether it failed.
#pragma once

#include <string>
#include <vector>

#include "workload/client/load_options.h"
#include "workload/client/load_run.h"
#include "workload/client/run_control.h"
#include "workload/client/run_part.h"
#include "workload/measure/run_result.h"

namespace workload {

/// The generator's condition, from its threads'.
GeneratorHealth health_of(const RunPart& part, const LoadOptions& options);

/// What people should know of it; the worst first.
std::vector<std::string> health_warnings(const GeneratorHealth& health, const LoadOptions& options);

/// Makes the result of the whole run's measurements.
void collect(LoadOutcome& outcome, const LoadOptions& options, const RunControl& control,
             const RunPart& part);

/// Adds what people should know: of the generator's health as given, and of the result.
void add_warnings(LoadOutcome& outcome, const LoadOptions& options,
                  const std::vector<std::string>& of_health);

/// Why the run failed, one line; empty where it did not.
std::string failure_of(const LoadOutcome& outcome, const RunControl& control, bool interrupted);

}  // namespace workload
