// `cacheoff report`: redraws table, figures and page of result folders.
#include <exception>
#include <iostream>

#include "workload/cli/command.h"
#include "workload/compare/effects_report.h"
#include "workload/report/printable_text.h"
#include "workload/report/report.h"

namespace workload {
namespace {

constexpr std::string_view kUsage =
    "usage: cacheoff report DIR...\n\n"
    "Draws summary.csv, summary.txt, figures/ and report.html of each result folder again, and\n"
    "effects.csv and effects.json where options were varied, from its results.json and its cells'\n"
    "data, and prints the tables.\n\n"
    "example: cacheoff report results/first\n";

Expected<ReportFiles> draw(const std::string& folder, const Results& results) {
  const auto effects = write_effects(folder, results);
  if (!effects) return effects.error();
  return write_report(folder, results, *effects);
}

int report(const std::vector<std::string>& folders) {
  int status = kExitSuccess;
  for (const auto& folder : folders) {
    const auto results = read_results(folder);
    const auto files = results ? draw(folder, *results) : Expected<ReportFiles>(results.error());
    if (!files) {
      std::cerr << "cacheoff report: " << printable(files.error().text) << '\n';
      status = results ? kExitFailed : kExitUsage;
      continue;
    }
    if (folders.size() > 1) std::cout << folder << ":\n";
    std::cout << files->table << "report: " << files->page.string() << std::endl;
  }
  return status;
}

}  // namespace

int run_report_command(const std::vector<std::string>& arguments) {
  for (const auto& argument : arguments) {
    if (argument == "--help" || argument == "-h") {
      std::cout << kUsage;
      return kExitSuccess;
    }
    if (argument.size() > 1 && argument.front() == '-') {
      std::cerr << "cacheoff report: no such option: '" << argument
                << "' (see 'cacheoff report --help')\n";
      return kExitUsage;
    }
  }
  if (arguments.empty()) {
    std::cerr << "cacheoff report: which result folder? (see 'cacheoff report --help')\n";
    return kExitUsage;
  }
  try {
    return report(arguments);
  } catch (const std::exception& error) {
    std::cerr << "cacheoff report: " << error.what() << '\n';
    return kExitFailed;
  }
}

}  // namespace workload
