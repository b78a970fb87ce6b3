// What the configurations of nginx have in common, whatever it serves.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "workload/system/adapter.h"
#include "workload/system/directives.h"

namespace workload {

/// As good as no limit to a connection's requests.
inline constexpr const char* kNginxManyRequests = "1000000000";

/// Sections of what does not belong into `http`, by name.
const std::map<std::string, std::string, std::less<>>& nginx_sections();

/// Adds to `main`, `events` and `http` what is the same for all: one worker, its limits, folders
/// for temporary files, sendfile, connections that are kept. `access_log` is the value of that
/// directive.
void add_nginx_basics(const SystemRun& run, const std::string& access_log, Directives& directives);

/// The file's beginning: in the foreground, with its log in the run's folder.
std::string nginx_head(const SystemRun& run);

/// The directives of `main`, and the block of `events`.
std::string nginx_main_and_events(const Directives& directives);

/// The command that runs nginx with the run's `nginx.conf`; logs are in `own_log` of the folder.
void add_nginx_command(const SystemRun& run, SystemSetup& setup);

}  // namespace workload
