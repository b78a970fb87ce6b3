#include "proxy/program.h"

#include <sys/resource.h>
#include <algorithm>

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <csignal>
#include <cstdio>
#include <exception>
#include <memory>
#include <random>

#include "proxy/config.h"
#include "proxy/server.h"
#include "proxy/test_delay.h"
#include "storage/base/await.h"
#include "storage/base/clock.h"
#include "storage/base/event_method.h"
#include "storage/check.h"
#include "storage/layout/memory_front.h"

namespace proxy {

namespace {

namespace asio = boost::asio;
using storage::kAwait;
constexpr int kExitFailed = 1;
constexpr int kExitUsage = 2;
constexpr size_t kBufferSizeBytes = 64 * 1024;
/// Objects beyond this share of the memory cache would push out too many others.
constexpr uint64_t kFrontObjectShare = 16;

void complain(const std::string& line) {
  std::fprintf(stderr, "cacheoff-proxy: %s\n", line.c_str());
}

int list_schemes() {
  for (const auto& row : storage::registry()) {
    std::printf("%s\t%d\t%d\t%s\t%d\n", std::string(row.name).c_str(), row.persistent ? 1 : 0,
                row.needs_path ? 1 : 0, std::string(row.summary).c_str(), row.takes_device ? 1 : 0);
  }
  return 0;
}

/// Everything that lives as long as the program, in the order in which it depends on each other.
struct Graph {
  explicit Graph(const Config& config)
      : io(1), buffers(io.get_executor(), kBufferSizeBytes, config.limits.buffer_memory_bytes) {}

  storage::SchemeEnvironment environment(uint64_t seed) {
    return storage::SchemeEnvironment{io.get_executor(), clock, buffers, seed, 128, complain};
  }

  storage::SystemClock clock;
  asio::io_context io;
  storage::BufferPool buffers;
};

storage::SchemeOrError make_store(const Config& config, Graph& graph) {
  auto made = storage::make_store(config.cache_dirs, config.store_selection,
                                  graph.environment(config.seed));
  if (made.scheme && config.memory_cache_bytes > 0) {
    const storage::MemoryFrontOptions options(config.memory_cache_bytes,
                                              config.memory_cache_bytes / kFrontObjectShare);
    made.scheme = storage::make_memory_front(std::move(made.scheme), options);
  }
  return made;
}

/// Raises the limit on descriptors as far as it goes; lowers the connections to what fits. Most
/// clients are idle, so they get the largest share; an origin or a file that finds no descriptor
/// is an error of its own, that nobody else suffers from. Returns a line about what was lowered, or
/// nothing.
std::string fit_descriptor_limit(Config& config) {
  constexpr uint64_t kReserve = 64;
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return {};
  const auto waited_for_max = static_cast<rlim_t>(storage::event_descriptors_max());
  const rlim_t most = std::min(limit.rlim_max, waited_for_max);
  if (limit.rlim_cur != most) {
    // One that the event loop can't wait for must not come to be.
    limit.rlim_cur = most;
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0) getrlimit(RLIMIT_NOFILE, &limit);
  }
  // A client may need a file besides its connection.
  const uint64_t wanted =
      2 * config.limits.connections_max + config.limits.origin_connections_total_max + kReserve;
  if (limit.rlim_cur >= wanted) return {};
  const uint64_t open_max = limit.rlim_cur;
  const uint64_t shared = open_max > kReserve ? open_max - kReserve : 1;
  auto& limits = config.limits;
  limits.connections_max = std::min(limits.connections_max, std::max<uint64_t>(1, shared * 5 / 8));
  limits.origin_connections_total_max =
      std::min(limits.origin_connections_total_max, std::max<uint64_t>(1, shared / 4));
  return "at most " + std::to_string(limits.connections_max) + " client connections and " +
         std::to_string(limits.origin_connections_total_max) + " to origins at once: " +
         (open_max == waited_for_max
              ? "the event method " + std::string(storage::own_event_method()) + " waits for " +
                    std::to_string(open_max) + " open files at most"
              : "the limit on open files is " + std::to_string(open_max) + " (ulimit -Hn)");
}

std::string made_up_name() {
  std::random_device device;
  char name[32];
  std::snprintf(name, sizeof name, "cacheoff-%08x", static_cast<unsigned>(device()));
  return name;
}

/// Coroutines that serve from the ready line to the clean end.
class Runner {
 public:
  Runner(Graph& graph, Server& server)
      : server_(server), signals_(graph.io, SIGTERM, SIGINT, SIGHUP) {}

  int exit_status() const { return exit_status_; }

  asio::awaitable<void> run() {
    const std::string error = co_await server_.start();
    for (const auto& warning : server_.start_warnings()) complain(warning);
    if (!error.empty()) {
      complain(error);
      exit_status_ = kExitFailed;
    } else {
      announce();
      co_await wait_for_stop();
      asio::co_spawn(co_await asio::this_coro::executor, wait_for_hurry(),
                     [](const std::exception_ptr&) {});  // It only waits.
    }
    const std::string trouble = co_await server_.stop();
    signals_.cancel();
    if (!trouble.empty()) {
      complain(trouble);
      exit_status_ = kExitFailed;
    }
  }

 private:
  void announce() {
    std::string line = "cacheoff-proxy: listening on " + server_.listening_on().text();
    if (server_.admin_port() != 0) line += ", admin on " + server_.admin_on().text();
    std::printf("%s\n", line.c_str());
    std::fflush(stdout);
  }

  asio::awaitable<void> wait_for_stop() {
    for (;;) {
      auto [error, number] = co_await signals_.async_wait(kAwait);
      if (error || number != SIGHUP) co_return;
      const std::string trouble = server_.reopen_access_log();
      if (!trouble.empty()) complain(trouble);
    }
  }

  asio::awaitable<void> wait_for_hurry() {
    for (;;) {
      auto [error, number] = co_await signals_.async_wait(kAwait);
      if (error) co_return;
      if (number != SIGHUP) server_.hurry();
    }
  }

  Server& server_;
  asio::signal_set signals_;
  int exit_status_ = 0;
};

int serve(Config config) {
  // First, since a store may need many, but told last: an error of an option stands alone.
  const std::string lowered = fit_descriptor_limit(config);
  if (config.via_name.empty()) config.via_name = made_up_name();
  std::signal(SIGPIPE, SIG_IGN);
  Graph graph(config);
  auto store = make_store(config, graph);
  if (!store.scheme) {
    complain("--cache-dir: " + store.error);
    return store.not_opened ? kExitFailed : kExitUsage;
  }
  if (!lowered.empty()) complain(lowered);
  for (const auto& warning : store.scheme->info().warnings) complain(warning);
  if (config.test_delay.count() > 0) complain(test_delay_warning(config.test_delay));
  Server server(graph.io.get_executor(), config, graph.clock, graph.buffers, *store.scheme);
  Runner runner(graph, server);
  std::string broken;
  asio::co_spawn(graph.io, runner.run(), [&broken](const std::exception_ptr& failure) {
    if (failure) broken = "out of memory while starting or stopping";
  });
  graph.io.run();
  if (!broken.empty()) complain(broken);
  return broken.empty() ? runner.exit_status() : kExitFailed;
}

/// Verifies one cache directory and prints what was found.
int check(const Config& config, const storage::SchemeSpec& directory) {
  Graph graph(config);
  storage::CheckReport report;
  std::exception_ptr broken;
  asio::co_spawn(graph.io, storage::check_store(directory, graph.environment(config.seed)),
                 [&](const std::exception_ptr& failure, storage::Result<storage::CheckReport> got) {
                   broken = failure;
                   if (failure) return;
                   if (got) {
                     report = std::move(*got);
                   } else {
                     report.error = to_string(got.error());
                   }
                 });
  graph.io.run();
  if (broken) report.error = "the check ended early";
  if (!report.error.empty()) {
    complain("--check: " + report.error);
    return report.usage ? kExitUsage : kExitFailed;
  }
  std::fputs(storage::describe(report).c_str(), stdout);
  return report.sound() ? 0 : kExitFailed;
}

int check_all(const Config& config) {
  int status = 0;
  for (const auto& directory : config.cache_dirs) {
    if (config.cache_dirs.size() > 1) std::printf("%s:\n", directory.path.c_str());
    std::fflush(stdout);
    status = std::max(status, check(config, directory));
  }
  return status;
}

}  // namespace

int run_program(const std::vector<std::string>& arguments) {
  const CommandLine line = parse_command_line(arguments);
  if (!line.error.empty()) {
    complain(line.error);
    return kExitUsage;
  }
  if (!line.config.event_method.empty()) {
    const std::string fault = storage::take_event_method(line.config.event_method, arguments);
    if (!fault.empty()) {
      complain("--event-method " + fault);
      return kExitFailed;
    }
  }
  switch (line.action) {
    case Action::kShowText:
      std::fputs(line.text.c_str(), stdout);
      return 0;
    case Action::kListSchemes:
      return list_schemes();
    case Action::kCheck:
      return check_all(line.config);
    case Action::kServe:
      return serve(line.config);
  }
  return kExitUsage;
}

}  // namespace proxy
