#include "workload/webproxy/program_options.h"

#include <algorithm>
#include <boost/program_options.hpp>
#include <sstream>

#include "storage/base/units.h"

namespace webproxy {
namespace {

namespace po = boost::program_options;
using workload::Expected;
using workload::usage_problem;

constexpr size_t kFoldersMax = 64;
constexpr unsigned kThreadsMax = 256;
constexpr auto kSampleIntervalMin = std::chrono::milliseconds(10);
constexpr auto kSampleIntervalMax = std::chrono::hours(1);

po::options_description description() {
  po::options_description all("options");
  const auto text = [](const char* otherwise) {
    return po::value<std::string>()->default_value(otherwise);
  };
  all.add_options()("help,h", "this text")("version", "the version")(
      "list-schemes",
      "what 'cacheoff bench --scheme' takes for this, in the form of 'cacheoff-proxy "
      "--list-schemes'")("directory", po::value<std::vector<std::string>>()->composing(),
                         "an empty folder for the files; repeat to spread them over several")(
      "engine", text("thread_pool"), "blocking, thread_pool or io_uring")(
      "threads", text("16"), "threads of the engine thread_pool, for each folder, 1 to 256")(
      "workers", text("100"), "loops at a time, 1 to 1000")(
      "cache-size", text("1G"), "the files together are as large as this")(
      "until", text("duration=60s"),
      "duration=60s, requests=N (files read or created) or fill=2.0 (written, over --cache-size)")(
      "seed", text("1"), "of contents and choices")("sample-interval", text("250ms"),
                                                    "of a row of trace.csv, 10ms to 1h")(
      "out", po::value<std::string>(), "a folder for run.json, trace.csv and latency.hlog")(
      "hold", "when done, wait to be ended by a signal, so that counters can still be looked at");
  return all;
}

std::string text_of(const po::variables_map& values, const char* name) {
  return values.count(name) > 0 ? values[name].as<std::string>() : std::string();
}

Expected<uint64_t> number_of(const po::variables_map& values, const char* name, uint64_t least,
                             uint64_t most) {
  const std::string text = text_of(values, name);
  const auto number = storage::parse_count(text);
  if (number && *number >= least && *number <= most) return *number;
  return usage_problem("--" + std::string(name) + " '" + text + "': must be a number from " +
                       std::to_string(least) + " to " + std::to_string(most));
}

Expected<void> read_engine(const po::variables_map& values, ProgramOptions& options) {
  const std::string name = text_of(values, "engine");
  const auto usable = engines();
  if (std::find(usable.begin(), usable.end(), name) == usable.end()) {
    std::string names;
    for (const auto known : usable) names += (names.empty() ? "" : ", ") + std::string(known);
    return usage_problem("--engine '" + name + "': must be one of " + names);
  }
  options.engine.name = name;
  const auto threads = number_of(values, "threads", 1, kThreadsMax);
  if (!threads) return threads.error();
  options.engine.threads = static_cast<unsigned>(*threads);
  if (name != "thread_pool" && !values["threads"].defaulted()) {
    return usage_problem("--threads: is for --engine thread_pool only");
  }
  // A worker has one call at a time: none is ever refused.
  options.engine.queue_limit = kWorkersMax + 1;
  return {};
}

/// Files and workers for the cache's size, as many as make sense.
void fit(ProgramOptions& options) {
  PatternOptions& pattern = options.pattern;
  pattern.files = files_for(pattern.cache_size_bytes);
  if (uint64_t{pattern.files} * kFileSizeMean < pattern.cache_size_bytes / 100 * 99) {
    options.warnings.push_back("the files are " +
                               storage::format_size(pattern.files * kFileSizeMean) +
                               " together and less than the cache: there are never more than " +
                               std::to_string(pattern.files));
  }
  if (pattern.workers > pattern.files / 2) {
    options.warnings.push_back(std::to_string(pattern.workers) + " workers are too many for " +
                               std::to_string(pattern.files) + " files: there were " +
                               std::to_string(pattern.files / 2));
    pattern.workers = pattern.files / 2;
  }
}

Expected<void> read_pattern(const po::variables_map& values, ProgramOptions& options) {
  PatternOptions& pattern = options.pattern;
  const auto workers = number_of(values, "workers", 1, kWorkersMax);
  if (!workers) return workers.error();
  pattern.workers = static_cast<unsigned>(*workers);
  const auto seed = number_of(values, "seed", 0, UINT64_MAX);
  if (!seed) return seed.error();
  pattern.seed = *seed;
  const std::string size = text_of(values, "cache-size");
  const auto size_bytes = storage::parse_size_bytes(size);
  if (!size_bytes || *size_bytes < storage::kMiB) {
    return usage_problem("--cache-size '" + size + "': must be a size of at least 1M");
  }
  pattern.cache_size_bytes = *size_bytes;
  std::string error;
  const auto goal = workload::parse_goal(text_of(values, "until"), error);
  if (!goal) return usage_problem("--until: " + error);
  pattern.goal = *goal;
  const std::string interval = text_of(values, "sample-interval");
  const auto duration = storage::parse_duration(interval);
  if (!duration || *duration < kSampleIntervalMin || *duration > kSampleIntervalMax) {
    return usage_problem("--sample-interval '" + interval + "': must be a time from 10ms to 1h");
  }
  pattern.sample_interval = *duration;
  fit(options);
  return {};
}

Expected<void> read_folders(const po::variables_map& values, ProgramOptions& options) {
  if (values.count("directory") == 0) {
    return usage_problem("--directory: is missing; name an empty folder for the files");
  }
  for (const auto& text : values["directory"].as<std::vector<std::string>>()) {
    std::error_code failure;
    if (!std::filesystem::is_directory(text, failure)) {
      return usage_problem("--directory '" + text + "': is no folder");
    }
    options.folders.emplace_back(text);
  }
  if (options.folders.size() > kFoldersMax) {
    return usage_problem("--directory: at most " + std::to_string(kFoldersMax) + " folders");
  }
  return {};
}

}  // namespace

std::vector<std::string_view> engines() {
  std::vector<std::string_view> usable;
  const auto built = storage::engine_names();
  for (const std::string_view name : {"thread_pool", "blocking", "io_uring"}) {
    if (std::find(built.begin(), built.end(), name) != built.end()) usable.push_back(name);
  }
  return usable;
}

uint32_t files_for(uint64_t cache_size_bytes) {
  // So many names are there for the most files.
  constexpr uint64_t kFilesMax = FileSet::kNamesMax / 100 * kPresentPercent;
  return static_cast<uint32_t>(
      std::clamp<uint64_t>(cache_size_bytes / kFileSizeMean, 2, kFilesMax));
}

Expected<ProgramOptions> parse_program_options(const std::vector<std::string>& words) {
  ProgramOptions options;
  po::variables_map values;
  try {
    const po::options_description all = description();
    po::command_line_parser parser(words);
    parser.options(all).positional({}).style(po::command_line_style::unix_style &
                                             ~po::command_line_style::allow_guessing);
    po::store(parser.run(), values);
    po::notify(values);
  } catch (const po::error& error) {
    return usage_problem(std::string(error.what()) + " (see cacheoff-webproxy --help)");
  }
  using Action = ProgramOptions::Action;
  for (const auto& [name, action] : {std::pair<const char*, Action>{"help", Action::kHelp},
                                     {"version", Action::kVersion},
                                     {"list-schemes", Action::kListSchemes}}) {
    if (values.count(name) == 0) continue;
    options.action = action;
    return options;
  }
  if (auto done = read_folders(values, options); !done) return done.error();
  if (auto done = read_engine(values, options); !done) return done.error();
  if (auto done = read_pattern(values, options); !done) return done.error();
  options.out = text_of(values, "out");
  options.hold = values.count("hold") > 0;
  return options;
}

std::string help_text() {
  std::ostringstream out;
  out << "usage: cacheoff-webproxy --directory DIR [options]\n\n"
         "Does what filebench's webproxy.f does, on the I/O engines of cacheoff-proxy and without\n"
         "HTTP: what a filesystem costs by itself. The files stay in DIR. 'cacheoff bench "
         "--scheme\n"
         "webproxy' runs it beside the schemes.\n\n"
      << description()
      << "\nexample: mkdir /tmp/files && cacheoff-webproxy --directory /tmp/files --cache-size 64M "
         "--until duration=5s\n";
  return out.str();
}

}  // namespace webproxy
