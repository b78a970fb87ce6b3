// What cacheoff-proxy does from its command line to its exit status.
#pragma once

#include <string>
#include <vector>

namespace proxy {

/// Runs the program with its arguments (without its name). Returns the exit status: 0 done, 1
/// failed, 2 wrong usage. Handles SIGTERM and SIGINT (stop cleanly; the second one at once) and
/// SIGHUP (open the access log anew).
int run_program(const std::vector<std::string>& arguments);

}  // namespace proxy
