// Which cells this machine, this user and this kernel can run, found out by trying.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "workload/experiment/child_process.h"
#include "workload/experiment/expected.h"
#include "workload/experiment/options.h"
#include "workload/experiment/plan.h"

namespace workload {

/// Tries each filesystem with each set of mount options once, on a small image that goes at once,
/// and a modelled disk once where one is asked for.
/// Nothing is tried on a real device.
class MachineCheck {
 public:
  /// As root, enters a mount namespace of its own (enter_private_mounts()) where the options ask
  /// for anything that is mounted or lies on a device. Nothing more is tried once `stop` (may be
  /// null) received a signal.
  /// `disk_program` is cacheoff-disk, for cells on modelled disks.
  MachineCheck(const ExperimentOptions& options, std::filesystem::path disk_program,
               StopSignals* stop);

  /// Why the cell can't be run; empty where it can.
  std::string why_not(const CellPlan& cell);

 private:
  std::string try_out(const CellPlan& cell) const;
  std::string why_not_place(const CellPlan& cell);
  std::string why_not_method(const std::string& method);

  const ExperimentOptions& options_;
  std::filesystem::path disk_program_;
  StopSignals* stop_;
  std::string no_memory_limit_;  ///< Why memory can't be limited as asked for; empty where it can.
  std::string no_mounts_;        ///< Why nothing can be mounted; empty where it can.
  std::optional<std::string> no_disks_;  ///< Why there are no modelled disks; empty: there are.
  std::map<std::pair<std::string, std::string>, std::string> tried_;
  std::map<std::string, std::string> tried_methods_;
};

/// Whether anything of the experiment is mounted or lies on a device, so that it needs root.
bool needs_root(const ExperimentOptions& options);

/// As root, whether each device of --device-path may be used, see check_real_device(), and whether
/// each is another one, whatever its name.
Expected<void> check_devices(const ExperimentOptions& options);

/// As root, whether each device of --device-path has room for the cells that it is to carry.
Expected<void> check_device_sizes(const ExperimentOptions& options, const Plan& plan);

}  // namespace workload
