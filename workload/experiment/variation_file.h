// What an experiment varies, read from its file: `[vary.SYSTEM]` and `[[variant]]`.
#pragma once

#include <toml++/toml.h>

#include <string>

#include "workload/experiment/expected.h"
#include "workload/experiment/variation.h"

namespace workload {

/// Reads the table `vary` in place of what was varied so far: a table for each system, in it a list
/// of values for each option. The Problem names file, line, table and key.
Expected<void> read_vary_table(OptionVariation& variation, const toml::node& node,
                               const std::string& file);

/// Reads the tables `[[variant]]`, each with `name`, `system` and `options`, in place of those so
/// far. The Problem likewise.
Expected<void> read_variant_tables(OptionVariation& variation, const toml::node& node,
                                   const std::string& file);

}  // namespace workload
