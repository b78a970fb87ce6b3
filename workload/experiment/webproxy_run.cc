#include "workload/experiment/webproxy_run.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <utility>

#include "workload/client/load_shape.h"
#include "workload/experiment/disk_account.h"
#include "workload/experiment/memory_limit.h"
#include "workload/experiment/program_commands.h"
#include "workload/experiment/run_places.h"
#include "workload/experiment/run_record.h"
#include "workload/experiment/run_watch.h"
#include "workload/report/json_text.h"

namespace workload {
namespace {

using std::chrono::seconds;

constexpr std::string_view kName = "webproxy";
/// Threads of filebench's webproxy.f.
constexpr uint64_t kFilebenchThreads = 100;
/// What the program takes.
constexpr uint64_t kWorkersMost = 1000;
/// Making the files of the largest cache may take as long as this.
constexpr auto kPrepareTimeMax = std::chrono::hours(4);
constexpr auto kPatternTimeMax = std::chrono::hours(24);
constexpr auto kEndTimeMax = seconds(60);
constexpr int kLooksForMemory = 4;

/// The run's places and its one program, which ends before them.
class PatternRun {
 public:
  PatternRun(const RunRequest& request, const ExperimentOptions& options, const Programs& programs,
             StopSignals& stop)
      : request_(request), options_(options), programs_(programs), stop_(stop) {}

  /// The program first, and then the disks' delays: what is killed with writes under way waits for
  /// the disk.
  ~PatternRun() {
    program_.reset();
    if (places_) places_->end_timing();
  }
  PatternRun(const PatternRun&) = delete;
  PatternRun& operator=(const PatternRun&) = delete;

  Expected<boost::json::object> perform() {
    auto places = make_run_places(request_, options_, programs_, stop_);
    if (!places) return places.error();
    places_ = std::move(*places);
    disks_.emplace(places_->modelled_disks());
    if (auto done = start(); !done) return done.error();
    if (auto done = watch_pattern(); !done) return done.error();
    places_->end_timing();
    end_ = program_->stop(kEndTimeMax);
    return make_record();
  }

 private:
  Expected<void> start();
  Expected<void> watch_pattern();
  Expected<boost::json::object> make_record();
  RunObservation observe(const boost::json::object& record, double loop_cpu_share) const;
  Problem with_last_words(const std::string& text) const {
    return run_problem(text + last_words(log()));
  }
  std::filesystem::path log() const { return request_.folder / "webproxy.log"; }

  const RunRequest& request_;
  const ExperimentOptions& options_;
  const Programs& programs_;
  StopSignals& stop_;
  std::unique_ptr<MemoryLimit> memory_;  ///< Goes last: pages of the places are charged to it.
  std::unique_ptr<CachePlaces> places_;
  std::optional<ChildProcess> program_;
  std::optional<RunWatch> watch_;
  std::optional<DiskAccount> disks_;
  ChildEnd end_;
  std::vector<std::string> warnings_;
};

Expected<void> PatternRun::start() {
  auto command =
      webproxy_command(programs_.webproxy, request_.cell, options_, places_->paths(),
                       seed_of_round(options_.seed, request_.round), request_.folder.string());
  warnings_ = std::move(command.warnings);
  const auto& more = places_->warnings();
  warnings_.insert(warnings_.end(), more.begin(), more.end());
  if (auto done = note_command(request_.folder, command.words); !done) return done;
  std::string group_file;
  if (options_.memory.any()) {
    auto limit = MemoryLimit::make(options_.memory, request_.scratch->journal());
    if (!limit) return limit.error();
    memory_ = std::move(*limit);
    group_file = memory_->entrance();
  }
  auto started = ChildProcess::start({command.words, log().string(), log().string(), request_.user,
                                      group_file, false, options_.system_processors});
  if (!started) return started.error();
  program_ = std::move(*started);
  const auto line = program_->wait_ready(": measuring", kPrepareTimeMax, &stop_);
  if (!line) return with_last_words(line.error().text);
  // Its files are made.
  return places_->begin_timing();
}

Expected<void> PatternRun::watch_pattern() {
  // There is no origin; its figures are not used.
  watch_.emplace(*program_, *program_, places_->devices());
  watch_->begin();
  if (memory_) memory_->begin();
  if (auto done = disks_->begin(); !done) return done;
  const auto length_s = options_.run_length_s();
  const auto deadline =
      std::chrono::steady_clock::now() +
      (length_s ? seconds(static_cast<int64_t>(*length_s * 2) + 120) : seconds(kPatternTimeMax));
  for (int turn = 0;; ++turn) {
    const auto event = ChildWaiter::wait({&*program_}, &stop_, RunWatch::kSamplePeriod);
    if (event == ChildWaiter::Event::kStopRequested) return run_problem("stopped by a signal");
    if (const auto end = program_->poll_end()) {
      return with_last_words(program_->name() + " " + end->text() + " in mid-run");
    }
    if (program_->output().find(": measured") != std::string::npos) {
      watch_->end();
      if (memory_) memory_->end();
      return disks_->end();
    }
    watch_->sample();
    if (turn % kLooksForMemory == 0) program_->sample_memory();
    if (std::chrono::steady_clock::now() > deadline) {
      return run_problem("the pattern did not end in time and was stopped");
    }
  }
}

RunObservation PatternRun::observe(const boost::json::object& record, double loop_cpu_share) const {
  RunObservation seen;
  watch_->observe(seen);
  disks_->observe(seen);
  if (memory_) seen.memory_excess_share = memory_excess(memory_->account());
  if (seen.machine_busy_share) {
    const double own_share = watch_->proxy_cpu_s() / std::max(watch_->length_s(), 1e-3) /
                             static_cast<double>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
    seen.others_busy_share = std::max(0.0, *seen.machine_busy_share - own_share);
  }
  // Only the event loop's thread can be full by itself.
  seen.proxy_cpu_share = loop_cpu_share;
  seen.origin_cpu_share = 0;
  seen.requests = count_at(record, "requests");
  seen.errors = sum_at(record, "errors");
  seen.wrong_bodies = count_at(record, "wrong_bodies");
  if (const auto* steady = record.if_contains("steady"); steady && steady->is_bool()) {
    seen.steady = steady->get_bool();
  }
  return seen;
}

Expected<boost::json::object> PatternRun::make_record() {
  auto read = read_json_object(request_.folder / "run.json");
  if (!read) return with_last_words(read.error().text);
  boost::json::object record = std::move(*read);
  const double loop_cpu_share =
      number_at(record, "webproxy.event_loop_cpu_percent").value_or(0) / 100;
  const RunObservation seen = observe(record, loop_cpu_share);
  RunObservation without_machine = seen;
  // What is said of a full machine there is about three programs.
  without_machine.machine_busy_share.reset();
  const RunVerdict verdict = judge_run(without_machine);
  std::string failure;
  if (seen.wrong_bodies > 0) {
    failure = "files with wrong bytes: " + text_at(record, "first_error");
  } else if (end_.killed) {
    failure = program_->name() + " did not end when asked and was killed";
  } else if (end_.exit_status != 0) {
    failure = program_->name() + " " + end_.text() + last_words(log());
  }
  record["cpu_s"] = {{"proxy", watch_->proxy_cpu_s()},
                     {"load", nullptr},
                     {"origin", nullptr},
                     {"helper", nullptr}};
  record["peak_rss_bytes"] = {{"proxy", end_.use.peak_rss_bytes},
                              {"load", nullptr},
                              {"origin", nullptr},
                              {"helper", nullptr}};
  add_surroundings(record, {request_, options_, *watch_, *disks_, *places_, memory_.get()}, seen,
                   watch_->counters(), warnings_);
  record["limited_by"] = webproxy_limit(seen, loop_cpu_share);
  auto done = finish_record(record, request_, verdict,
                            {warnings_, disks_->warnings(), verdict.warnings}, failure);
  if (!done) return done.error();
  return record;
}

/// Adds `a=1,b=2` of the scheme's options as `--a 1 --b 2`.
void add_scheme_options(std::vector<std::string>& words, const std::string& text) {
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    const std::string item = text.substr(begin, end - begin);
    const size_t equals = std::min(item.find('='), item.size());
    words.push_back("--" + item.substr(0, equals));
    if (equals < item.size()) words.push_back(item.substr(equals + 1));
    begin = end + 1;
  }
}

}  // namespace

bool is_webproxy(std::string_view scheme) {
  return scheme == kName || (scheme.substr(0, kName.size()) == kName &&
                             scheme.substr(kName.size()).substr(0, 1) == ":");
}

WebproxyCommand webproxy_command(const std::filesystem::path& program, const CellPlan& cell,
                                 const ExperimentOptions& options,
                                 const std::vector<std::string>& folders, uint64_t seed,
                                 const std::string& out) {
  WebproxyCommand command;
  std::string error;
  const auto shape = parse_load_shape(options.load, error);
  uint64_t workers = kFilebenchThreads;
  if (options.trace.empty() && shape && shape->kind == LoadShape::Kind::kBestEffort) {
    workers = std::min(shape->robots, kWorkersMost);
    if (workers < shape->robots) {
      command.warnings.push_back("--load " + options.load + ": webproxy had " +
                                 std::to_string(workers) + " workers, the most that it takes");
    }
  } else {
    command.warnings.push_back(
        (options.trace.empty() ? "--load " + options.load : std::string("--trace")) +
        " has no meaning for webproxy: it had " + std::to_string(workers) +
        " workers, as many as filebench's has threads, without pause");
  }
  if (!options.trace.empty() || !options.phases.empty()) {
    command.warnings.push_back("webproxy knows no phases and no end of a trace: it ran until " +
                               options.goal());
  }
  auto& words = command.words;
  words.push_back(program.string());
  for (const auto& folder : folders) words.insert(words.end(), {"--directory", folder});
  if (const size_t colon = cell.scheme.find(':'); colon != std::string::npos) {
    words.insert(words.end(), {"--engine", cell.scheme.substr(colon + 1)});
  }
  words.insert(words.end(),
               {"--workers", std::to_string(workers), "--cache-size",
                std::to_string(options.cache_size_bytes), "--until", options.goal(), "--seed",
                std::to_string(seed), "--sample-interval",
                std::to_string(sample_interval(options).count()) + "ms", "--out", out, "--hold"});
  add_scheme_options(words, cell.scheme_options);
  return command;
}

std::string_view webproxy_limit(const RunObservation& seen, double loop_cpu_share) {
  if (seen.disk_busy_share.value_or(0) >= kSaturatedShare) return kLimitedByDisk;
  if (loop_cpu_share + seen.proxy_blocked_share >= kSaturatedShare) {
    return seen.proxy_blocked_share > loop_cpu_share ? kLimitedByDisk : kLimitedByProcess;
  }
  if (seen.machine_busy_share.value_or(0) >= 0.95) return kLimitedByMachine;
  return kLimitedByFilesystem;
}

Expected<boost::json::object> run_webproxy_cell(const RunRequest& request,
                                                const ExperimentOptions& options,
                                                const Programs& programs, StopSignals& stop) {
  PatternRun run(request, options, programs, stop);
  return run.perform();
}

}  // namespace workload
