// Our own `cacheoff origin --root` as a static server under test.
#include "workload/system/set_ups.h"

namespace workload {

SystemSetup set_up_static_origin(const SystemRun& run) {
  std::map<std::string, std::string> options{{"gzip", run.asked_for_gzip ? "on" : "off"},
                                             {"idle-timeout", "3600s"}};
  for (const auto& [name, value] : run.options) options[name] = value;
  SystemSetup setup;
  setup.access_log = "access.log";
  setup.command = {run.program,    "origin",
                   "--listen",     "127.0.0.1:0",
                   "--root",       run.cache_paths.front(),
                   "--access-log", (run.folder / setup.access_log).string()};
  for (const auto& [name, value] : options) {
    // An empty value stands for the program's own.
    if (!value.empty()) setup.command.push_back("--" + name + "=" + value);
  }
  return setup;
}

}  // namespace workload
