// The `[[phases]]` of a workload file; docs/workload.md describes the keys.
#pragma once

#include <toml++/toml.h>

#include <ostream>
#include <string>
#include <vector>

#include "workload/model/phases.h"

namespace workload {

/// What is wrong, and where.
struct PhasesProblem {
  const toml::node* node = nullptr;  ///< Null: the file as a whole.
  std::string text;                  ///< Names the key; empty where all is well.
};

/// The shortest text that reads back as the same number.
std::string number_text(double value);

/// Reads the array of tables `node` into `phases`. A factor that a phase does not name stays where
/// the phase before left it, 1 in the first.
PhasesProblem read_phases(const toml::node& node, std::vector<Phase>& phases);

/// Writes them as read_phases() reads them, every key spelled out.
void write_phases(std::ostream& out, const std::vector<Phase>& phases);

}  // namespace workload
