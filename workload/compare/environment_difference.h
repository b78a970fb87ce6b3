// The machines and programs of several experiments, side by side.
#pragma once

#include <vector>

#include "workload/compare/comparison.h"
#include "workload/report/results.h"

namespace workload {

/// Host, operating system, kernel, processor, memory, compiler, versions, the cache's device and
/// filesystem, and the options of the systems; lines that no side says anything of are left out.
/// Behind them the settings of the kernel in which a side differs from another.
std::vector<EnvironmentLine> environment_lines(const std::vector<Results>& sides);

}  // namespace workload
