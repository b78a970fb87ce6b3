#include "workload/experiment/machine_stats.h"

namespace workload {

// POSIX has no name for what a folder lies on.
std::optional<BlockDevice> block_device_of(const std::filesystem::path&) {
  return std::nullopt;
}

}  // namespace workload
