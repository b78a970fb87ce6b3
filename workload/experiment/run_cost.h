// What a run's requests cost: waits, faults, device operations and bytes, each over the requests.
#pragma once

#include <boost/json/object.hpp>
#include <optional>

#include "workload/experiment/process_account.h"

namespace workload {

/// Growth of the counters of each program while the load was on; of the load generator in all.
struct ProgramCounters {
  std::optional<ProcessCounters> proxy;
  std::optional<ProcessCounters> load;
  std::optional<ProcessCounters> origin;
  ProcessCounters helper;  ///< What the proxy has started, all together.
  /// The proxy or a helper has files open that bypass the page cache.
  bool reads_directly = false;
};

/// Adds `counted_requests`, `context_switches`, `page_faults`, `page_cache_hit_percent`,
/// `disk_write_amplification` and `per_request` to a run's record, keys as in docs/experiments.md,
/// from these counters and from what the record holds already: `cpu_s`, `disk`, `storage`,
/// `access_log` and `requests`. `measured_requests`: where the counters are those of the measured
/// part alone, its requests. What the store did is known of the whole run only, so what would be
/// set against it is null then.
void add_run_costs(boost::json::object& record, const ProgramCounters& counters,
                   std::optional<uint64_t> measured_requests = std::nullopt);

}  // namespace workload
