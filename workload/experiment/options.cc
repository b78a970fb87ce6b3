#include "workload/experiment/options.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "storage/base/units.h"
#include "workload/client/goal.h"
#include "workload/client/load_shape.h"
#include "workload/experiment/fast_fill.h"
#include "workload/experiment/place_options.h"
#include "workload/experiment/static_options.h"
#include "workload/model/phases.h"

namespace workload {
namespace {

constexpr uint64_t kRepeatMax = 1000;
constexpr double kTimeScaleMax = 1e6;

using Values = std::vector<std::string>;

Problem wrong(std::string_view option, std::string_view value, std::string_view right) {
  return usage_problem("--" + std::string(option) + " '" + std::string(value) +
                       "': " + std::string(right));
}

std::optional<double> parse_positive(std::string_view text) {
  double value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc() || end != text.data() + text.size()) return std::nullopt;
  if (!std::isfinite(value) || value <= 0) return std::nullopt;
  return value;
}

Expected<void> set_schemes(ExperimentOptions& options, const Values& values) {
  auto schemes = list_of_different("scheme", values);
  if (!schemes) return schemes.error();
  options.schemes = std::move(*schemes);
  if (options.schemes.empty()) return wrong("scheme", "", "must name a scheme, e.g. memory,ufs");
  return {};
}

Expected<void> set_directory(ExperimentOptions& options, const Values& values) {
  options.directory = values.front();
  return {};
}

Expected<void> set_cache_size(ExperimentOptions& options, const Values& values) {
  const auto size = storage::parse_size_bytes(values.front());
  if (!size || *size < storage::kMiB) {
    return wrong("cache-size", values.front(), "must be a size of at least 1M, e.g. 512M or 8G");
  }
  options.cache_size_bytes = *size;
  return {};
}

Expected<void> set_workload(ExperimentOptions& options, const Values& values) {
  if (values.front().empty())
    return wrong("workload", "", "must be polymix4, simple, cdn, large or a file");
  options.workload = values.front();
  return {};
}

Expected<void> set_trace(ExperimentOptions& options, const Values& values) {
  options.trace = values.front();
  return {};
}

Expected<void> set_load(ExperimentOptions& options, const Values& values) {
  if (is_ab_load(values.front())) {
    const auto load = parse_ab_load(values.front());
    if (!load) return load.error();
    options.load = load->text();
    return {};
  }
  std::string error;
  if (!parse_load_shape(values.front(), error)) return usage_problem("--load: " + error);
  options.load = values.front();
  return {};
}

Expected<void> set_time_scale(ExperimentOptions& options, const Values& values) {
  const auto scale = parse_positive(values.front());
  if (!scale || *scale > kTimeScaleMax) {
    return wrong("time-scale", values.front(), "must be a number above 0, at most 1000000");
  }
  options.time_scale = *scale;
  return {};
}

Expected<void> set_until(ExperimentOptions& options, const Values& values) {
  std::string error;
  if (!parse_goal(values.front(), error)) return usage_problem("--until: " + error);
  options.until = values.front();
  return {};
}

Expected<void> set_phases_of_run(ExperimentOptions& options, const Values& values) {
  std::string error;
  if (values.front() != "file" && !parse_polymix_phases(values.front(), error)) {
    return usage_problem("--phases: " + error + ", or file (those of the workload file)");
  }
  options.phases = values.front();
  return {};
}

Expected<void> read_processors(const char* option, const std::string& value,
                               ProcessorList& processors) {
  auto read = parse_processors(value);
  if (!read) return usage_problem(std::string("--") + option + ": " + read.error().text);
  if (const auto there = check_processors(*read); !there) {
    return usage_problem(std::string("--") + option + ": " + there.error().text);
  }
  processors = std::move(*read);
  return {};
}

Expected<void> set_system_cpus(ExperimentOptions& options, const Values& values) {
  return read_processors("system-cpus", values.front(), options.system_processors);
}

Expected<void> set_load_cpus(ExperimentOptions& options, const Values& values) {
  return read_processors("load-cpus", values.front(), options.load_processors);
}

Expected<void> set_repeat(ExperimentOptions& options, const Values& values) {
  const auto count = storage::parse_count(values.front());
  if (!count || *count == 0 || *count > kRepeatMax) {
    return wrong("repeat", values.front(), "must be a number from 1 to 1000");
  }
  options.repeat = static_cast<unsigned>(*count);
  return {};
}

Expected<void> set_seed(ExperimentOptions& options, const Values& values) {
  const auto seed = storage::parse_count(values.front());
  if (!seed) return wrong("seed", values.front(), "must be a whole number from 0 to 2^64-1");
  options.seed = *seed;
  return {};
}

Expected<void> set_order(ExperimentOptions& options, const Values& values) {
  if (values.front() != "random" && values.front() != "listed") {
    return wrong("order", values.front(), "must be random or listed");
  }
  options.random_order = values.front() == "random";
  return {};
}

Expected<void> set_out(ExperimentOptions& options, const Values& values) {
  if (values.front().empty()) return wrong("out", "", "must name a folder");
  options.out = values.front();
  return {};
}

Expected<bool> parse_switch(std::string_view name, const std::string& value) {
  if (value == "true") return true;
  if (value == "false") return false;
  return wrong(name, value, "must be true or false");
}

Expected<void> set_resume(ExperimentOptions& options, const Values& values) {
  const auto on = parse_switch("resume", values.front());
  if (!on) return on.error();
  options.resume = *on;
  return {};
}

Expected<void> set_dry_run(ExperimentOptions& options, const Values& values) {
  const auto on = parse_switch("dry-run", values.front());
  if (!on) return on.error();
  options.dry_run = *on;
  return {};
}

Expected<void> set_clean_up(ExperimentOptions& options, const Values& values) {
  const auto on = parse_switch("clean-up", values.front());
  if (!on) return on.error();
  options.clean_up = *on;
  return {};
}

Expected<void> set_yes(ExperimentOptions& options, const Values& values) {
  const auto on = parse_switch("yes", values.front());
  if (!on) return on.error();
  options.yes = *on;
  return {};
}

Expected<void> set_short(ExperimentOptions& options, const Values& values) {
  const auto on = parse_switch("short", values.front());
  if (!on) return on.error();
  options.short_form = *on;
  return {};
}

Expected<void> set_expected_run_time(ExperimentOptions& options, const Values& values) {
  const auto time = storage::parse_duration(values.front());
  if (!time || time->count() <= 0) {
    return wrong("expected-run-time", values.front(), "must be a time such as 90s or 3m");
  }
  options.expected_run_s = storage::seconds_of(*time);
  return {};
}

/// `--quick` chooses the defaults before any option is set, so there is nothing left to do.
Expected<void> check_quick(ExperimentOptions&, const Values& values) {
  const auto on = parse_switch("quick", values.front());
  if (!on) return on.error();
  return {};
}

Expected<void> set_event_methods(ExperimentOptions& options,
                                 const std::vector<std::string>& values) {
  auto methods = list_of_different("event-method", values);
  if (!methods) return methods.error();
  for (const auto& method : *methods) {
    if (storage::is_event_method(method)) continue;
    return usage_problem("--event-method '" + method + "': there are " +
                         std::string(storage::event_method_names()));
  }
  if (methods->empty()) return usage_problem("--event-method: give at least one, e.g. epoll");
  options.event_methods = std::move(*methods);
  return {};
}

Expected<void> set_vary_mode(ExperimentOptions& options, const Values& values) {
  if (values.front() != "one-at-a-time" && values.front() != "crossed") {
    return wrong("vary-mode", values.front(), "must be one-at-a-time or crossed");
  }
  options.variation.crossed = values.front() == "crossed";
  return {};
}

constexpr std::array<OptionRow, 35> kOptions{{
    {"scheme", "LIST",
     "storage schemes, e.g. none,memory,ufs; other proxies: squid:ufs squid:aufs squid:diskd "
     "squid:rock squid:memory nginx varnish:malloc varnish:file trafficserver; webproxy[:ENGINE] "
     "is no cache but the filesystem by itself; static:nginx static:lighttpd static:origin serve "
     "one file and need --load ab",
     true, set_schemes},
    {"filesystem", "LIST",
     "here (the folder as it is); as root also tmpfs ext2 ext3 ext4 xfs btrfs, and raw (the block "
     "device itself)",
     true, set_filesystems},
    {"mount", "OPTIONS", "a set of mount options, or default; repeat for more sets", true,
     set_mounts},
    {"mkfs", "FS=OPTIONS", "options for mkfs of a filesystem, e.g. 'ext4=-g 2048'; repeat", true,
     set_mkfs},
    {"disks", "LIST", "numbers of cache directories, each on a device of its own, e.g. 0,1,2 (1)",
     true, set_disks},
    {"event-method", "LIST",
     "how the proxy's event loop waits for sockets: epoll, select, io_uring (epoll)", true,
     set_event_methods},
    {"vary-mode", "MODE",
     "what the file's [vary.SYSTEM] varies: one-at-a-time, or crossed, every combination "
     "(one-at-a-time)",
     false, set_vary_mode},
    {"device-path", "PATH",
     "a real device instead of images; all it holds is lost; repeat for more disks", true,
     set_device_paths},
    {"device", "PROFILE",
     "a modelled disk under each cache: scsi-2003, sata-7200, sata-ssd or a profile file (native)",
     false, set_device},
    {"dirty-limit", "SIZE", "of what may wait in memory to be written to each device", false,
     set_dirty_limit},
    {"fast-fill", "RATIO",
     "modelled disks take no time until the cache was filled so many times; then the run begins",
     false, set_fast_fill},
    {"yes", "", "do not ask before a device is used", false, set_yes},
    {"directory", "DIR", "where caches and mounts live (the result folder)", false, set_directory},
    {"user", "NAME", "whom root lets the programs run as (the user of sudo, or nobody)", false,
     set_user},
    {"cache-size", "SIZE", "capacity of the cache, all disks together (1G)", false, set_cache_size},
    {"memory", "SIZE",
     "memory of the system under test, page cache included, or page-cache=SIZE for what it has "
     "beside its processes' own; as root (no limit)",
     false, set_memory},
    {"system-cpus", "LIST",
     "processors that the system under test may use, such as 0 or 0,2-3 (all)", false,
     set_system_cpus},
    {"load-cpus", "LIST", "processors that load generator and origin may use (all)", false,
     set_load_cpus},
    {"workload", "NAME|FILE", "polymix4, simple, cdn, large or a workload file (polymix4)", false,
     set_workload},
    {"trace", "FILE", "replay this access log instead of a workload", false, set_trace},
    {"load", "HOW",
     "best-effort=N, robots=N, rate=N or peak, with their options as in 'cacheoff load' "
     "(best-effort=64); for static servers ab=CONNECTIONS[,requests=N][,keep-alive][,gzip]",
     false, set_load},
    {"file-size", "SIZE", "of the file that static servers serve, 1 to 256M (57244)", false,
     set_file_size},
    {"time-scale", "K",
     "divides think times, phases, the peak finder's times and modelled disks' (20); with --trace "
     "the recorded times",
     false, set_time_scale},
    {"until", "GOAL",
     "duration=60s, requests=N or fill=2.0 (duration=60s; fill=2.0 for peak); of several, as "
     "fill=2.0,duration=120s, the first that is reached ends a run",
     false, set_until},
    {"phases", "HOW", "file or polymix4[,plateau=4h]..., as in 'cacheoff load'; instead of --until",
     false, set_phases_of_run},
    {"repeat", "N", "runs of each cell (6)", false, set_repeat},
    {"seed", "N", "of workload and order (1)", false, set_seed},
    {"order", "random|listed", "of the cells within a round (random)", false, set_order},
    {"short", "", "the file's short form, as its table [short] has it", false, set_short},
    {"expected-run-time", "T", "of a run on average, for --dry-run and the time left", false,
     set_expected_run_time},
    {"quick", "",
     "a small comparison of about four minutes: 192 robots, 512M, time scale 50, six runs of 5 s",
     false, check_quick},
    {"out", "DIR", "the result folder (results/ and the time)", false, set_out},
    {"resume", "", "go on in a result folder; finished runs are kept", false, set_resume},
    {"dry-run", "", "print cells, space, time and privileges, and run nothing", false, set_dry_run},
    {"clean-up", "", "remove what killed runs left (here and in --directory), and run nothing",
     false, set_clean_up},
}};

}  // namespace

std::span<const OptionRow> option_table() {
  return kOptions;
}

Expected<void> set_option(ExperimentOptions& options, std::string_view name,
                          const std::vector<std::string>& values) {
  const auto row = std::find_if(kOptions.begin(), kOptions.end(),
                                [&](const OptionRow& known) { return known.name == name; });
  if (row == kOptions.end()) return usage_problem("no such option: '" + std::string(name) + "'");
  if (values.empty()) return wrong(name, "", "needs a value");
  if (!row->repeatable && values.size() > 1) return wrong(name, values[1], "is given twice");
  if (auto done = row->set(options, values); !done) return done;
  options.given.emplace_back(name);
  return {};
}

bool ExperimentOptions::was_given(std::string_view name) const {
  return std::find(given.begin(), given.end(), name) != given.end();
}

bool ExperimentOptions::finds_peak() const {
  std::string error;
  const auto shape = parse_load_shape(load, error);
  return trace.empty() && shape && shape->kind == LoadShape::Kind::kPeak;
}

std::string ExperimentOptions::goal() const {
  if (const auto ab = ab_load_of(*this); ab && ab->requests) {
    return "requests=" + std::to_string(*ab->requests);
  }
  return finds_peak() && !was_given("until") ? "fill=2.0" : until;
}

std::optional<double> ExperimentOptions::run_length_s() const {
  std::string error;
  const auto parsed = parse_goal(goal(), error);
  if (!trace.empty() || !phases.empty() || fast_fill > 0 || !parsed || !parsed->duration) {
    return std::nullopt;
  }
  return std::chrono::duration<double>(*parsed->duration).count();
}

ExperimentOptions options_of_scheme(const ExperimentOptions& options, const std::string& scheme) {
  ExperimentOptions own = options;
  const auto load = options.scheme_loads.find(scheme);
  if (load != options.scheme_loads.end()) own.load = load->second;
  const auto until = options.scheme_untils.find(scheme);
  if (until != options.scheme_untils.end()) {
    own.until = until->second;
    own.given.emplace_back("until");
  }
  return own;
}

Expected<void> check_options(const ExperimentOptions& options) {
  for (const auto& [scheme, until] : options.scheme_untils) {
    ExperimentOptions own = options_of_scheme(options, scheme);
    own.scheme_untils.clear();
    if (auto fit = check_options(own); !fit) {
      return usage_problem("scheme-until." + scheme + ": " + fit.error().text);
    }
  }
  if (auto fit = check_device_options(options); !fit) return fit;
  if (auto fit = check_static_options(options); !fit) return fit;
  if (auto fit = check_fast_fill_goal(options); !fit) return fit;
  if (!options.phases.empty()) {
    const std::string of_phases = "the phases say how long a run is";
    if (!options.trace.empty()) return wrong("phases", options.phases, "a trace has no phases");
    if (options.was_given("until")) return wrong("until", options.until, of_phases);
    if (options.finds_peak()) {
      return wrong("phases", options.phases, "the peak finder has phases of its own");
    }
  }
  if (options.trace.empty()) return {};
  std::string error;
  const auto goal = parse_goal(options.until, error);
  if (options.was_given("until") && goal && !goal->only_requests()) {
    return wrong("until", options.until, "with --trace it must be requests=N");
  }
  const auto shape = parse_load_shape(options.load, error);
  if (options.was_given("load") && shape && shape->kind != LoadShape::Kind::kBestEffort) {
    return wrong("load", options.load, "with --trace it must be best-effort=N");
  }
  if (options.was_given("load") && options.was_given("time-scale")) {
    return usage_problem(
        "--load and --time-scale: with --trace give one of them: as fast as N streams can, or at "
        "the recorded times divided by K");
  }
  return {};
}

ExperimentOptions quick_options() {
  ExperimentOptions options;
  // Not diskd: at this load it declines more than the others, as its limits ask for.
  options.schemes = {"none", "memory", "ufs", "aufs", "coss", "rock"};
  options.cache_size_bytes = 512 * storage::kMiB;
  // So many robots that hits can fill a processor, while misses still wait for the origin to think.
  options.load = "best-effort=192";
  options.time_scale = 50;
  // Six short runs tell more than three longer ones: they are the fewest that have an interval.
  options.until = "duration=5s";
  options.repeat = 6;
  return options;
}

}  // namespace workload
