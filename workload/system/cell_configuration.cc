#include "workload/system/cell_configuration.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <sstream>

#include "workload/experiment/static_options.h"
#include "workload/filesystem/cache_places.h"
#include "workload/system/nginx_configuration.h"
#include "workload/system/registry.h"
#include "workload/system/running_system.h"

namespace workload {
namespace {

/// Ports that stand for any.
constexpr uint16_t kSomeOriginPort = 1;
constexpr uint16_t kSomePort = 2;
constexpr const char* kNginxFile = "nginx.conf";

/// A run that will never be, in folders that there are not.
SystemRun run_on_paper(const CellPlan& cell, const ExperimentOptions& options,
                       const ConfigurationGrounds& grounds) {
  SystemRun run;
  run.cell = cell;
  run.share_bytes = cache_share_bytes(cell, options.cache_size_bytes);
  for (unsigned disk = 1; cell.needs_path && disk <= cell.disks; ++disk) {
    run.cache_paths.push_back("/cache/" + std::to_string(disk));
  }
  run.options = options_of_cell(cell, options);
  run.program = "/program";
  run.folder = "/folder";
  run.scratch = "/scratch";
  run.instance = "instance";
  run.origin = {"127.0.0.1", kSomeOriginPort};
  run.listen = {"127.0.0.1", kSomePort};
  run.open_files_max = grounds.open_files_max;
  const auto load = ab_load_of(options);
  run.asked_for_gzip = load && load->gzip;
  return run;
}

void add_lines(EffectiveConfiguration& configuration, const SystemFile& file) {
  std::istringstream lines(file.text);
  size_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    const size_t begin = line.find_first_not_of(" \t");
    if (begin == std::string::npos || line[begin] == '#') continue;
    line = line.substr(begin);
    configuration.push_back({file.name, "line " + std::to_string(++number), line, line});
  }
}

}  // namespace

ConfigurationGrounds grounds_here() {
  ConfigurationGrounds grounds;
  utsname name{};
  if (uname(&name) == 0) grounds.kernel = name.sysname;
  grounds.cpus = static_cast<unsigned>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
  grounds.open_files_max = open_files_limit();
  return grounds;
}

EffectiveConfiguration configuration_of_cell(const CellPlan& cell, const ExperimentOptions& options,
                                             const ConfigurationGrounds& grounds) {
  const SystemKind& kind = system_of_scheme(cell.scheme);
  const SystemSetup setup = kind.set_up(run_on_paper(cell, options, grounds));
  if (kind.scheme.empty()) return proxy_configuration(setup.command, grounds.proxy_options);
  EffectiveConfiguration configuration;
  for (const auto& file : setup.files) {
    if (file.name == kNginxFile) {
      const auto lines = nginx_configuration(file.text, {grounds.kernel, grounds.cpus});
      configuration.insert(configuration.end(), lines.begin(), lines.end());
    } else {
      add_lines(configuration, file);
    }
  }
  for (size_t i = 0; i < setup.command.size(); ++i) {
    configuration.push_back(
        {"command", "word " + std::to_string(i), setup.command[i], setup.command[i]});
  }
  return configuration;
}

void configure_variants(Plan& plan, const ExperimentOptions& options,
                        const ConfigurationGrounds& grounds) {
  for (auto& cell : plan.cells) {
    if (!cell.variant.empty()) cell.configuration = configuration_of_cell(cell, options, grounds);
  }
}

}  // namespace workload
