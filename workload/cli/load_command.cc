// `cacheoff load`: the robots alone, against any proxy.
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/program_options.hpp>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <optional>
#include <random>

#include "storage/base/random.h"
#include "storage/base/units.h"
#include "workload/cli/command.h"
#include "workload/cli/count_option.h"
#include "workload/cli/load_progress.h"
#include "workload/cli/load_ranks.h"
#include "workload/client/generator_limits.h"
#include "workload/client/load_run.h"
#include "workload/client/run_phases.h"
#include "workload/model/workload_file.h"

namespace workload {
namespace {
namespace options_library = boost::program_options;

std::atomic<bool> interrupted{false};

void interrupt(int) {
  interrupted = true;
}

/// The command line is wrong; `what()` is the line that says so.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The command line as text; every field is checked later.
struct Arguments {
  std::string proxy, proxy_kind, origin, workload, load, until, warm_up, phases, cache_size,
      sample_interval, timeout, verify, out, request_log;
  CountOption seed = 1;
  double time_scale = 1;
  CountOption threads = 1;
  CountOption source_addresses = 1;
  bool source_addresses_given = false;
  bool keep_going = false;
};

options_library::options_description describe(Arguments& arguments) {
  using options_library::value;
  options_library::options_description description("options");
  auto add = description.add_options();
  add("help,h", "this text");
  add("proxy", value(&arguments.proxy), "ADDR of the proxy; without it straight to the origin");
  add("proxy-kind", value(&arguments.proxy_kind)->default_value("forward"),
      "forward (absolute-form requests) or reverse");
  add("origin", value(&arguments.origin), "ADDR of the origin, as the proxy reaches it (required)");
  add("workload", value(&arguments.workload)->default_value("simple"),
      "polymix4, simple, cdn, large, or a workload file");
  add("load", value(&arguments.load)->default_value("best-effort=8"),
      "best-effort=N: N robots without pause; robots=N: with the workload's pauses;\n"
      "rate=N[,constant][,connections=N][,queue=N]: open loop of N requests/s;\n"
      "peak[,window=1.5s..1.75s][,sample=60s][,start=RATE][,max=RATE][,step=5%]: the rate at "
      "which the mean response time stays in the window; times default to these over --time-scale");
  add("until", value(&arguments.until),
      "duration=10s (the default), requests=N, or fill=2.0 (cache sizes of fill traffic; the "
      "default of peak with --cache-size); of several, as fill=2.0,duration=120s, the first that "
      "is reached ends the run");
  add("warm-up", value(&arguments.warm_up), "a goal as for --until; its part is not measured");
  add("phases", value(&arguments.phases),
      "file (the workload's own, the default where it has some and no goal is given) or "
      "polymix4[,plateau=4h][,ramp=20m][,fill=2][,fill-rate=100]; instead of --until");
  add("seed", value(&arguments.seed)->default_value(1), "of objects and of the order of requests");
  add("time-scale", value(&arguments.time_scale)->default_value(1),
      "divides the robots' pauses, the peak finder's times and the phases");
  add("threads", value(&arguments.threads)->default_value(1), "of the generator, 1 to 64");
  add("cache-size", value(&arguments.cache_size), "SIZE of the cache, for fill ratios");
  add("sample-interval", value(&arguments.sample_interval)->default_value("1s"),
      "length of a row of trace.csv");
  add("timeout", value(&arguments.timeout)->default_value("60s"), "of one transaction");
  add("verify", value(&arguments.verify)->default_value("bytes"),
      "bytes: compare every byte; length: only count them");
  add("source-addresses", value(&arguments.source_addresses),
      "use so many local addresses 127.0.0.1, 127.0.0.2, ...; only where the peer is on loopback; "
      "without it as many as the run needs");
  add("keep-going", options_library::bool_switch(&arguments.keep_going),
      "go on after a wrong body");
  add("out", value(&arguments.out),
      "DIR for run.json, trace.csv and latency.hlog; must not hold a run already");
  add("request-log", value(&arguments.request_log), "FILE for one line a transaction");
  return description;
}

void print_help(const options_library::options_description& description) {
  std::cout << "usage: cacheoff load --origin ADDR [--proxy ADDR] [options]\n\n"
               "Drives a proxy as browsers would, checks every byte that comes back, and reports\n"
               "throughput, response times and hit ratios.\n\n"
            << description
            << "\nexit status: 0 when every response was right, 1 when one was not, 2 for a wrong "
               "command line\n"
               "example: cacheoff origin --listen 127.0.0.1:8080 &\n"
               "         cacheoff load --proxy 127.0.0.1:3128 --origin 127.0.0.1:8080 \\\n"
               "           --workload polymix4 --load robots=100 --until duration=60s --out first\n"
               "several processes or machines (MPI): mpirun -np 4 cacheoff load ...\n";
}

/// A row of trace.csv costs memory, and the robots look at their clocks every 10 ms.
constexpr std::chrono::milliseconds kSampleIntervalMin{10};
constexpr std::chrono::milliseconds kTimeoutMin{1};

std::chrono::nanoseconds duration_option(const char* name, const std::string& text,
                                         std::chrono::milliseconds min) {
  const auto duration = storage::parse_duration(text);
  if (duration && *duration >= min) return *duration;
  throw UsageError(std::string(name) + ": '" + text + "' is no duration of " +
                   std::to_string(min.count()) + "ms or more; right would be 1s");
}

boost::asio::ip::tcp::endpoint resolve(const char* name, const std::string& text) {
  const auto address = storage::parse_host_port(text);
  if (!address || address->port == 0) {
    throw UsageError(std::string(name) + ": '" + text +
                     "' is no address; right would be 127.0.0.1:3128");
  }
  boost::asio::io_context io;
  boost::asio::ip::tcp::resolver resolver(io);
  boost::system::error_code error;
  const auto found = resolver.resolve(address->host, std::to_string(address->port), error);
  if (error || found.empty()) {
    throw UsageError(std::string(name) + ": '" + address->host +
                     "' has no address: " + error.message());
  }
  return found.begin()->endpoint();
}

void set_peer(LoadOptions& options, const Arguments& arguments) {
  if (arguments.origin.empty())
    throw UsageError("--origin is missing, e.g. --origin 127.0.0.1:8080");
  const auto origin = resolve("--origin", arguments.origin);
  options.target.authority = arguments.origin;
  if (arguments.proxy_kind != "forward" && arguments.proxy_kind != "reverse") {
    throw UsageError("--proxy-kind: '" + arguments.proxy_kind + "' is neither forward nor reverse");
  }
  options.peer = arguments.proxy.empty() ? origin : resolve("--proxy", arguments.proxy);
  options.target.absolute_form = !arguments.proxy.empty() && arguments.proxy_kind == "forward";
}

/// Spreads connections over local addresses, as told or so that no address runs out of ports.
void set_sources(LoadOptions& options, const Arguments& arguments) {
  const bool spreadable = options.peer.address().is_v4() && options.peer.address().is_loopback();
  if (!arguments.source_addresses_given) {
    if (!spreadable) return;
    const uint32_t needed = source_addresses_needed(options, read_port_limits());
    if (needed > 1) {
      options.sources = loopback_sources(needed);
      if (options.place.rank > 0) return;
      std::cerr << "cacheoff load: note: connections come from " << needed
                << " local addresses (127.0.0.1 and on), as one would run out of ports\n";
    }
    return;
  }
  const uint64_t count = arguments.source_addresses.value;
  if (count < 1 || count > 250) throw UsageError("--source-addresses: 1 to 250");
  if (count == 1) return;
  if (!spreadable) throw UsageError("--source-addresses: the peer is not on 127.0.0.0/8");
  options.sources = loopback_sources(static_cast<uint32_t>(count));
}

Goal goal_option(const char* name, const std::string& text, const LoadOptions& options) {
  std::string error;
  const auto goal = parse_goal(text, error);
  if (!goal) throw UsageError(std::string(name) + ": " + error);
  if (goal->fill && options.cache_size_bytes == 0) {
    throw UsageError(std::string(name) + ": a fill needs --cache-size");
  }
  return *goal;
}

/// How long the run is: by phases or by goals.
void set_length(LoadOptions& options, const Arguments& arguments) {
  const bool goals = !arguments.until.empty() || !arguments.warm_up.empty();
  std::string how = arguments.phases;
  if (how.empty() && !goals && !options.workload.phases.empty() &&
      options.load.kind != LoadShape::Kind::kPeak) {
    how = "file";
  }
  if (!how.empty()) {
    if (goals) throw UsageError("--phases: the phases say how long the run is, not --until");
    const std::string problem = set_phases(options, how);
    if (!problem.empty()) throw UsageError("--phases: " + problem);
    return;
  }
  const bool peak = options.load.kind == LoadShape::Kind::kPeak;
  std::string until = arguments.until;
  if (until.empty()) until = peak && options.cache_size_bytes > 0 ? "fill=2.0" : "duration=10s";
  options.until = goal_option("--until", until, options);
  if (arguments.warm_up.empty()) return;
  if (peak) throw UsageError("--warm-up: the peak finder counts the last quarter of its run alone");
  options.warm_up = goal_option("--warm-up", arguments.warm_up, options);
}

LoadOptions make_options(const Arguments& arguments, const RankPlace& place) {
  LoadOptions options;
  options.place = place;
  std::string error;
  set_peer(options, arguments);
  const auto workload = load_workload(arguments.workload, error);
  if (!workload) throw UsageError("--workload: " + error);
  options.workload = *workload;
  const auto load = parse_load_shape(arguments.load, error);
  if (!load) throw UsageError("--load: " + error);
  options.load = *load;
  if (!arguments.cache_size.empty()) {
    const auto size = storage::parse_size_bytes(arguments.cache_size);
    if (!size || *size == 0) {
      throw UsageError("--cache-size: '" + arguments.cache_size +
                       "' is no size; right would be 1G");
    }
    options.cache_size_bytes = *size;
  }
  if (!(arguments.time_scale >= 1e-3 && arguments.time_scale <= 1e6)) {
    throw UsageError("--time-scale: a number from 0.001 to a million");
  }
  options.time_scale = arguments.time_scale;
  set_length(options, arguments);
  const uint64_t threads_max =
      options.load.open_loop() ? options.load.connections_max : options.load.robots;
  options.threads = static_cast<int>(std::clamp<uint64_t>(arguments.threads.value, 1, 64));
  if (arguments.threads.value != static_cast<uint64_t>(options.threads) ||
      options.all_threads() > threads_max) {
    throw UsageError("--threads: 1 to 64, and " +
                     std::string(place.ranks > 1 ? "over all ranks " : "") +
                     "at most as many as robots or connections");
  }
  set_sources(options, arguments);
  if (arguments.verify != "bytes" && arguments.verify != "length") {
    throw UsageError("--verify: '" + arguments.verify + "' is neither bytes nor length");
  }
  options.verification = arguments.verify == "bytes" ? Verification::kBytes : Verification::kLength;
  options.seed = arguments.seed.value;
  options.sample_interval =
      duration_option("--sample-interval", arguments.sample_interval, kSampleIntervalMin);
  options.timeout = duration_option("--timeout", arguments.timeout, kTimeoutMin);
  options.keep_going = arguments.keep_going;
  options.request_log = arguments.request_log;
  if (place.ranks > 1 && !arguments.request_log.empty()) {
    options.request_log += ".rank" + std::to_string(place.rank);
  }
  std::random_device device;
  options.transaction_base = storage::mix64((static_cast<uint64_t>(device()) << 32) | device());
  return options;
}

/// Finds out before the run whether its results can be written.
void check_places(const Arguments& arguments, const LoadOptions& options) {
  namespace fs = std::filesystem;
  std::error_code failure;
  if (!arguments.out.empty() && options.place.rank == 0) {
    if (fs::exists(fs::path(arguments.out) / "run.json", failure)) {
      throw UsageError("--out '" + arguments.out + "': holds a run already; choose another folder");
    }
    fs::create_directories(arguments.out, failure);
    if (failure || !fs::is_directory(arguments.out, failure)) {
      throw UsageError("--out '" + arguments.out + "': can't be made a folder" +
                       (failure ? ": " + failure.message() : std::string()));
    }
  }
  if (!arguments.request_log.empty()) {
    if (!arguments.out.empty()) {
      for (const char* const name : {"run.json", "trace.csv", "latency.hlog"}) {
        if (fs::weakly_canonical(options.request_log, failure) ==
            fs::weakly_canonical(fs::path(arguments.out) / name, failure)) {
          throw UsageError("--request-log '" + options.request_log.string() +
                           "': --out writes that file; choose another name");
        }
      }
    }
    const auto status = fs::status(options.request_log, failure);
    if (fs::is_regular_file(status) && fs::file_size(options.request_log, failure) > 0) {
      throw UsageError("--request-log '" + options.request_log.string() +
                       "': is there already; choose another file");
    }
    if (fs::is_fifo(status)) {
      throw UsageError("--request-log '" + options.request_log.string() + "': is a pipe");
    }
    if (!std::ofstream(options.request_log, std::ios::app)) {
      throw UsageError("--request-log '" + options.request_log.string() + "': can't be written");
    }
  }
}

LoadOptions prepare(const Arguments& arguments, const RankPlace& place) {
  LoadOptions options = make_options(arguments, place);
  check_places(arguments, options);
  if (const auto missing = raise_descriptor_limit(descriptors_needed(options))) {
    throw UsageError(*missing);
  }
  return options;
}

/// Runs the load, alone or as the lead of others, and writes what it found.
int run_and_report(const Arguments& arguments, const LoadOptions& options, Company* company,
                   bool& ranks_lost) {
  const std::string ports = port_warning(options, read_port_limits());
  if (!ports.empty()) std::cerr << "cacheoff load: warning: " << ports << '\n';
  const storage::SystemClock clock;
  ProgressPrinter printer(std::cerr, isatty(STDERR_FILENO) == 1);
  const LoadOutcome outcome = run_load(options, clock, interrupted, std::ref(printer), company);
  printer.finish();
  ranks_lost = outcome.ranks_lost;
  std::cout << run_to_table(outcome.result) << std::flush;
  std::string failure = outcome.failure;
  if (!arguments.out.empty()) {
    const auto unwritten =
        write_run_files(arguments.out, outcome.result, outcome.recorder, outcome.start);
    if (unwritten) failure = *unwritten;
  }
  if (failure.empty()) return kExitSuccess;
  std::cerr << "cacheoff load: " << failure << std::endl;
  return kExitFailed;
}

/// What every rank has to have alike, beside the files that it reads.
std::string command_text(const std::vector<std::string>& command_line) {
  std::string text;
  for (const std::string& argument : command_line) text += argument + '\n';
  return text;
}

/// As one of several processes.
int run_as_rank(const std::vector<std::string>& command_line, const Arguments& arguments,
                const std::string& refusal, Ensemble& ensemble) {
  LoadRanks ranks(ensemble);
  LoadOptions options;
  std::string own_refusal = refusal;
  if (own_refusal.empty()) {
    try {
      options = prepare(arguments, ranks.place());
    } catch (const UsageError& error) {
      own_refusal = error.what();
    }
  }
  return ranks.run(
      command_text(command_line), arguments.workload, own_refusal,
      [&](Company& company, bool& lost) {
        return run_and_report(arguments, options, &company, lost);
      },
      [&](Company& company) {
        return follow_load(options, storage::SystemClock(), interrupted, company);
      });
}

int run_alone(const Arguments& arguments, const std::string& refusal) {
  if (!refusal.empty()) throw UsageError(refusal);
  const LoadOptions options = prepare(arguments, RankPlace());
  bool no_ranks = false;
  return run_and_report(arguments, options, nullptr, no_ranks);
}

/// Takes the command line apart. Nothing where it is to be run, or the exit status where help was
/// all it wanted; `refusal` says what is wrong with it.
std::optional<int> parse(const std::vector<std::string>& command_line, bool may_speak,
                         Arguments& arguments, std::string& refusal) {
  try {
    const auto description = describe(arguments);
    options_library::variables_map values;
    // Without guessing, so that a later option cannot change what a script means.
    const int style = options_library::command_line_style::default_style &
                      ~options_library::command_line_style::allow_guessing;
    options_library::store(options_library::command_line_parser(command_line)
                               .options(description)
                               .positional({})
                               .style(style)
                               .run(),
                           values);
    options_library::notify(values);
    arguments.source_addresses_given = values.count("source-addresses") > 0;
    if (values.count("help") > 0) {
      if (may_speak) print_help(description);
      return kExitSuccess;
    }
    for (const auto& [name, given] : values) {
      const auto* const text = boost::any_cast<std::string>(&given.value());
      if (text != nullptr && text->empty()) {
        refusal = "--" + name + " '': nothing is given; give a value, or leave it out";
      }
    }
    if (refusal.empty() && values.count("proxy") == 0 && !values["proxy-kind"].defaulted()) {
      refusal = "--proxy-kind: there is no --proxy";
    }
  } catch (const options_library::error& error) {
    refusal = std::string(error.what()) + " (see 'cacheoff load --help')";
  }
  return std::nullopt;
}

}  // namespace

int run_load_command(const std::vector<std::string>& command_line) {
  const Launch launch = read_launch(::getenv);
  Arguments arguments;
  std::string refusal;
  std::unique_ptr<Ensemble> ensemble;
  try {
    if (const auto status = parse(command_line, launch.rank == 0, arguments, refusal)) {
      return *status;
    }
    std::signal(SIGINT, interrupt);
    std::signal(SIGTERM, interrupt);
    if (!launch.alone()) {
      ensemble = join_ranks(launch);
      if (!ensemble) return kExitUsage;
      if (ensemble->size() > 1) return run_as_rank(command_line, arguments, refusal, *ensemble);
    }
    return run_alone(arguments, refusal);
  } catch (const UsageError& error) {
    std::cerr << "cacheoff load: " << error.what() << '\n';
    return kExitUsage;
  } catch (const std::exception& error) {
    std::cerr << "cacheoff load: " << error.what() << std::endl;
    // The other ranks would wait for this one.
    if (ensemble) ensemble->abandon(kExitFailed);
    return kExitFailed;
  }
}

}  // namespace workload
