// Our own proxy as a system under test.
#include "workload/experiment/program_commands.h"
#include "workload/system/set_ups.h"

namespace workload {

SystemSetup set_up_own_proxy(const SystemRun& run) {
  std::vector<std::string> caches;
  for (const auto& path : run.cache_paths) {
    caches.push_back(cache_dir_argument(run.cell, path, run.share_bytes));
  }
  if (caches.empty()) caches.push_back(cache_dir_argument(run.cell, {}, run.share_bytes));
  SystemSetup setup;
  setup.access_log = "access.log";
  setup.command =
      proxy_command(run.program, caches, (run.folder / setup.access_log).string(), run.options);
  setup.counters = {{"metrics.txt", "/metrics"}, {"status.json", "/status"}};
  return setup;
}

}  // namespace workload
