// Workloads as TOML files; docs/workload.md describes the keys.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "workload/model/workload.h"

namespace workload {

/// Reads a workload from text. `file` is named in errors. Keys that are absent keep the value of
/// the workload that `base` names, `simple` where that is absent too; but a file without `base`
/// that has content types has these alone. Unknown keys are errors. Nothing where something is
/// wrong; `error` is then one line with file, line, key and what would be right.
std::optional<Workload> parse_workload(std::string_view toml, const std::string& file,
                                       std::string& error);

/// The name of a built-in workload, or the path of a workload file of at most 1 MiB.
std::optional<Workload> load_workload(const std::string& name_or_path, std::string& error);

/// The workload with every key written out. Reading it back gives an equal workload, with the
/// content in order of type.
std::string workload_to_toml(const Workload& workload);

}  // namespace workload
