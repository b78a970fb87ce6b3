// `cacheoff ab`: one URL, with ApacheBench's options and report.
#include <algorithm>
#include <iostream>
#include <vector>

#include "workload/ab/additions.h"
#include "workload/ab/data_files.h"
#include "workload/ab/options.h"
#include "workload/ab/report.h"
#include "workload/ab/request.h"
#include "workload/ab/run.h"
#include "workload/cli/command.h"
#include "workload/client/generator_limits.h"
#include "workload/experiment/child_process.h"
#include "workload/report/json_text.h"

namespace workload {

namespace {

/// `Completed N requests` on standard error, as ApacheBench says it: each tenth, at least 100, and
/// only for more than 150 requests.
class AbProgress {
 public:
  explicit AbProgress(const ab::Options& options) {
    constexpr uint64_t kRequestsForProgress = 150;
    if (!options.quiet && options.requests > kRequestsForProgress) {
      step_ = std::max<uint64_t>(options.requests / 10, 100);
    }
  }

  bool shown() const { return step_ > 0; }
  void begin_run() { told_ = 0; }
  void complete(uint64_t count) {
    for (; step_ > 0 && told_ + step_ <= count; told_ += step_) {
      std::cerr << "Completed " << told_ + step_ << " requests" << std::endl;
    }
  }

 private:
  uint64_t step_ = 0;
  uint64_t told_ = 0;
};

int complain(const Problem& problem) {
  std::cerr << "cacheoff ab: " << problem.text << '\n';
  return problem.usage ? kExitUsage : kExitFailed;
}

Expected<ab::RunInputs> inputs_of(const ab::Options& options, const StopSignals& stop) {
  ab::RunInputs inputs;
  inputs.request = ab::make_request(options);
  inputs.stop_fd = stop.fd();
  auto peer = options.proxy ? ab::resolve("-X", *options.proxy)
                            : ab::resolve("URL '" + options.url.whole + "'", options.url.server);
  if (!peer) return peer.error();
  inputs.peer = *peer;
  if (!options.local_address.empty()) {
    auto local = ab::resolve("-B", {options.local_address, 0});
    if (!local) return local.error();
    inputs.local = *local;
  }
  return inputs;
}

/// Said before the run, as ports that run out in it show as failures of the server.
void warn_of_ports(const ab::Options& options) {
  if (options.keep_alive) return;
  const auto limits = read_port_limits();
  const uint64_t ports = limits.last >= limits.first ? limits.last - limits.first + 1 : 0;
  if (options.requests < ports || limits.time_wait_reuse != 0) return;
  std::cerr << "cacheoff ab: warning: each request takes a new local port, there are " << ports
            << " of them, and a closed one may rest for a minute (net.ipv4.tcp_tw_reuse is 0)\n";
}

Expected<void> write_data(const ab::Options& options, const std::vector<ab::Measurement>& runs,
                          size_t shown) {
  const auto& tally = runs[shown].tally;
  if (!options.csv_file.empty() && tally.total.count() > 0) {
    if (auto done = write_file(options.csv_file, ab::percentiles_csv(tally)); !done) return done;
  }
  if (!options.gnuplot_file.empty()) {
    if (auto done = write_file(options.gnuplot_file, ab::gnuplot_tsv(tally)); !done) return done;
  }
  if (!options.json_file.empty()) {
    const auto json = ab::runs_to_json(options, runs, shown);
    if (auto done = write_file(options.json_file, to_pretty_json(json)); !done) return done;
  }
  return {};
}

void say_before(const ab::Options& options, const std::string& request) {
  std::cout << ab::banner_text(options.html);
  if (!options.html) {
    std::cout << "Benchmarking " << options.url.server.host << ' ';
    if (options.proxy) std::cout << "[through " << options.proxy->text() << "] ";
    std::cout << "(be patient)";
  }
  std::cout << (AbProgress(options).shown() || options.html ? "\n" : "...");
  if (options.verbosity >= 2) {
    std::cout << "INFO: " << options.method << " header == \n---\n"
              << request.substr(0, request.size() - options.body.size()) << "---\n";
  }
}

/// Runs as often as --repeat says; ends early with a run that was broken off or interrupted.
std::vector<ab::Measurement> run_all(const ab::Options& options, ab::RunInputs inputs) {
  AbProgress progress(options);
  inputs.progress = [&progress](uint64_t complete) { progress.complete(complete); };
  std::vector<ab::Measurement> runs;
  for (unsigned i = 0; i < options.repeat; ++i) {
    progress.begin_run();
    runs.push_back(ab::run_once(options, inputs));
    const auto& run = runs.back();
    if (!run.broken_off.empty() || run.interrupted) break;
    if (progress.shown()) std::cerr << "Finished " << run.tally.complete << " requests\n";
  }
  if (!progress.shown() && runs.back().broken_off.empty()) std::cout << "..done\n";
  if (options.html) std::cout << "</p>\n";
  return runs;
}

Expected<void> run_ab(const ab::Options& options) {
  StopSignals stop;
  const auto inputs = inputs_of(options, stop);
  if (!inputs) return inputs.error();
  constexpr uint64_t kOtherDescriptors = 64;
  if (const auto missing = raise_descriptor_limit(options.concurrency + kOtherDescriptors)) {
    return usage_problem("-c: " + *missing);
  }
  warn_of_ports(options);
  say_before(options, inputs->request);
  const auto runs = run_all(options, *inputs);
  if (const auto& last = runs.back(); !last.broken_off.empty()) {
    // As ApacheBench does: a run that broke off has no report.
    std::cout << std::endl;
    return run_problem(last.broken_off + "\nTotal of " + std::to_string(last.tally.complete) +
                       " requests completed");
  }
  const size_t shown = ab::median_run(runs);
  std::cout << (options.html ? ab::report_html(options, runs[shown])
                             : ab::report_text(options, runs[shown]))
            << ab::additions_text(options, runs, shown) << std::flush;
  if (auto written = write_data(options, runs, shown); !written) return written;
  const bool none_good =
      std::any_of(runs.begin(), runs.end(), [](const auto& run) { return run.tally.good == 0; });
  if (none_good) return run_problem("no response was good (2xx and whole)");
  return {};
}

}  // namespace

int run_ab_command(const std::vector<std::string>& arguments) {
  try {
    const auto options = ab::parse_options(arguments);
    if (!options) {
      return complain(usage_problem(options.error().text + " (see 'cacheoff ab -h')"));
    }
    if (options->action == ab::Action::kHelp) {
      std::cout << ab::usage_text();
      return kExitSuccess;
    }
    if (options->action == ab::Action::kVersion) {
      std::cout << ab::banner_text(false);
      return kExitSuccess;
    }
    const auto done = run_ab(*options);
    return done ? kExitSuccess : complain(done.error());
  } catch (const std::exception& error) {
    std::cerr << "cacheoff ab: " << error.what() << '\n';
    return kExitFailed;
  }
}

}  // namespace workload
