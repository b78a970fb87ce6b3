// The program cacheoff-disk: its command line, and its life.
#pragma once

#include <string>
#include <vector>

namespace workload::disk {

/// Returns the exit status: 0, 1 for a failed run, 2 for a wrong command line or profile.
int run_disk_program(const std::vector<std::string>& arguments);

}  // namespace workload::disk
