// The options of our own proxy as it lists them itself, so that one given with its default is known
// to say nothing.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "workload/experiment/effective_configuration.h"
#include "workload/experiment/expected.h"

namespace workload {

/// A row of `cacheoff-proxy --list-options`.
struct ProxyOptionRow {
  std::string name;          ///< Without dashes.
  std::string kind;          ///< `size`, `time`, `count` or `text`.
  std::string default_text;  ///< Empty where it has none.
};

/// Reads the tab-separated list; the Problem names the line that is wrong.
Expected<std::vector<ProxyOptionRow>> parse_proxy_options(std::string_view text);

/// What a command line of the proxy makes of it, with the defaults of `options` for what it leaves
/// out. Sizes and times stand in bytes and nanoseconds.
EffectiveConfiguration proxy_configuration(const std::vector<std::string>& command,
                                           const std::vector<ProxyOptionRow>& options);

}  // namespace workload
