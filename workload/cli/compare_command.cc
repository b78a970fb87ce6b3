// `cacheoff compare`: result folders, or reports of ApacheBench, side by side.
#include <unistd.h>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <iostream>
#include <optional>

#include "workload/cli/command.h"
#include "workload/compare/ab_reports.h"
#include "workload/compare/comparison.h"
#include "workload/compare/comparison_page.h"
#include "workload/compare/comparison_text.h"
#include "workload/report/printable_text.h"

namespace workload {
namespace {

constexpr std::string_view kUsage =
    "usage: cacheoff compare A B [C...] [options]\n"
    "       cacheoff compare --ab FILE.csv [options]\n\n"
    "Compares result folders of `cacheoff bench`, of the same or of different hosts, cell by cell\n"
    "by name; each folder is compared with the first. A line a cell and figure has the medians,\n"
    "their ratio with its 95 % interval, and a verdict. Where the work differed nothing is\n"
    "compared: each field that differs is named, with both values (exit status 1).\n\n"
    "options:\n"
    "  --ignore FIELD         compare although this field of the work differs; it is marked. "
    "Repeat\n"
    "                         it for more: workload trace verification load until phases "
    "time-scale\n"
    "                         memory cache-size disks scheme-options seed mean-response-bytes ...\n"
    "  --same-as-first DIR    another folder of the very system of A: what differs between these "
    "two\n"
    "                         is noise, and nothing smaller is claimed\n"
    "  --out DIR              write compare.json, compare.csv, compare.txt, compare.html and\n"
    "                         figures/ there too\n"
    "  --ab FILE.csv          compare published reports of ApacheBench instead, a row a run; "
    "columns\n"
    "                         as in docs/compare.md; its field of the work is bytes-per-response\n"
    "  --help                 this text\n\n"
    "exit status: 0 compared, 1 refused since the work differs, 2 wrong options or input\n\n"
    "example: cacheoff compare results/debian results/freebsd --out results/both\n";

constexpr size_t kFoldersMax = 26;

struct CompareArguments {
  std::vector<std::string> folders;
  std::set<std::string> ignored;
  std::string same_as_first;
  std::string out;
  std::string ab;
  bool help = false;
};

Expected<CompareArguments> parse_arguments(const std::vector<std::string>& words) {
  CompareArguments arguments;
  for (size_t i = 0; i < words.size(); ++i) {
    std::string name = words[i];
    if (name == "--help" || name == "-h") {
      arguments.help = true;
      continue;
    }
    if (name.size() < 2 || name.front() != '-') {
      arguments.folders.push_back(name);
      continue;
    }
    std::optional<std::string> value;
    if (const size_t equals = name.find('='); equals != std::string::npos) {
      value = name.substr(equals + 1);
      name.resize(equals);
    }
    const bool known =
        name == "--ignore" || name == "--same-as-first" || name == "--out" || name == "--ab";
    if (!known) return usage_problem("no such option: '" + name + "'");
    if (!value && i + 1 < words.size()) value = words[++i];
    if (!value || value->empty()) return usage_problem(name + " needs a value");
    if (name == "--ignore") {
      std::replace(value->begin(), value->end(), '_', '-');
      arguments.ignored.insert(*value);
      continue;
    }
    std::string& into = name == "--out"  ? arguments.out
                        : name == "--ab" ? arguments.ab
                                         : arguments.same_as_first;
    if (!into.empty()) return usage_problem(name + " is given twice");
    into = *value;
  }
  return arguments;
}

Expected<void> check_arguments(const CompareArguments& arguments) {
  if (!arguments.ab.empty()) {
    if (!arguments.folders.empty() || !arguments.same_as_first.empty()) {
      return usage_problem("--ab goes with no folders");
    }
    return {};
  }
  if (arguments.folders.size() < 2) return usage_problem("two result folders are needed at least");
  if (arguments.folders.size() > kFoldersMax) {
    return usage_problem("at most " + std::to_string(kFoldersMax) + " folders can be compared");
  }
  std::vector<std::string> all = arguments.folders;
  if (!arguments.same_as_first.empty()) all.push_back(arguments.same_as_first);
  for (size_t i = 0; i < all.size(); ++i) {
    std::error_code failure;
    if (!std::filesystem::is_directory(all[i], failure)) {
      return usage_problem("'" + all[i] + "' is no folder");
    }
    for (size_t k = 0; k < i; ++k) {
      if (std::filesystem::equivalent(all[i], all[k], failure)) {
        return usage_problem("'" + all[k] + "' and '" + all[i] + "' are the same folder");
      }
    }
  }
  return {};
}

Expected<Comparison> compare_folders(const CompareArguments& arguments) {
  std::vector<Results> sides;
  for (const auto& folder : arguments.folders) {
    auto results = read_results(folder);
    if (!results) return usage_problem(results.error().text);
    sides.push_back(std::move(*results));
  }
  ComparisonOptions options;
  options.ignored_fields = arguments.ignored;
  std::optional<Results> again;
  if (!arguments.same_as_first.empty()) {
    auto results = read_results(arguments.same_as_first);
    if (!results) return usage_problem(results.error().text);
    again = std::move(*results);
    options.same_as_first = &*again;
  }
  return compare_results(sides, arguments.folders, options);
}

Expected<Comparison> compare_reports(const CompareArguments& arguments) {
  auto reports = read_ab_reports(arguments.ab);
  if (!reports) return reports.error();
  auto comparison = compare_ab_reports(*reports, arguments.ignored);
  if (!comparison) return usage_problem("'" + arguments.ab + "': " + comparison.error().text);
  return comparison;
}

int complain_about(const Problem& problem) {
  std::cerr << "cacheoff compare: " << printable(problem.text) << '\n';
  return problem.usage ? kExitUsage : kExitFailed;
}

int compare(const std::vector<std::string>& words) {
  const auto arguments = parse_arguments(words);
  if (!arguments) {
    return complain_about(
        usage_problem(arguments.error().text + " (see 'cacheoff compare --help')"));
  }
  if (arguments->help) {
    std::cout << kUsage;
    return kExitSuccess;
  }
  if (auto fit = check_arguments(*arguments); !fit) {
    return complain_about(usage_problem(fit.error().text + " (see 'cacheoff compare --help')"));
  }
  const auto comparison =
      arguments->ab.empty() ? compare_folders(*arguments) : compare_reports(*arguments);
  if (!comparison) return complain_about(comparison.error());
  const bool colours = isatty(STDOUT_FILENO) == 1;
  std::cout << comparison_text(*comparison, colours) << std::flush;
  if (!arguments->out.empty()) {
    const auto remark = write_comparison(arguments->out, *comparison);
    if (!remark) return complain_about(remark.error());
    if (!remark->empty()) std::cout << *remark << '\n';
    std::cout << "page: " << (std::filesystem::path(arguments->out) / "compare.html").string()
              << std::endl;
  }
  if (comparison->refused.empty()) return kExitSuccess;
  for (const auto& difference : comparison->refused) {
    std::cerr << "cacheoff compare: refused, the work differs: "
              << printable(difference_line(difference)) << " (--ignore " << difference.field
              << " compares nonetheless)\n";
  }
  return kExitFailed;
}

}  // namespace

int run_compare_command(const std::vector<std::string>& arguments) {
  try {
    return compare(arguments);
  } catch (const std::exception& error) {
    std::cerr << "cacheoff compare: " << error.what() << '\n';
    return kExitFailed;
  }
}

}  // namespace workload
