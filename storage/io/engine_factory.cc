#include "storage/io/engine_factory.h"

#include <algorithm>
#include <array>

#include "storage/base/units.h"
#include "storage/io/blocking.h"
#include "storage/io/libaio.h"
#include "storage/io/queued_engine.h"
#include "storage/io/thread_pool.h"
#ifdef CACHEOFF_HAS_LIBURING
#include "storage/io/io_uring.h"
#endif

namespace storage {

namespace {

constexpr uint64_t kThreadsMax = 256;
constexpr uint64_t kQueueLimitMax = 1'000'000;
constexpr size_t kQueueLimitPerThread = 5;

struct EngineRow {
  std::string_view name;
  EngineOrError (*make)(const EngineChoice& choice, int root_fd,
                        const SchemeEnvironment& environment);
};

EngineOrError make_blocking(const EngineChoice&, int root_fd,
                            const SchemeEnvironment& environment) {
  return std::make_unique<BlockingEngine>(environment.clock, root_fd);
}

EngineOrError over(const std::shared_ptr<CallQueue>& queue, std::string error, int root_fd,
                   const SchemeEnvironment& environment) {
  if (queue == nullptr) return error;
  return std::make_unique<QueuedEngine>(queue, environment.executor, environment.clock, root_fd);
}

EngineOrError make_threads(const EngineChoice& choice, int root_fd,
                           const SchemeEnvironment& environment) {
  const size_t limit =
      choice.queue_limit > 0 ? choice.queue_limit : kQueueLimitPerThread * choice.threads;
  std::string error;
  const auto queue = make_thread_pool(ThreadPoolOptions(choice.threads, limit), error);
  return over(queue, error, root_fd, environment);
}

EngineOrError make_libaio(const EngineChoice& choice, int root_fd,
                          const SchemeEnvironment& environment) {
  std::string error;
  const auto queue = make_libaio_queue(environment.executor, choice.depth_max, error);
  return over(queue, error, root_fd, environment);
}

#ifdef CACHEOFF_HAS_LIBURING
EngineOrError make_io_uring(const EngineChoice& choice, int root_fd,
                            const SchemeEnvironment& environment) {
  std::string error;
  const auto queue = make_io_uring_queue(environment.executor, choice.depth_max, error);
  return over(queue, error, root_fd, environment);
}
#endif

constexpr auto kRows = std::to_array<EngineRow>({
    {"blocking", make_blocking},
    {"thread_pool", make_threads},
    {"libaio", make_libaio},
#ifdef CACHEOFF_HAS_LIBURING
    {"io_uring", make_io_uring},
#endif
});

std::string joined(std::span<const std::string_view> names) {
  std::string text;
  for (const std::string_view name : names) {
    if (!text.empty()) text += ", ";
    text += name;
  }
  return text;
}

// The number that the option has, or `otherwise` where it is not given.
uint64_t number_option(const SchemeSpec& spec, const char* name, uint64_t highest,
                       uint64_t otherwise, std::string& error) {
  const auto given = spec.options.find(name);
  if (given == spec.options.end()) return otherwise;
  const std::optional<uint64_t> number = parse_count(given->second);
  if (number && *number >= 1 && *number <= highest) return *number;
  if (error.empty()) {
    error = "option " + std::string(name) + "=" + given->second + " of scheme " + spec.scheme +
            ": give a whole number from 1 to " + std::to_string(highest);
  }
  return otherwise;
}

}  // namespace

std::span<const std::string_view> engine_names() {
  static const auto kNames = [] {
    std::array<std::string_view, kRows.size()> names;
    std::ranges::transform(kRows, names.begin(), &EngineRow::name);
    return names;
  }();
  return kNames;
}

std::vector<SchemeOption> engine_options(std::string_view default_engine) {
  return {
      {"engine", default_engine, "how calls reach the kernel: blocking, thread_pool, ..."},
      {"threads", "16", "threads of the engine thread_pool, 1 to 256"},
      {"queue-limit", "",
       "waiting operations of thread_pool beyond which new objects are declined; 5 a thread if "
       "not given"},
  };
}

EngineChoice choose_engine(const SchemeSpec& spec, std::initializer_list<std::string_view> fitting,
                           std::string& error) {
  EngineChoice choice;
  choice.name = *fitting.begin();
  const auto given = spec.options.find("engine");
  if (given != spec.options.end()) choice.name = given->second;
  std::vector<std::string_view> usable;
  for (const std::string_view name : fitting) {
    if (std::ranges::find(kRows, name, &EngineRow::name) != kRows.end()) usable.push_back(name);
  }
  if (std::ranges::find(usable, choice.name) == usable.end()) {
    const bool fits = std::ranges::find(fitting, choice.name) != fitting.end();
    error = "option engine=" + choice.name + " of scheme " + spec.scheme + ": " +
            (fits ? "this build has it not" : "it does not run on that") + "; give one of " +
            joined(usable);
    return choice;
  }
  choice.threads =
      static_cast<unsigned>(number_option(spec, "threads", kThreadsMax, choice.threads, error));
  choice.queue_limit =
      number_option(spec, "queue-limit", kQueueLimitMax, choice.queue_limit, error);
  for (const char* name : {"threads", "queue-limit"}) {
    if (!error.empty() || choice.name == "thread_pool" || !spec.options.contains(name)) continue;
    error = "option " + std::string(name) + " of scheme " + spec.scheme +
            " is for engine=thread_pool only, this is engine=" + choice.name;
  }
  return choice;
}

EngineOrError make_engine(const EngineChoice& choice, int root_fd,
                          const SchemeEnvironment& environment) {
  const auto row = std::ranges::find(kRows, choice.name, &EngineRow::name);
  if (row != kRows.end()) return row->make(choice, root_fd, environment);
  return "engine '" + choice.name + "' is not one of " + joined(engine_names());
}

}  // namespace storage
