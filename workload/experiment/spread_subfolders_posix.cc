#include "workload/experiment/runner.h"

namespace workload {

// There is no ext filesystem to ask.
void spread_subfolders(const std::filesystem::path&) {}

}  // namespace workload
