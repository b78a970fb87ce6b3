// What the system of a cell is configured to, found out without running it.
#pragma once

#include <string>
#include <vector>

#include "workload/experiment/effective_configuration.h"
#include "workload/experiment/options.h"
#include "workload/experiment/plan.h"
#include "workload/experiment/proxy_options.h"

namespace workload {

/// What a configuration comes to besides what is written in it.
struct ConfigurationGrounds {
  std::string kernel;  ///< As uname has it.
  unsigned cpus = 1;
  uint64_t open_files_max = 0;
  std::vector<ProxyOptionRow> proxy_options;  ///< Of our own proxy.
};

/// This machine, without the options of the proxy.
ConfigurationGrounds grounds_here();

/// The configuration that is generated for the cell, with ports and folders that are the same for
/// all cells. With defaults filled in for nginx and for our own proxy; of other systems, the lines
/// of their files and the words of their command, without comments.
EffectiveConfiguration configuration_of_cell(const CellPlan& cell, const ExperimentOptions& options,
                                             const ConfigurationGrounds& grounds);

/// Sets the configuration of each cell that is a variant or is the base of some.
void configure_variants(Plan& plan, const ExperimentOptions& options,
                        const ConfigurationGrounds& grounds);

}  // namespace workload
