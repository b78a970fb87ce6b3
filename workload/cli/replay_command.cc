// `cacheoff replay`: drives a proxy with the requests of an access log.
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/program_options/options_description.hpp>
#include <filesystem>
#include <iostream>
#include <random>

#include "storage/base/own_program.h"
#include "storage/base/random.h"
#include "storage/base/units.h"
#include "workload/cli/command.h"
#include "workload/cli/count_option.h"
#include "workload/cli/plan_arguments.h"
#include "workload/client/generator_limits.h"
#include "workload/client/replay_report.h"
#include "workload/client/replay_run.h"
#include "workload/client/replay_stack.h"
#include "workload/measure/run_result.h"
#include "workload/report/json_text.h"

namespace workload {

namespace {

namespace po = boost::program_options;
namespace fs = std::filesystem;
using boost::asio::ip::tcp;

constexpr size_t kConcurrencyAsap = 16;
constexpr size_t kConcurrencyOpenLoop = 1000;
constexpr size_t kConcurrencyMax = 20000;

/// The command line as text; every field is checked later.
struct Arguments {
  PlanArguments plan;
  std::string proxy, origin, proxy_kind, scheme, cache_size, timing, gap_max, sample_interval,
      timeout, out;
  CountOption seed = 1;
  CountOption limit;
  CountOption concurrency;
};

/// All that a run needs, checked.
struct Request {
  traces::PlanOptions plan;
  ReplayStackOptions stack;
  ReplayTiming timing;
  std::chrono::nanoseconds sample_interval{0};
  std::chrono::nanoseconds timeout{0};
  size_t concurrency = 0;
  bool absolute_form = true;
};

void describe(Arguments& arguments, po::options_description& description) {
  using po::value;
  auto add = description.add_options();
  add("help,h", "this text");
  add("proxy", value(&arguments.proxy),
      "ADDR of the proxy; without it a cacheoff-proxy is started for the run");
  add("origin", value(&arguments.origin),
      "ADDR of a cacheoff origin, as the proxy reaches it; without it one is started for the run");
  add("proxy-kind", value(&arguments.proxy_kind)->default_value("forward"),
      "forward (absolute-form requests) or reverse");
  add("scheme", value(&arguments.scheme)->default_value("memory"),
      "how the proxy that is started stores (see cacheoff-proxy --list-schemes)");
  add("cache-size", value(&arguments.cache_size)->default_value("1G"),
      "SIZE of the cache: of the proxy that is started, and for fill ratios");
  add("timing", value(&arguments.timing)->default_value("asap"),
      "asap (in order, --concurrency at a time), recorded (when the log says; open loop) or "
      "scaled=K (K times as fast; open loop)");
  add("concurrency", value(&arguments.concurrency),
      "requests under way at once at most (16; 1000 in an open loop)");
  add("gap-max", value(&arguments.gap_max), "DURATION that longer gaps in the log are cut to");
  add("limit", value(&arguments.limit), "replay only the first N requests");
  add("seed", value(&arguments.seed)->default_value(1), "of the objects' bytes");
  add("sample-interval", value(&arguments.sample_interval)->default_value("1s"),
      "length of a row of trace.csv");
  add("timeout", value(&arguments.timeout)->default_value("60s"), "of one transaction");
  add("out", value(&arguments.out),
      "DIR for run.json, trace.csv, latency.hlog and replay.json; must not hold a run already");
  describe_plan_options(arguments.plan, description);
}

void print_help(const po::options_description& description) {
  std::cout << "usage: cacheoff replay FILE [options]\n\n"
               "Replays an access log (plain or gzip): asks a proxy for one object a URL, in the\n"
               "order in which the log's requests began, checks every byte that comes back, and\n"
               "accounts for every line. Formats, told line by line:\n  "
            << traces::kSupportedFormats << ".\n\n"
            << description
            << "\nexit status: 0 when every response was right, 1 when one was not, 2 for a wrong "
               "command line or log\n"
               "examples: cacheoff replay access.log\n"
               "          cacheoff replay access.log --timing scaled=10 --proxy 127.0.0.1:3128 "
               "\\\n            --origin 127.0.0.1:8080 --out first\n";
}

Expected<std::chrono::nanoseconds> duration_option(const std::string& name,
                                                   const std::string& text) {
  const auto duration = storage::parse_duration(text);
  if (duration && duration->count() > 0) return *duration;
  return usage_problem(name + ": '" + text + "' is no duration; right would be 1s");
}

Expected<std::optional<storage::HostPort>> address_option(const std::string& name,
                                                          const std::string& text) {
  if (text.empty()) return std::optional<storage::HostPort>();
  auto address = storage::parse_host_port(text);
  if (address && address->port != 0) return address;
  return usage_problem(name + ": '" + text + "' is no address; right would be 127.0.0.1:3128");
}

Expected<tcp::endpoint> resolve(const storage::HostPort& address) {
  boost::asio::io_context io;
  tcp::resolver resolver(io);
  boost::system::error_code error;
  const auto found = resolver.resolve(address.host, std::to_string(address.port), error);
  if (!error && !found.empty()) return found.begin()->endpoint();
  return usage_problem("--proxy: '" + address.host + "' has no address: " + error.message());
}

Expected<void> check_stack(const Arguments& arguments, Request& request) {
  auto proxy = address_option("--proxy", arguments.proxy);
  if (!proxy) return proxy.error();
  auto origin = address_option("--origin", arguments.origin);
  if (!origin) return origin.error();
  request.stack.proxy = *proxy;
  request.stack.origin = *origin;
  if (arguments.proxy_kind != "forward" && arguments.proxy_kind != "reverse") {
    return usage_problem("--proxy-kind: '" + arguments.proxy_kind +
                         "' is neither forward nor reverse");
  }
  request.absolute_form = arguments.proxy_kind == "forward";
  if (!request.absolute_form && (!*proxy || !*origin)) {
    return usage_problem(
        "--proxy-kind: a reverse proxy has one origin of its own; give --proxy and --origin");
  }
  request.stack.scheme = arguments.scheme;
  const auto cache_size = storage::parse_size_bytes(arguments.cache_size);
  if (!cache_size || *cache_size == 0) {
    return usage_problem("--cache-size: '" + arguments.cache_size +
                         "' is no size; right would be 1G");
  }
  request.stack.cache_size_bytes = *cache_size;
  const fs::path self = storage::own_program();
  if (self.empty()) return run_problem("can't find the program itself");
  request.stack.programs = self.parent_path();
  return {};
}

Expected<void> check_timing(const Arguments& arguments, Request& request) {
  const auto timing = parse_replay_timing(arguments.timing);
  if (!timing) {
    return usage_problem("--timing: '" + arguments.timing +
                         "' is none of asap, recorded and scaled=K (K above 0, at most a million)");
  }
  request.timing = *timing;
  if (!arguments.gap_max.empty()) {
    if (!timing->open_loop()) return usage_problem("--gap-max: has no meaning with --timing asap");
    const auto gap_max = duration_option("--gap-max", arguments.gap_max);
    if (!gap_max) return gap_max.error();
    request.timing.gap_max = *gap_max;
  }
  const auto sample_interval = duration_option("--sample-interval", arguments.sample_interval);
  if (!sample_interval) return sample_interval.error();
  request.sample_interval = *sample_interval;
  const auto timeout = duration_option("--timeout", arguments.timeout);
  if (!timeout) return timeout.error();
  request.timeout = *timeout;
  return {};
}

Expected<Request> check(const Arguments& arguments, const po::variables_map& values) {
  Request request;
  auto plan = plan_options(arguments.plan);
  if (!plan) return plan.error();
  request.plan = *plan;
  if (values.count("limit") > 0) {
    if (arguments.limit.value == 0) return usage_problem("--limit: at least 1");
    request.plan.requests_max = arguments.limit.value;
  }
  if (auto done = check_stack(arguments, request); !done) return done.error();
  if (auto done = check_timing(arguments, request); !done) return done.error();
  request.concurrency = request.timing.open_loop() ? kConcurrencyOpenLoop : kConcurrencyAsap;
  if (values.count("concurrency") > 0) request.concurrency = arguments.concurrency.value;
  if (request.concurrency < 1 || request.concurrency > kConcurrencyMax) {
    return usage_problem("--concurrency: 1 to " + std::to_string(kConcurrencyMax));
  }
  std::error_code failure;
  if (!arguments.out.empty() && fs::exists(fs::path(arguments.out) / "run.json", failure)) {
    return usage_problem("--out '" + arguments.out +
                         "': holds a run already; choose another folder");
  }
  return request;
}

/// Progress on standard error: one changing line on a terminal, else one each 5 s.
class ProgressPrinter {
 public:
  void operator()(const ReplayProgress& progress) {
    const auto now = std::chrono::steady_clock::now();
    if (!terminal_ && now - last_ < std::chrono::seconds(5)) return;
    last_ = now;
    std::cerr << (terminal_ ? "\r\033[K" : "") << "replay: " << progress.ended << " of "
              << progress.steps << " requests, " << progress.hits << " hits, " << progress.errors
              << " errors" << (terminal_ ? "" : "\n") << std::flush;
  }
  void finish() const {
    if (terminal_) std::cerr << "\r\033[K" << std::flush;
  }

 private:
  bool terminal_ = ::isatty(STDERR_FILENO) == 1;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

void add_warnings(RunResult& result, const ReplayMeasurement& measured, const ReplayWork& work) {
  constexpr double kBusyPercent = 90;
  constexpr double kLagMs = 100;
  constexpr uint64_t kLateNs = 100'000'000;
  if (result.generator.cpu_percent > kBusyPercent) {
    result.warnings.emplace_back(
        "the load generator was busy all the time: the figures are a lower bound");
  }
  if (result.generator.event_loop_lag_ms_max > kLagMs) {
    result.warnings.emplace_back(
        "the load generator itself ran over 100 ms late: the machine was too busy for exact "
        "response times");
  }
  if (measured.lateness.percentile_ns(99).value_or(0) > kLateNs) {
    result.warnings.emplace_back(
        "1 % of the requests started over 100 ms late: the log was not replayed at its pace");
  }
  if (work.id_collisions > 0) {
    result.warnings.push_back(std::to_string(work.id_collisions) +
                              " URLs shared a hash and were told apart");
  }
}

RunResult make_result(const ReplayMeasurement& measured, const ReplayWork& work,
                      const Request& request, const Arguments& arguments, double cpu_s) {
  RunResult result;
  take_measurements(result, measured.recorder);
  result.duration = measured.duration;
  result.ideal_hit_ratio_percent = work.ideal_hit_ratio_percent;
  result.ideal_byte_hit_ratio_percent = work.ideal_byte_hit_ratio_percent;
  result.cache_size_bytes = request.stack.cache_size_bytes;
  result.seed = arguments.seed.value;
  result.first_error = measured.first_error;
  result.generator.cpu_s = cpu_s;
  const double duration_s = std::chrono::duration<double>(measured.duration).count();
  if (duration_s > 0) result.generator.cpu_percent = 100 * cpu_s / duration_s;
  result.generator.event_loop_lag_ms_max =
      std::chrono::duration<double, std::milli>(measured.lag_max).count();
  result.generator.connections = measured.connections;
  result.generator.stale_connection_retries = measured.retries;
  add_warnings(result, measured, work);
  return result;
}

/// Why the run failed; empty where it did not.
std::string failure_of(const RunResult& result, const ReplayMeasurement& measured,
                       const traces::ReplayPlan& plan) {
  if (!measured.ended_early.empty()) return measured.ended_early;
  const uint64_t errors = result.total.error_count();
  if (errors > 0) {
    return std::to_string(errors) + " of " + std::to_string(result.total.completed) +
           " requests went wrong; the first: " + result.first_error;
  }
  if (result.total.completed != plan.requests.size() || plan.lines.used() != plan.requests.size()) {
    return "the account does not add up: " + std::to_string(plan.lines.used()) + " lines used, " +
           std::to_string(result.total.completed) + " requests completed";
  }
  if (!(measured.recorder.series.total() == result.total)) {
    return "the account does not add up: the intervals are not the whole run";
  }
  return {};
}

boost::json::object replay_to_json(const traces::ReplayPlan& plan, const Request& request,
                                   const Arguments& arguments, const ReplayMeasurement& measured) {
  auto json = plan_to_json(plan, request.plan);
  json["file"] = arguments.plan.file;
  json["timing"] = to_text(request.timing);
  json["concurrency"] = request.concurrency;
  json["lateness_ms"] = response_time_to_json(measured.lateness);
  return json;
}

Expected<void> write_files(const Arguments& arguments, const RunResult& result,
                           const ReplayMeasurement& measured, const boost::json::object& replay) {
  if (arguments.out.empty()) return {};
  if (const auto failure =
          write_run_files(arguments.out, result, measured.recorder, measured.start)) {
    return run_problem(*failure);
  }
  return write_file(fs::path(arguments.out) / "replay.json", to_pretty_json(replay));
}

Expected<ReplayMeasurement> measure(const Request& request, const ReplayWork& work,
                                    const ReplayStack& stack, const StopSignals& stop,
                                    double& cpu_s) {
  constexpr uint64_t kOtherDescriptors = 64;
  if (const auto missing = raise_descriptor_limit(request.concurrency + kOtherDescriptors)) {
    return usage_problem("--concurrency: " + *missing);
  }
  const auto peer = resolve(stack.proxy());
  if (!peer) return peer.error();
  ReplayRunOptions options;
  options.peer = *peer;
  options.target.authority = stack.origin().text();
  options.target.absolute_form = request.absolute_form;
  options.timing = request.timing;
  options.concurrency = request.concurrency;
  options.timeout = request.timeout;
  options.sample_interval = request.sample_interval;
  std::random_device device;
  options.transaction_base = storage::mix64((static_cast<uint64_t>(device()) << 32) | device());
  options.stop_fd = stop.fd();
  ProgressPrinter printer;
  options.progress = std::ref(printer);
  const storage::SystemClock clock;
  const double cpu_s_before = process_cpu_s();
  auto measured = run_replay(work, options, clock);
  cpu_s = process_cpu_s() - cpu_s_before;
  printer.finish();
  return measured;
}

void print_result(const traces::ReplayPlan& plan, const Request& request, const RunResult& result,
                  const ReplayMeasurement& measured) {
  std::cout << account_to_text(plan) << plan_to_text(plan, request.plan);
  if (request.timing.open_loop()) {
    const auto late = [&](double percent) {
      return storage::format_duration(
          std::chrono::nanoseconds(measured.lateness.percentile_ns(percent).value_or(0)));
    };
    std::cout << "lateness of starts    p50 " << late(50) << "  p99 " << late(99) << "  max "
              << late(100) << '\n';
  }
  std::cout << run_to_table(result);
  for (const auto& assumption : assumptions_of(plan, request.plan)) {
    std::cout << "note: " << assumption << '\n';
  }
  std::cout << std::flush;
}

Expected<void> replay(const Arguments& arguments, const po::variables_map& values) {
  const auto request = check(arguments, values);
  if (!request) return request.error();
  const auto plan = plan_log(arguments.plan.file, request->plan, [](const std::string& line) {
    std::cerr << "cacheoff replay: " << line << std::endl;
  });
  if (!plan) return plan.error();
  if (plan->lines.used() == 0) {
    return useless_log(arguments.plan.file, "no line of it can be replayed", *plan);
  }
  const ReplayWork work = make_replay_work(*plan, arguments.seed.value);
  StopSignals stop;
  auto stack = ReplayStack::start(request->stack, stop);
  if (!stack) return stack.error();
  double cpu_s = 0;
  auto measured = measure(*request, work, *stack, stop, cpu_s);
  if (!measured) return measured.error();
  RunResult result = make_result(*measured, work, *request, arguments, cpu_s);
  if (plan->read_error) result.warnings.push_back(plan->read_error->text);
  if (const auto complaints = stack->stop(); !complaints.empty()) {
    result.warnings.push_back(complaints);
  }
  print_result(*plan, *request, result, *measured);
  const auto json = replay_to_json(*plan, *request, arguments, *measured);
  if (auto written = write_files(arguments, result, *measured, json); !written) return written;
  const std::string failure = failure_of(result, *measured, *plan);
  if (!failure.empty()) return run_problem(failure);
  return {};
}

int complain(const Problem& problem) {
  std::cerr << "cacheoff replay: " << problem.text << '\n';
  return problem.usage ? kExitUsage : kExitFailed;
}

}  // namespace

int run_replay_command(const std::vector<std::string>& command_line) {
  try {
    Arguments arguments;
    po::options_description description("options");
    describe(arguments, description);
    const auto values = parse_with_file(command_line, description, arguments.plan);
    if (!values) {
      return complain(usage_problem(values.error().text + " (see 'cacheoff replay --help')"));
    }
    if (values->count("help") > 0) {
      print_help(description);
      return kExitSuccess;
    }
    const auto done = replay(arguments, *values);
    return done ? kExitSuccess : complain(done.error());
  } catch (const std::exception& error) {
    std::cerr << "cacheoff replay: " << error.what() << '\n';
    return kExitFailed;
  }
}

}  // namespace workload
