// What a run has before its programs begin: its folder, its cache's places, its list of commands.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "workload/experiment/expected.h"
#include "workload/experiment/runner.h"
#include "workload/filesystem/cache_places.h"

namespace workload {

/// What a run is called in the scratch folder: like no other's of this process.
std::string run_name(const RunRequest& request);

/// Makes the run's folder, which its programs can write to, and the places of its cache; writes to
/// the disk what earlier runs left to be written; notes the commands that made the places. A
/// Problem where one of these can't be done.
Expected<std::unique_ptr<CachePlaces>> make_run_places(const RunRequest& request,
                                                       const ExperimentOptions& options,
                                                       const Programs& programs, StopSignals& stop);

/// Adds a command to the run's `commands.sh`.
Expected<void> note_command(const std::filesystem::path& run_folder,
                            const std::vector<std::string>& command);

}  // namespace workload
