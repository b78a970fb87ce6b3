// The `cacheoff` program: finds the subcommand and runs it.
#include <array>
#include <cstdio>
#include <iostream>

#include "storage/base/own_program.h"
#include "workload/cli/command.h"

namespace {

constexpr std::array<workload::Command, 8> kCommands{{
    {"bench", "run every cell of schemes x filesystems x mount options and report",
     workload::run_bench_command},
    {"origin", "serve the workload's objects, or the files of a folder",
     workload::run_origin_command},
    {"load", "drive a proxy with robots", workload::run_load_command},
    {"replay", "drive a proxy with an access log", workload::run_replay_command},
    {"ab", "ask for one URL, with ApacheBench's options and report", workload::run_ab_command},
    {"trace", "say what an access log holds", workload::run_trace_command},
    {"report", "redraw table and figures of result folders", workload::run_report_command},
    {"compare", "result folders side by side, with intervals and verdicts",
     workload::run_compare_command},
}};

void print_usage(std::ostream& out) {
  out << "usage: cacheoff COMMAND [options]\n\n"
         "Compares the ways a web cache can keep its objects on disk.\n\ncommands:\n";
  for (const auto& command : kCommands) {
    out << "  " << command.name << std::string(10 - command.name.size(), ' ') << command.summary
        << '\n';
  }
  out << "\n'cacheoff COMMAND --help' shows the options and an example.\n"
         "example: cacheoff bench --quick --out results/first\n"
         "         cacheoff compare results/first results/second\n";
}

}  // namespace

int main(int argc, char** argv) {
  storage::note_own_program(argv[0]);
  std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.empty()) {
    print_usage(std::cerr);
    return workload::kExitUsage;
  }
  const std::string name = arguments.front();
  if (name == "--help" || name == "-h" || name == "help") {
    print_usage(std::cout);
    return workload::kExitSuccess;
  }
  if (name == "--version") {
    std::cout << "cacheoff " CACHEOFF_VERSION "\n";
    return workload::kExitSuccess;
  }
  arguments.erase(arguments.begin());
  for (const auto& command : kCommands) {
    if (command.name != name) continue;
    const int status = command.run(arguments);
    std::cout.flush();
    if (std::cout) return status;
    std::cerr << "cacheoff " << name << ": standard output can't be written\n";
    return status == workload::kExitSuccess ? workload::kExitFailed : status;
  }
  std::cerr << "cacheoff: no such command: '" << name << "' (see 'cacheoff --help')\n";
  return workload::kExitUsage;
}
