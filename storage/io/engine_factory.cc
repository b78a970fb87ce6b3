#include "storage/io/engine_factory.h"

#include <algorithm>
#include <array>
#include <chrono>

#include "storage/base/units.h"
#include "storage/io/blocking.h"
#include "storage/io/diskd/helper_queue.h"
#include "storage/io/posix_aio.h"
#include "storage/io/queued_engine.h"
#include "storage/io/thread_pool.h"
#ifdef CACHEOFF_HAS_LIBAIO
#include "storage/io/libaio.h"
#endif
#ifdef CACHEOFF_HAS_LIBURING
#include "storage/io/io_uring.h"
#endif

namespace storage {

namespace {

constexpr uint64_t kThreadsMax = 256;
constexpr uint64_t kQueueLimitMax = 1'000'000;
constexpr size_t kQueueLimitPerThread = 5;
constexpr uint64_t kMessagesMax = 10'000;
constexpr uint64_t kSlotsMax = 16'384;
constexpr auto kTimeoutMax = std::chrono::minutes(10);

constexpr std::array<SchemeOption, 2> kThreadOptions = {{
    {"threads", "16", "threads of the engine thread_pool, 1 to 256"},
    {"queue-limit", "",
     "waiting operations of thread_pool beyond which new objects are declined; 5 a thread if not "
     "given"},
}};

constexpr std::array<SchemeOption, 5> kHelperOptions = {{
    {"q1", "64", "operations under way in the helper above which no file is opened, 1 to 10000"},
    {"q2", "72", "messages to the helper without a reply, 1 to 10000; further operations wait"},
    {"slots", "", "pieces of 64 KiB of memory shared with the helper; 1.3 * q2 if not given"},
    {"timeout", "5s", "how long the helper may take over an operation before it is replaced"},
    {"program", "", "the helper's program; cacheoff-diskd beside the running one if not given"},
}};

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

// glibc answers on threads that it makes by itself. The thread sanitizer doesn't know them, and
// crashes in the first function that one of them calls.
#ifndef __SANITIZE_THREAD__
EngineOrError make_posix_aio(const EngineChoice& choice, int root_fd,
                             const SchemeEnvironment& environment) {
  std::string error;
  const auto queue = make_posix_aio_queue(environment.executor, choice.depth_max, error);
  return over(queue, error, root_fd, environment);
}
#endif

#ifdef CACHEOFF_HAS_LIBAIO
EngineOrError make_libaio(const EngineChoice& choice, int root_fd,
                          const SchemeEnvironment& environment) {
  std::string error;
  const auto queue = make_libaio_queue(environment.executor, choice.depth_max, error);
  return over(queue, error, root_fd, environment);
}
#endif

#ifdef CACHEOFF_HAS_LIBURING
EngineOrError make_io_uring(const EngineChoice& choice, int root_fd,
                            const SchemeEnvironment& environment) {
  std::string error;
  const auto queue = make_io_uring_queue(environment.executor, choice.depth_max, error);
  return over(queue, error, root_fd, environment);
}
#endif

EngineOrError make_helper(const EngineChoice& choice, int root_fd,
                          const SchemeEnvironment& environment) {
  std::string error;
  const auto queue = make_helper_queue(environment.executor, choice.helper, root_fd,
                                       environment.seed, error, environment.on_event);
  return over(queue, error, root_fd, environment);
}

constexpr auto kRows = std::to_array<EngineRow>({
    {"blocking", make_blocking},
    {"thread_pool", make_threads},
#ifdef CACHEOFF_HAS_LIBAIO
    {"libaio", make_libaio},
#endif
#ifndef __SANITIZE_THREAD__
    {"posix_aio", make_posix_aio},
#endif
#ifdef CACHEOFF_HAS_LIBURING
    {"io_uring", make_io_uring},
#endif
    {"helper", make_helper},
});

// Those of `fitting` that this build has, in their order.
std::vector<std::string_view> engines_here(std::initializer_list<std::string_view> fitting) {
  std::vector<std::string_view> usable;
  for (const std::string_view name : fitting) {
    if (std::ranges::find(kRows, name, &EngineRow::name) != kRows.end()) usable.push_back(name);
  }
  return usable;
}

std::string joined(std::span<const std::string_view> names) {
  std::string text;
  for (const std::string_view name : names) {
    if (!text.empty()) text += ", ";
    text += name;
  }
  return text;
}

// One option of one spec; the first thing that is wrong with one stays in `error`.
class OptionReader {
 public:
  OptionReader(const SchemeSpec& spec, std::string& error) : spec_(spec), error_(error) {}

  // What the option has, or `otherwise` where it is not given.
  uint64_t number(const char* name, uint64_t highest, uint64_t otherwise) const {
    const std::string* const text = find(name);
    if (text == nullptr) return otherwise;
    const std::optional<uint64_t> number = parse_count(*text);
    if (number && *number >= 1 && *number <= highest) return *number;
    refuse(name, *text, "give a whole number from 1 to " + std::to_string(highest));
    return otherwise;
  }

  std::chrono::milliseconds duration(const char* name, std::chrono::milliseconds otherwise) const {
    const std::string* const text = find(name);
    if (text == nullptr) return otherwise;
    const auto duration = parse_duration(*text);
    if (duration && *duration >= std::chrono::milliseconds(10) && *duration <= kTimeoutMax) {
      return std::chrono::duration_cast<std::chrono::milliseconds>(*duration);
    }
    refuse(name, *text, "give a time from 10ms to 10m, such as 5s");
    return otherwise;
  }

  std::string text(const char* name) const {
    const std::string* const text = find(name);
    return text == nullptr ? std::string() : *text;
  }

  // Options of an engine that was not chosen.
  void refuse_all(std::span<const SchemeOption> options, const char* engine,
                  const std::string& chosen) const {
    for (const SchemeOption& option : options) {
      const std::string name(option.name);
      if (!error_.empty() || find(name.c_str()) == nullptr) continue;
      error_ = "option " + name + " of scheme " + spec_.scheme + " is for engine=" + engine +
               " only, this is engine=" + chosen;
    }
  }

 private:
  const std::string* find(const char* name) const {
    const auto given = spec_.options.find(name);
    return given == spec_.options.end() ? nullptr : &given->second;
  }
  void refuse(const std::string& name, const std::string& text, const std::string& right) const {
    if (!error_.empty()) return;
    error_ = "option " + name + "=" + text + " of scheme " + spec_.scheme + ": " + right;
  }

  const SchemeSpec& spec_;
  std::string& error_;
};

void read_thread_options(const OptionReader& reader, EngineChoice& choice) {
  choice.threads = static_cast<unsigned>(reader.number("threads", kThreadsMax, choice.threads));
  choice.queue_limit = reader.number("queue-limit", kQueueLimitMax, choice.queue_limit);
}

void read_helper_options(const OptionReader& reader, HelperOptions& helper) {
  helper.q1 = static_cast<unsigned>(reader.number("q1", kMessagesMax, helper.q1));
  helper.q2 = static_cast<unsigned>(reader.number("q2", kMessagesMax, helper.q2));
  helper.slots = static_cast<unsigned>(reader.number("slots", kSlotsMax, helper.slots));
  helper.timeout = reader.duration("timeout", helper.timeout);
  helper.program = reader.text("program");
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

std::string_view default_engine_of(std::initializer_list<std::string_view> fitting) {
  return engines_here(fitting).front();
}

std::vector<SchemeOption> engine_options(std::string_view default_engine) {
  std::vector<SchemeOption> options = {
      {"engine", default_engine, "how calls reach the kernel: blocking, thread_pool, ..."}};
  options.insert(options.end(), kThreadOptions.begin(), kThreadOptions.end());
  return options;
}

std::span<const SchemeOption> helper_engine_options() {
  return kHelperOptions;
}

EngineChoice choose_engine(const SchemeSpec& spec, std::initializer_list<std::string_view> fitting,
                           std::string& error) {
  EngineChoice choice;
  const std::vector<std::string_view> usable = engines_here(fitting);
  choice.name = usable.front();
  const auto given = spec.options.find("engine");
  if (given != spec.options.end()) choice.name = given->second;
  if (std::ranges::find(usable, choice.name) == usable.end()) {
    const bool fits = std::ranges::find(fitting, choice.name) != fitting.end();
    error = "option engine=" + choice.name + " of scheme " + spec.scheme + ": " +
            (fits ? "this build has it not" : "it does not run on that") + "; give one of " +
            joined(usable);
    return choice;
  }
  const OptionReader reader(spec, error);
  read_thread_options(reader, choice);
  read_helper_options(reader, choice.helper);
  if (choice.name != "thread_pool") reader.refuse_all(kThreadOptions, "thread_pool", choice.name);
  if (choice.name != "helper") reader.refuse_all(kHelperOptions, "helper", choice.name);
  return choice;
}

EngineOrError make_engine(const EngineChoice& choice, int root_fd,
                          const SchemeEnvironment& environment) {
  const auto row = std::ranges::find(kRows, choice.name, &EngineRow::name);
  if (row != kRows.end()) return row->make(choice, root_fd, environment);
  return "engine '" + choice.name + "' is not one of " + joined(engine_names());
}

}  // namespace storage
