// `cacheoff origin`: the origin server of the workload, alone.
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <boost/program_options.hpp>
#include <csignal>
#include <cstring>
#include <iostream>
#include <optional>

#include "storage/base/clock.h"
#include "storage/base/event_method.h"
#include "storage/base/units.h"
#include "workload/cli/command.h"
#include "workload/cli/count_option.h"
#include "workload/origin/access_log.h"
#include "workload/origin/origin_server.h"

namespace workload {
namespace {

namespace po = boost::program_options;

constexpr uint64_t kGzipSizeBytesLimit = 64 * storage::kMiB;
/// Nothing that is sent to files is read; a little of it is bearable.
constexpr uint64_t kFileRequestBodyBytesMax = 64 * storage::kKiB;

constexpr const char* kExample =
    "\nEach object follows from its URL alone, as 'cacheoff load' asks for it; with --root the "
    "files\n"
    "of a folder are served instead. Statistics are at /cacheoff/status.\n"
    "example: cacheoff origin --listen 127.0.0.1:8000 --think normal:2500ms,1000ms "
    "--time-scale 100\n"
    "         cacheoff origin --listen 127.0.0.1:8000 --root /srv/files --gzip static\n";

/// Options that mean nothing to files, and those that mean nothing to objects.
constexpr std::array kObjectOptions{"think", "time-scale", "test-faults"};
constexpr std::array kFileOptions{"index", "gzip", "gzip-level", "gzip-size-max"};

po::options_description described_options() {
  po::options_description options("usage: cacheoff origin [options]\n\noptions");
  auto add = options.add_options();
  add("listen", po::value<std::string>()->default_value("127.0.0.1:0"),
      "HOST:PORT to serve on; port 0 picks a free one");
  add("think", po::value<std::string>()->default_value("constant:0s"),
      "time between request and response, e.g. normal:2500ms,1000ms");
  add("time-scale", po::value<double>()->default_value(1), "divides the think time");
  add("requests-per-connection", po::value<std::string>(),
      "requests that a connection serves, e.g. zipf:16 (default: any number)");
  add("idle-timeout", po::value<std::string>()->default_value("15s"),
      "a connection that is idle for so long is closed");
  add("threads", po::value<CountOption>()->default_value(1), "threads that serve, 1 to 256");
  add("event-method", po::value<std::string>(),
      "epoll, select or io_uring: how the event loop learns what sockets are ready; another one "
      "than the program's own is another program beside it");
  add("access-log", po::value<std::string>(),
      "file to append each request to, in the Common Log Format");
  add("root", po::value<std::string>(),
      "serve the files below this folder instead of the workload's objects");
  add("index", po::bool_switch(), "with --root: list directories that have no index.html");
  add("gzip", po::value<std::string>()->default_value("off"),
      "with --root, to clients that take gzip: off; static: FILE.gz where it is beside FILE and no "
      "older; on: that, and compress other files of types that shrink");
  add("gzip-level", po::value<CountOption>()->default_value(4),
      "with --gzip on: 1 (fast) to 9 (small)");
  add("gzip-size-max", po::value<std::string>()->default_value("1M"),
      "with --gzip on: larger files are sent as they are; at most 64M");
  add("test-faults", po::bool_switch(),
      "obey ?fault=truncate|reset|stall|chunked|chunked-no-end|no-length|error in URLs");
  add("help", "this text");
  return options;
}

/// Fills `options`; returns what is wrong with the values of the options for files, or nothing.
std::string read_file_options(const po::variables_map& values, StaticSiteOptions& options) {
  options.root = values["root"].as<std::string>();
  options.listing = values["index"].as<bool>();
  const auto gzip = values["gzip"].as<std::string>();
  if (gzip == "static") {
    options.gzip = GzipMode::kStatic;
  } else if (gzip == "on") {
    options.gzip = GzipMode::kOn;
  } else if (gzip != "off") {
    return "--gzip '" + gzip + "': right would be one of off, static, on";
  }
  const bool compresses = options.gzip == GzipMode::kOn;
  for (const char* const name : {"gzip-level", "gzip-size-max"}) {
    if (!compresses && !values[name].defaulted()) {
      return std::string("--") + name + ": goes with --gzip on";
    }
  }
  const uint64_t level = values["gzip-level"].as<CountOption>().value;
  if (level < 1 || level > 9) return "--gzip-level: must lie from 1 to 9";
  options.gzip_level = static_cast<int>(level);
  const auto text = values["gzip-size-max"].as<std::string>();
  const auto size = storage::parse_size_bytes(text);
  if (!size || *size > kGzipSizeBytesLimit) {
    return "--gzip-size-max '" + text + "': right would be a size such as 1M, at most 64M";
  }
  options.gzip_size_bytes_max = *size;
  return {};
}

/// What is wrong with the options that go with --root alone, or not with it; or nothing.
std::string check_kind_of_content(const po::variables_map& values) {
  const bool files = values.count("root") != 0;
  for (const char* const name : kObjectOptions) {
    if (files && !values[name].defaulted()) {
      return std::string("--") + name + ": does not go with --root";
    }
  }
  for (const char* const name : kFileOptions) {
    if (!files && !values[name].defaulted()) return std::string("--") + name + ": goes with --root";
  }
  return {};
}

/// Fills `options`; returns what is wrong with the values, or nothing.
std::string read_options(const po::variables_map& values, OriginOptions& options) {
  const auto text = [&](const char* name) { return values[name].as<std::string>(); };
  if (const auto problem = check_kind_of_content(values); !problem.empty()) return problem;
  const auto listen = storage::parse_host_port(text("listen"));
  if (!listen) {
    return "--listen '" + text("listen") + "': right would be HOST:PORT, e.g. 127.0.0.1:8000";
  }
  options.listen = *listen;
  std::string error;
  const auto think = parse_distribution(text("think"), Quantity::kDuration, error);
  if (!think) return "--think " + error;
  options.think = *think;
  options.time_scale = values["time-scale"].as<double>();
  if (!(options.time_scale >= 1e-3 && options.time_scale <= 1e6)) {
    return "--time-scale: must lie from 0.001 to 1000000";
  }
  if (values.count("requests-per-connection") != 0) {
    const auto limit = parse_distribution(text("requests-per-connection"), Quantity::kCount, error);
    if (!limit) return "--requests-per-connection " + error;
    options.requests_per_connection = *limit;
  }
  const auto idle = storage::parse_duration(text("idle-timeout"));
  if (!idle || idle->count() == 0) {
    return "--idle-timeout '" + text("idle-timeout") + "': right would be a time such as 15s";
  }
  options.idle_timeout = *idle;
  const uint64_t threads = values["threads"].as<CountOption>().value;
  if (threads < 1 || threads > 256) return "--threads: must lie from 1 to 256";
  options.threads = static_cast<unsigned>(threads);
  options.test_faults = values["test-faults"].as<bool>();
  return {};
}

/// Opens what the options name. Returns the exit status where that fails, having said why.
std::optional<int> open_content(const po::variables_map& values, OriginOptions& options) {
  const auto complain = [](const char* option, const std::string& path, int system_errno) {
    std::cerr << "cacheoff origin: " << option << " '" << path
              << "': " << std::strerror(system_errno) << '\n';
    return kExitFailed;
  };
  if (values.count("root") != 0) {
    StaticSiteOptions files;
    if (const auto problem = read_file_options(values, files); !problem.empty()) {
      std::cerr << "cacheoff origin: " << problem << '\n';
      return kExitUsage;
    }
    const auto site = StaticSite::open(files);
    if (!site) return complain("--root", files.root, site.error().system_errno);
    options.files = *site;
    options.request_body_bytes_max = kFileRequestBodyBytesMax;
  }
  if (values.count("access-log") != 0) {
    const auto path = values["access-log"].as<std::string>();
    const auto log = open_access_log(path);
    if (!log) return complain("--access-log", path, log.error().system_errno);
    options.access_log = *log;
  }
  return std::nullopt;
}

/// Every connection takes a descriptor; the hard limit is the only one that protects anything, and
/// what the event loop can't wait for must not come to be.
void raise_descriptor_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = std::min(limit.rlim_max, static_cast<rlim_t>(storage::event_descriptors_max()));
  // Where this fails the origin serves as many connections as it may.
  setrlimit(RLIMIT_NOFILE, &limit);
}

int serve_until_signal(const OriginOptions& options) {
  raise_descriptor_limit();
  // Blocked before the threads start, so that all of them leave the signals to sigwait().
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  const storage::SystemClock clock;
  OriginServer server(options, clock);
  if (const auto started = server.start(); !started) {
    const auto error = started.error();
    std::cerr << "cacheoff origin: cannot listen on " << options.listen.text() << ": "
              << (error.system_errno != 0 ? std::strerror(error.system_errno) : "no such host")
              << '\n';
    return kExitFailed;
  }
  std::cout << "cacheoff origin: listening on " << server.address().text() << std::endl;
  int signal = 0;
  sigwait(&signals, &signal);
  server.stop();
  return kExitSuccess;
}

}  // namespace

int run_origin_command(const std::vector<std::string>& arguments) {
  try {
    const auto described = described_options();
    po::variables_map values;
    // No positional arguments, and no guessing of options from their first letters.
    const auto style = po::command_line_style::unix_style & ~po::command_line_style::allow_guessing;
    po::store(po::command_line_parser(arguments)
                  .options(described)
                  .positional(po::positional_options_description())
                  .style(style)
                  .run(),
              values);
    if (values.count("help") != 0) {
      std::cout << described << kExample;
      return kExitSuccess;
    }
    po::notify(values);
    OriginOptions options;
    if (const auto problem = read_options(values, options); !problem.empty()) {
      std::cerr << "cacheoff origin: " << problem << '\n';
      return kExitUsage;
    }
    if (values.count("event-method") != 0) {
      const auto method = values["event-method"].as<std::string>();
      if (!storage::is_event_method(method)) {
        std::cerr << "cacheoff origin: --event-method '" << method << "': right would be one of "
                  << storage::event_method_names() << '\n';
        return kExitUsage;
      }
      std::vector<std::string> words = arguments;
      words.insert(words.begin(), "origin");
      if (const auto fault = storage::take_event_method(method, words); !fault.empty()) {
        std::cerr << "cacheoff origin: --event-method " << fault << '\n';
        return kExitFailed;
      }
    }
    if (const auto problem = open_content(values, options); problem) return *problem;
    return serve_until_signal(options);
  } catch (const po::error& problem) {
    std::cerr << "cacheoff origin: " << problem.what() << " (see 'cacheoff origin --help')\n";
    return kExitUsage;
  } catch (const std::exception& problem) {
    std::cerr << "cacheoff origin: " << problem.what() << '\n';
    return kExitFailed;
  }
}

}  // namespace workload
