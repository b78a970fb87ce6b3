// The systems under test that the bench knows.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "workload/experiment/expected.h"
#include "workload/experiment/options.h"
#include "workload/experiment/plan.h"
#include "workload/experiment/verdict.h"
#include "workload/system/adapter.h"

namespace workload {

/// Those beside our own proxy, one row a scheme.
std::span<const SystemKind> other_systems();

/// The row of a scheme: that of our own proxy for each that is none of the others'.
const SystemKind& system_of_scheme(std::string_view scheme);

/// Whether a scheme is another system's.
bool is_other_system(std::string_view scheme);

/// The others as rows of the plan.
std::vector<SchemeRow> system_scheme_rows();

/// What the experiment says of a system's configuration: `[proxy-options]` for our own proxy,
/// `[system-options.NAME]` for the others.
std::map<std::string, std::string> options_of_system(const SystemKind& kind,
                                                     const ExperimentOptions& options);

/// The same for a cell, with what its variant has in the place of the base's.
std::map<std::string, std::string> options_of_cell(const CellPlan& cell,
                                                   const ExperimentOptions& options);

/// What the system of a scheme is called where an experiment varies options: kVariesProxy for our
/// own proxy.
std::string system_in_variation(std::string_view scheme);

/// Why an option can't stand in that system's `[system-options]`; empty where it can.
std::string fault_of_option(const SystemKind& kind, const std::string& name,
                            const std::string& value);

/// Whether the process that is started has children that do its work.
bool serves_by_children(const SystemKind& kind);

/// Moves what was seen of children and threads to where the system does its work, so that a full
/// one is the proxy's CPU (or its disk) and not a helper's.
void blame_worker(const SystemKind& kind, RunObservation& seen);

/// Why the scheme can't be run on this machine: its program is missing; empty where it can.
std::string why_no_system(std::string_view scheme);

/// A Problem where `[system-options]` name what there is not, or what the bench sets itself.
Expected<void> check_system_options(const ExperimentOptions& options);

/// Name and version of the programs of the other systems that these schemes need; the version is
/// empty where the program is missing. Runs them.
std::vector<std::pair<std::string, std::string>> system_versions(
    const std::vector<std::string>& schemes);

}  // namespace workload
