// What a subcommand of `cacheoff` is; each lives in a file of its own beside this one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace workload {

/// Exit statuses of every program of the project.
inline constexpr int kExitSuccess = 0;
inline constexpr int kExitFailed = 1;  ///< The run failed, or its result is not valid.
inline constexpr int kExitUsage = 2;   ///< The command line or an input file is wrong.

/// A subcommand. `run` gets the arguments behind the name, returns the exit status, and throws
/// nothing.
struct Command {
  std::string_view name;
  std::string_view summary;
  int (*run)(const std::vector<std::string>& arguments);
};

int run_origin_command(const std::vector<std::string>& arguments);
int run_load_command(const std::vector<std::string>& arguments);
int run_replay_command(const std::vector<std::string>& arguments);
int run_ab_command(const std::vector<std::string>& arguments);
int run_trace_command(const std::vector<std::string>& arguments);
int run_bench_command(const std::vector<std::string>& arguments);
int run_compare_command(const std::vector<std::string>& arguments);
int run_report_command(const std::vector<std::string>& arguments);

}  // namespace workload
