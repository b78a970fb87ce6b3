// The options that say how a log becomes a plan, alike for every subcommand that reads logs.
#pragma once

#include <boost/program_options/options_description.hpp>
#include <boost/program_options/variables_map.hpp>
#include <string>
#include <vector>

#include "traces/replay_plan.h"
#include "workload/experiment/expected.h"

namespace workload {

/// The plan's options as text, and the log's name.
struct PlanArguments {
  std::string file, host, size, default_size, stripped_query;
};

/// Adds `--host`, `--size`, `--default-size` and `--stripped-query`. `arguments` must outlive the
/// description.
void describe_plan_options(PlanArguments& arguments,
                           boost::program_options::options_description& description);

/// Reads a command line with one file (into `arguments.file`) and the described options, without
/// guessing at shortened names. A Problem says what is wrong. Nothing is required where `help` is
/// given.
Expected<boost::program_options::variables_map> parse_with_file(
    const std::vector<std::string>& command_line,
    const boost::program_options::options_description& visible, PlanArguments& arguments);

/// The options as the plan takes them; the Problem names option, value and what would be right.
Expected<traces::PlanOptions> plan_options(const PlanArguments& arguments);

/// Opens and plans the log. A Problem where it can't be opened. `on_wait`: see traces::open_log().
Expected<traces::ReplayPlan> plan_log(const std::string& file, const traces::PlanOptions& options,
                                      traces::WaitNotice on_wait = {});

/// What to say where a log is of no use: the reason, what is supported, and the account of its
/// lines.
Problem useless_log(const std::string& file, const std::string& reason,
                    const traces::ReplayPlan& plan);

}  // namespace workload
