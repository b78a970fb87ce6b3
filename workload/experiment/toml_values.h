// Values of a TOML file of an experiment, and where what is wrong with them stands.
#pragma once

#include <toml++/toml.h>

#include <optional>
#include <string>

#include "workload/experiment/expected.h"

namespace workload {

/// `FILE:LINE: TEXT`, which is the user's mistake.
Problem problem_at(const std::string& file, const toml::source_region& where, std::string text);

/// A scalar as the command line would give it; nothing for what is none.
std::optional<std::string> scalar_text(const toml::node& node);

/// The same, but truth is `on` or `off`, as systems write it in their configurations.
std::optional<std::string> system_text(const toml::node& node);

}  // namespace workload
