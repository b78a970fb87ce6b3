// What a run's record says of machine, devices and places, whatever its programs are.
#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "workload/experiment/disk_account.h"
#include "workload/experiment/expected.h"
#include "workload/experiment/memory_limit.h"
#include "workload/experiment/run_cost.h"
#include "workload/experiment/run_watch.h"
#include "workload/experiment/runner.h"
#include "workload/experiment/verdict.h"
#include "workload/filesystem/cache_places.h"

namespace workload {

/// Who watched a run whose load is over. All references outlive what takes them.
struct RunWitnesses {
  const RunRequest& request;
  const ExperimentOptions& options;
  const RunWatch& watch;
  const DiskAccount& disks;
  const CachePlaces& places;
  const MemoryLimit* memory = nullptr;  ///< Null where there was no limit.
};

/// Adds what they saw, keys as in docs/experiments.md, to a record that has its figures, `cpu_s`
/// and `peak_rss_bytes`. `warnings` gets what was not as asked for of memory.
void add_surroundings(boost::json::object& record, const RunWitnesses& witnesses,
                      const RunObservation& seen, const ProgramCounters& counters,
                      std::vector<std::string>& warnings);

/// Adds `warnings` (those that are there, then the lists), `valid` and `failure` (null where the
/// text is empty), and writes the record as the last file of the run's folder.
Expected<void> finish_record(boost::json::object& record, const RunRequest& request,
                             const RunVerdict& verdict,
                             const std::vector<std::vector<std::string>>& warnings,
                             const std::string& failure);

}  // namespace workload
