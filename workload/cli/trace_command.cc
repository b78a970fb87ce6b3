// `cacheoff trace`: says what an access log holds.
#include <algorithm>
#include <boost/program_options/options_description.hpp>
#include <iostream>

#include "workload/cli/command.h"
#include "workload/cli/plan_arguments.h"
#include "workload/client/replay_report.h"

namespace workload {

namespace {

namespace po = boost::program_options;

void print_help(std::ostream& out, const po::options_description& description) {
  out << "usage: cacheoff trace info FILE [options]\n\n"
         "Reads an access log (plain or gzip) and says what it holds: formats, what becomes of "
         "each\n"
         "line in a replay and why, order, sizes, and the hit ratio of an infinite cache.\n"
         "Formats, told line by line:\n  "
      << traces::kSupportedFormats << ".\n\n"
      << description << "\nexample: cacheoff trace info access.log\n";
}

int complain(const Problem& problem) {
  std::cerr << "cacheoff trace: " << problem.text << '\n';
  return problem.usage ? kExitUsage : kExitFailed;
}

int print_info(const PlanArguments& arguments) {
  const auto options = plan_options(arguments);
  if (!options) return complain(options.error());
  const auto plan = plan_log(arguments.file, *options, [](const std::string& line) {
    std::cerr << "cacheoff trace: " << line << std::endl;
  });
  if (!plan) return complain(plan.error());
  const auto& formats = plan->lines_by_format;
  if (std::all_of(formats.begin(), formats.end(), [](uint64_t count) { return count == 0; })) {
    return complain(useless_log(arguments.file, "no line of it is in a supported format", *plan));
  }
  std::cout << account_to_text(*plan) << plan_to_text(*plan, *options);
  for (const auto& assumption : assumptions_of(*plan, *options)) {
    std::cout << "note: " << assumption << '\n';
  }
  std::cout << std::flush;
  return kExitSuccess;
}

}  // namespace

int run_trace_command(const std::vector<std::string>& arguments) {
  try {
    PlanArguments plan_arguments;
    po::options_description description("options");
    description.add_options()("help,h", "this text");
    describe_plan_options(plan_arguments, description);
    if (arguments.empty()) {
      print_help(std::cerr, description);
      return kExitUsage;
    }
    if (arguments.front() == "--help" || arguments.front() == "-h") {
      print_help(std::cout, description);
      return kExitSuccess;
    }
    if (arguments.front() != "info") {
      return complain(usage_problem("'" + arguments.front() +
                                    "' is nothing to do with a trace; right would be: "
                                    "cacheoff trace info FILE"));
    }
    const auto values =
        parse_with_file({arguments.begin() + 1, arguments.end()}, description, plan_arguments);
    if (!values) {
      return complain(usage_problem(values.error().text + " (see 'cacheoff trace --help')"));
    }
    if (values->count("help") > 0) {
      print_help(std::cout, description);
      return kExitSuccess;
    }
    return print_info(plan_arguments);
  } catch (const std::exception& error) {
    std::cerr << "cacheoff trace: " << error.what() << '\n';
    return kExitFailed;
  }
}

}  // namespace workload
