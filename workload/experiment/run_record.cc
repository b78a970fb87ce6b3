#include "workload/experiment/run_record.h"

#include <optional>

#include "workload/experiment/program_commands.h"
#include "workload/report/json_text.h"

namespace workload {

void add_surroundings(boost::json::object& record, const RunWitnesses& witnesses,
                      const RunObservation& seen, const ProgramCounters& counters,
                      std::vector<std::string>& warnings) {
  record["run"] = witnesses.request.round;
  record["seed"] = seed_of_round(witnesses.options.seed, witnesses.request.round);
  record["disk"] = witnesses.watch.disk();
  record["devices"] = witnesses.places.device_descriptions();
  witnesses.disks.account(record);
  const uint64_t requests = count_at(record, "requests");
  record["disk"].as_object()["operations_per_request"] =
      json_number(disk_operations_per(record, requests));
  add_run_costs(record, counters, requests);
  record["memory"] = nullptr;
  if (witnesses.memory != nullptr) {
    const MemoryAccount account = witnesses.memory->account();
    record["memory"] = memory_to_json(account);
    for (auto& line : memory_warnings(account)) warnings.push_back(std::move(line));
  }
  const auto percent = [](const std::optional<double>& share) {
    return json_number(share ? std::optional(*share * 100) : std::nullopt);
  };
  record["steal_percent"] = percent(seen.steal_share);
  record["machine_busy_percent"] = percent(seen.machine_busy_share);
  record["proxy_blocked_percent"] = percent(witnesses.watch.proxy_blocked_share());
  record["mount_options_in_force"] = witnesses.places.options_in_force();
  record["mount_option_outcomes"] = witnesses.places.option_outcomes();
}

Expected<void> finish_record(boost::json::object& record, const RunRequest& request,
                             const RunVerdict& verdict,
                             const std::vector<std::vector<std::string>>& warnings,
                             const std::string& failure) {
  record["warnings"] = merge_warnings(record, warnings);
  record["valid"] = verdict.valid && failure.empty();
  record["failure"] = failure.empty() ? nullptr : boost::json::value(failure);
  return write_file(request.folder / kRunRecordFile, to_pretty_json(record));
}

}  // namespace workload
