// An experiment as a TOML file: every option by its name, and what only a file can say.
#pragma once

#include <string>
#include <string_view>

#include "workload/experiment/expected.h"
#include "workload/experiment/options.h"

namespace workload {

/// Sets the options that the text names. Keys are option names (`cache-size`, or with `_`); values
/// are strings, numbers, booleans or arrays of them. `[scheme-options]` adds to a scheme's
/// --cache-dir; each `[[exclude]]` with `scheme`, `filesystem`, `mount` leaves out the cells that
/// match. The Problem names file, line, key and what would be right.
Expected<void> apply_options_text(ExperimentOptions& options, std::string_view toml,
                                  const std::string& file);

/// The same for a file of at most 1 MiB.
Expected<void> apply_options_file(ExperimentOptions& options, const std::string& path);

/// Whether the file sets `quick = true`; other keys are not looked at.
Expected<bool> file_asks_for_quick(const std::string& path);

}  // namespace workload
