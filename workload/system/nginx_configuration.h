// nginx's configuration as nginx reads it, with its own defaults, and what its log says of it.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "workload/experiment/effective_configuration.h"

namespace workload {

/// A directive of nginx.conf. A block's are in a section of its name and words below that of the
/// block: `http/server/location /`.
struct NginxDirective {
  std::string section;
  std::vector<std::string> words;  ///< The first is its name. Quotes are gone.
};

/// All directives but the blocks themselves, in order, without comments. Text that is no such
/// configuration gives what can be read of it.
std::vector<NginxDirective> parse_nginx(std::string_view text);

/// The machine that nginx is configured for.
struct NginxMachine {
  std::string kernel;  ///< As uname has it: `Linux`.
  unsigned cpus = 1;
};

/// What nginx makes of it: defaults filled in, times in ms and sizes in bytes, `auto` counted, and
/// for directives that are inherited the value that counts for requests (of the innermost of
/// `location /`, `server` and `http`).
EffectiveConfiguration nginx_configuration(std::string_view text, const NginxMachine& machine);

/// `events.use` out of the notice that nginx logs when it starts (`using the "epoll" event
/// method`); empty where there is none.
std::map<std::string, std::string> said_by_nginx(std::string_view log);

}  // namespace workload
