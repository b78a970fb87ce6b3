#include "workload/webproxy/program.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <iostream>
#include <memory>

#include "storage/base/buffer_pool.h"
#include "storage/base/filesystem_sync.h"
#include "workload/client/generator_limits.h"
#include "workload/webproxy/program_options.h"
#include "workload/webproxy/result_files.h"

namespace webproxy {
namespace {

using workload::Expected;
using workload::run_problem;
using workload::usage_problem;

constexpr int kFailed = 1;
constexpr int kWrongUsage = 2;
constexpr uint64_t kOtherDescriptors = 100;
/// Schemes' layouts lend these; the pattern has buffers of its own, so none is ever lent.
constexpr size_t kPoolBufferBytes = 4096;

/// A folder and the engine whose relative paths begin there.
class Place {
 public:
  Place() = default;
  ~Place() {
    engine_.reset();
    if (fd_ >= 0) ::close(fd_);
  }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;

  Expected<void> open(const std::filesystem::path& folder, const storage::EngineChoice& choice,
                      const storage::SchemeEnvironment& environment) {
    std::error_code failure;
    const bool empty = std::filesystem::is_empty(folder, failure);
    if (!failure && !empty) {
      return usage_problem("--directory '" + folder.string() + "': must be an empty folder");
    }
    fd_ = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd_ < 0) {
      return usage_problem("--directory '" + folder.string() +
                           "': can't be opened: " + std::strerror(errno));
    }
    auto made = storage::make_engine(choice, fd_, environment);
    if (made.engine == nullptr) return run_problem(made.error);
    engine_ = std::move(made.engine);
    return {};
  }
  /// Writes to the disk what the filesystem has left to write.
  Expected<void> write_back() const {
    if (storage::sync_filesystem(fd_) == 0) return {};
    return run_problem(std::string("the files can't be written to the disk: ") +
                       std::strerror(errno));
  }
  storage::IoEngine* engine() const { return engine_.get(); }

 private:
  int fd_ = -1;
  std::unique_ptr<storage::IoEngine> engine_;
};

double cpu_s_of(int who) {
  rusage use{};
  if (::getrusage(who, &use) != 0) return 0;
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(use.ru_utime) + seconds(use.ru_stime);
}

void say(const std::string& line) {
  std::cout << "cacheoff-webproxy: " << line << std::endl;
}

/// Runs the pattern and notes what it used.
Expected<void> measure(Pattern& pattern, const std::vector<std::unique_ptr<Place>>& places,
                       const storage::Clock& clock, RunFacts& facts) {
  if (!pattern.prepare()) return run_problem(pattern.failure());
  for (const auto& place : places) {
    if (auto done = place->write_back(); !done) return done;
  }
  if (pattern.stopped()) return run_problem("stopped by a signal");
  // The bench begins to count when it sees this line, and ends with the next one.
  say("measuring");
  facts.start = clock.wall_now();
  const double process_before_s = cpu_s_of(RUSAGE_SELF);
  const double thread_before_s = cpu_s_of(RUSAGE_THREAD);
  const bool whole = pattern.measure();
  facts.cpu_s = cpu_s_of(RUSAGE_SELF) - process_before_s;
  facts.event_loop_cpu_s = cpu_s_of(RUSAGE_THREAD) - thread_before_s;
  say("measured");
  facts.first_error = pattern.failure();
  const bool wrong_bytes = pattern.account().recorder().total.error_count() > 0;
  if (!whole && !wrong_bytes) return run_problem(pattern.failure());
  if (pattern.stopped()) return run_problem("stopped by a signal");
  return {};
}

Expected<void> run(const ProgramOptions& options) {
  if (const auto missing =
          workload::raise_descriptor_limit(options.pattern.workers + kOtherDescriptors)) {
    return usage_problem("--workers: " + *missing);
  }
  boost::asio::io_context io(1);
  const storage::SystemClock clock;
  storage::BufferPool buffers(io.get_executor(), kPoolBufferBytes, kPoolBufferBytes);
  const storage::SchemeEnvironment environment{io.get_executor(), clock, buffers};
  std::vector<std::unique_ptr<Place>> places;
  std::vector<storage::IoEngine*> engines;
  for (const auto& folder : options.folders) {
    places.push_back(std::make_unique<Place>());
    if (auto done = places.back()->open(folder, options.engine, environment); !done) return done;
    engines.push_back(places.back()->engine());
  }
  Pattern pattern(io, clock, engines, options.pattern);
  bool asked_to_end = false;
  boost::asio::signal_set signals(io, SIGINT, SIGTERM);
  signals.async_wait([&](const boost::system::error_code& failure, int) {
    if (failure) return;
    asked_to_end = true;
    pattern.stop();
  });
  RunFacts facts;
  facts.engine = options.engine.name;
  facts.options = options.pattern;
  facts.folders = options.folders.size();
  facts.warnings = options.warnings;
  if (auto done = measure(pattern, places, clock, facts); !done) return done;
  if (!options.out.empty()) {
    auto written = write_result_files(options.out, pattern.account(), facts);
    if (!written) return written;
  }
  std::cout << run_to_text(pattern.account(), facts);
  for (const auto& warning : facts.warnings) std::cout << "warning: " << warning << '\n';
  std::cout << std::flush;
  io.restart();
  while (options.hold && !asked_to_end) io.run_one();
  if (!pattern.failure().empty()) return run_problem(pattern.failure());
  return {};
}

void list_schemes() {
  const auto print = [](const std::string& name, std::string_view engine) {
    std::cout << name << "\t0\t1\tno cache: filebench's webproxy pattern on the engine " << engine
              << "\t0\n";
  };
  print("webproxy", engines().front());
  for (const auto engine : engines()) print("webproxy:" + std::string(engine), engine);
}

}  // namespace

int run_program(int count, const char* const* texts) {
  try {
    const auto options = parse_program_options({texts + 1, texts + count});
    Expected<void> done;
    if (!options) {
      done = options.error();
    } else if (options->action == ProgramOptions::Action::kHelp) {
      std::cout << help_text();
    } else if (options->action == ProgramOptions::Action::kVersion) {
      std::cout << "cacheoff-webproxy " CACHEOFF_VERSION "\n";
    } else if (options->action == ProgramOptions::Action::kListSchemes) {
      list_schemes();
    } else {
      done = run(*options);
    }
    if (done) return 0;
    std::cerr << "cacheoff-webproxy: " << done.error().text << std::endl;
    return done.error().usage ? kWrongUsage : kFailed;
  } catch (const std::exception& error) {
    std::cerr << "cacheoff-webproxy: " << error.what() << std::endl;
    return kFailed;
  }
}

}  // namespace webproxy
