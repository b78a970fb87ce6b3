#include "workload/cli/plan_arguments.h"

#include <boost/program_options/errors.hpp>
#include <boost/program_options/parsers.hpp>

#include "storage/base/units.h"
#include "traces/line_reader.h"
#include "workload/client/replay_report.h"

namespace workload {

namespace po = boost::program_options;

namespace {

template <class Choice>
bool choose(const std::string& text, std::initializer_list<Choice> choices, Choice& chosen) {
  for (const auto choice : choices) {
    if (text != name_of(choice)) continue;
    chosen = choice;
    return true;
  }
  return false;
}

/// A host goes into URLs as it is.
bool is_host(const std::string& text) {
  return !text.empty() && text.size() <= 255 &&
         text.find_first_of(" \t/?#@\\\"") == std::string::npos;
}

}  // namespace

void describe_plan_options(PlanArguments& arguments, po::options_description& description) {
  auto add = description.add_options();
  add("host", po::value(&arguments.host)->default_value("log.invalid"),
      "HOST or HOST:PORT for lines that name none (Common, Combined)");
  add("size", po::value(&arguments.size)->default_value("max"),
      "which of the sizes that a URL's 200 lines tell is its object's: max, first or last");
  add("default-size", po::value(&arguments.default_size),
      "SIZE of objects whose size no line tells; without it their lines are skipped");
  add("stripped-query", po::value(&arguments.stripped_query)->default_value("as-is"),
      "URLs whose query Squid cut off (a bare '?' at the end): as-is (one object), unique "
      "(another object in each line) or uncachable");
}

Expected<po::variables_map> parse_with_file(const std::vector<std::string>& command_line,
                                            const po::options_description& visible,
                                            PlanArguments& arguments) {
  po::options_description all;
  all.add(visible).add_options()("file", po::value(&arguments.file), "");
  po::positional_options_description positions;
  positions.add("file", 1);
  const int style = po::command_line_style::default_style & ~po::command_line_style::allow_guessing;
  try {
    po::variables_map values;
    po::store(
        po::command_line_parser(command_line).options(all).positional(positions).style(style).run(),
        values);
    po::notify(values);
    if (values.count("help") == 0 && arguments.file.empty()) {
      return usage_problem("FILE is missing: the log to read");
    }
    return values;
  } catch (const po::too_many_positional_options_error&) {
    return usage_problem("more than one FILE is given");
  } catch (const po::error& error) {
    return usage_problem(error.what());
  }
}

Expected<traces::PlanOptions> plan_options(const PlanArguments& arguments) {
  using traces::SizePolicy;
  using traces::StrippedQuery;
  traces::PlanOptions options;
  if (!is_host(arguments.host)) {
    return usage_problem("--host: '" + arguments.host + "' is no host; right would be " +
                         "www.example.org or www.example.org:8080");
  }
  options.host = arguments.host;
  if (!choose(arguments.size, {SizePolicy::kMax, SizePolicy::kFirst, SizePolicy::kLast},
              options.size_policy)) {
    return usage_problem("--size: '" + arguments.size + "' is none of max, first and last");
  }
  if (!choose(arguments.stripped_query,
              {StrippedQuery::kAsIs, StrippedQuery::kUnique, StrippedQuery::kUncachable},
              options.stripped_query)) {
    return usage_problem("--stripped-query: '" + arguments.stripped_query +
                         "' is none of as-is, unique and uncachable");
  }
  if (arguments.default_size.empty()) return options;
  options.default_size_bytes = storage::parse_size_bytes(arguments.default_size);
  if (!options.default_size_bytes || *options.default_size_bytes > traces::kObjectSizeBytesMax) {
    return usage_problem("--default-size: '" + arguments.default_size +
                         "' is no size of at most 1T; right would be 11K");
  }
  return options;
}

Expected<traces::ReplayPlan> plan_log(const std::string& file, const traces::PlanOptions& options,
                                      traces::WaitNotice on_wait) {
  auto reader = traces::open_log(file, std::move(on_wait));
  if (!reader) return usage_problem(reader.error().text);
  return traces::plan_replay(**reader, options);
}

Problem useless_log(const std::string& file, const std::string& reason,
                    const traces::ReplayPlan& plan) {
  std::string text = file + ": ";
  if (plan.read_error) text += plan.read_error->text + ", and ";
  text += reason + "; supported are " + std::string(traces::kSupportedFormats) + "\n" +
          account_to_text(plan);
  text.pop_back();
  return usage_problem(text);
}

}  // namespace workload
