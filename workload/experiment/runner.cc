#include "workload/experiment/runner.h"

#include <unistd.h>

#include <algorithm>
#include <boost/json/value_from.hpp>
#include <cstdint>
#include <memory>
#include <optional>

#include "storage/base/units.h"
#include "workload/experiment/access_log_count.h"
#include "workload/experiment/disk_account.h"
#include "workload/experiment/fast_fill.h"
#include "workload/experiment/http_fetch.h"
#include "workload/experiment/measured_part.h"
#include "workload/experiment/memory_limit.h"
#include "workload/experiment/program_commands.h"
#include "workload/experiment/run_cost.h"
#include "workload/experiment/run_places.h"
#include "workload/experiment/run_watch.h"
#include "workload/experiment/static_options.h"
#include "workload/experiment/static_run.h"
#include "workload/experiment/storage_account.h"
#include "workload/experiment/webproxy_run.h"
#include "workload/filesystem/cache_places.h"
#include "workload/model/workload_file.h"
#include "workload/report/json_text.h"
#include "workload/system/registry.h"
#include "workload/system/running_system.h"

namespace workload {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr auto kReadyTimeMax = seconds(60);
constexpr auto kStopTimeMax = seconds(60);
constexpr auto kFetchTimeMax = seconds(10);
/// A run with another goal than a duration may take as long as this.
constexpr auto kRunTimeMax = std::chrono::hours(24);
constexpr uint64_t kPageSizeMax = 1 << 20;  ///< Of the proxy's own pages.
constexpr int kSamplesForMemory = 4;        ///< Memory is looked at every so many samples.

/// A count over all recorded phases: the run's own figures are those of its primary ones.
uint64_t count_over_phases(const boost::json::object& record, std::string_view path) {
  const auto* phases = record.if_contains("phases");
  if (phases == nullptr || !phases->is_array()) return count_at(record, path);
  uint64_t sum = 0;
  for (const auto& phase : phases->get_array()) {
    if (phase.is_object()) sum += count_at(phase.get_object(), path);
  }
  return sum;
}

uint64_t errors_over_phases(const boost::json::object& record) {
  const auto* phases = record.if_contains("phases");
  if (phases == nullptr || !phases->is_array()) return sum_at(record, "errors");
  uint64_t sum = 0;
  for (const auto& phase : phases->get_array()) {
    if (phase.is_object()) sum += sum_at(phase.get_object(), "errors");
  }
  return sum;
}

/// The run's programs and places. Members end in the reverse order: first the load, then the proxy
/// and the origin, then the cache's places and the group that limits memory.
class Run {
 public:
  Run(const RunRequest& request, const ExperimentOptions& options, const Programs& programs,
      StopSignals& stop)
      : request_(request),
        options_(options),
        programs_(programs),
        stop_(stop),
        kind_(system_of_scheme(request.cell.scheme)) {}

  /// The load first, and then the disks' delays: what is killed with writes under way, or unmounted
  /// with writes left over, waits for the disk.
  ~Run() {
    load_.reset();
    if (places_) places_->end_timing();
  }
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  Expected<boost::json::object> perform() {
    if (auto done = make_places(); !done) return done.error();
    if (auto done = start_servers(); !done) return done.error();
    if (auto done = drive_load(); !done) return done.error();
    stop_servers();
    return make_record();
  }

 private:
  Expected<void> make_places();
  Expected<void> start_servers();
  Expected<void> start_origin();
  Expected<void> start_system();
  Expected<void> drive_load();
  Expected<void> wait_for_load();
  /// Where only a later part of the run is measured, what is watched begins with it; with
  /// --fast-fill the disks' delays begin where the fill is over.
  Expected<void> follow_phases();
  /// Whether what was watched is the measured part alone.
  bool watched_measured_part() const { return part_ && part_->began(); }
  void keep_pages();
  void stop_servers();
  Expected<boost::json::object> make_record();
  /// What the proxy says of itself, and what its store could not do as asked.
  std::vector<std::string> proxy_warnings() const;
  RunObservation observe(boost::json::object& record) const;
  void compare_hits(boost::json::object& record, RunObservation& seen) const;
  std::string log_path(const std::string& name) const { return (request_.folder / name).string(); }

  const RunRequest& request_;
  const ExperimentOptions& options_;
  const Programs& programs_;
  StopSignals& stop_;
  const SystemKind& kind_;
  std::unique_ptr<MemoryLimit> memory_;  ///< Goes last: pages of the places are charged to it.
  std::unique_ptr<CachePlaces> places_;
  std::optional<ChildProcess> origin_;
  std::unique_ptr<RunningSystem> system_;
  std::optional<ChildProcess> load_;
  ProgramAddresses addresses_;
  std::optional<RunWatch> watch_;
  std::optional<DiskAccount> disks_;
  std::optional<MeasuredPart> part_;  ///< Where only a later part of the run is measured.
  double load_cpu_before_s_ = 0;      ///< CPU time of the load until it began.
  ChildEnd load_end_;
  ChildEnd proxy_end_;
  ChildEnd origin_end_;
  std::vector<std::string> warnings_;
  std::string failure_;
};

Expected<void> Run::make_places() {
  auto made = make_run_places(request_, options_, programs_, stop_);
  if (!made) return made.error();
  places_ = std::move(*made);
  warnings_ = places_->warnings();
  disks_.emplace(places_->modelled_disks());
  // Of a fast fill too where the cell has no such disks: they do the same work.
  if (has_measured_part(options_)) part_.emplace(log_path("load.log"), options_.fast_fill > 0);
  return {};
}

Expected<void> Run::start_origin() {
  const auto command = origin_command(programs_.cacheoff, options_, request_.workload);
  if (auto done = note_command(request_.folder, command); !done) return done;
  auto started = ChildProcess::start({command,
                                      log_path("origin.log"),
                                      log_path("origin.log"),
                                      request_.user,
                                      {},
                                      false,
                                      options_.load_processors});
  if (!started) return started.error();
  origin_ = std::move(*started);
  auto line = origin_->wait_ready(": listening on ", kReadyTimeMax, &stop_);
  if (!line) return run_problem(line.error().text + last_words(log_path("origin.log")));
  addresses_.origin = address_behind(*line, "listening on ");
  if (!addresses_.origin) {
    return run_problem(origin_->name() + " printed no address: '" + *line + "'");
  }
  return {};
}

Expected<void> Run::start_system() {
  std::string group_file;
  if (options_.memory.any()) {
    auto limit = MemoryLimit::make(options_.memory, request_.scratch->journal());
    if (!limit) return limit.error();
    memory_ = std::move(*limit);
    group_file = memory_->entrance();
  }
  SystemRun run;
  run.cell = request_.cell;
  run.share_bytes = cache_share_bytes(request_.cell, options_.cache_size_bytes);
  run.cache_paths = places_->paths();
  run.options = options_of_cell(request_.cell, options_);
  if (is_of_variant(request_.cell)) run.options["event-method"] = request_.cell.event_method;
  run.folder = std::filesystem::absolute(request_.folder);
  run.origin = *addresses_.origin;
  system_ = std::make_unique<RunningSystem>(
      SystemStart{kind_, std::move(run), run_name(request_), programs_.proxy, *request_.scratch,
                  request_.user, group_file, &stop_, options_.system_processors});
  if (auto done = system_->start(); !done) return done;
  addresses_.proxy = system_->address();
  addresses_.admin = system_->admin();
  const auto& notes = system_->setup().notes;
  warnings_.insert(warnings_.end(), notes.begin(), notes.end());
  return {};
}

Expected<void> Run::start_servers() {
  if (auto done = start_origin(); !done) return done;
  if (auto done = start_system(); !done) return done;
  // Its stores are made.
  if (options_.fast_fill == 0) return places_->begin_timing();
  return {};
}

Expected<void> Run::drive_load() {
  ExperimentOptions load_options = options_;
  if (options_.fast_fill > 0) {
    load_options.workload = log_path("workload.toml");
    load_options.phases = "file";
    const auto text = workload_to_toml(fast_fill_workload(request_.workload, options_));
    if (auto done = write_file(load_options.workload, text); !done) return done;
  }
  const auto command =
      load_command(programs_.cacheoff, load_options, addresses_,
                   seed_of_round(options_.seed, request_.round), request_.folder.string());
  if (auto done = note_command(request_.folder, command); !done) return done.error();
  watch_.emplace(system_->process(), *origin_, places_->devices());
  watch_->begin();
  if (memory_) memory_->begin();
  if (auto done = disks_->begin(); !done) return done;
  auto started = ChildProcess::start({command,
                                      log_path("load.log"),
                                      log_path("load.log"),
                                      request_.user,
                                      {},
                                      false,
                                      options_.load_processors});
  if (!started) return started.error();
  load_ = std::move(*started);
  return wait_for_load();
}

Expected<void> Run::wait_for_load() {
  const auto length_s = options_.run_length_s();
  const auto deadline =
      std::chrono::steady_clock::now() +
      (length_s ? seconds(static_cast<int64_t>(*length_s * 2) + 120) : seconds(kRunTimeMax));
  ChildProcess& proxy = system_->process();
  for (int turn = 0;; ++turn) {
    const auto event =
        ChildWaiter::wait({&*load_, &proxy, &*origin_}, &stop_, RunWatch::kSamplePeriod);
    if (event == ChildWaiter::Event::kStopRequested) return run_problem("stopped by a signal");
    for (auto* server : {&proxy, &*origin_}) {
      if (const auto end = server->poll_end()) {
        return run_problem(
            server->name() + " " + end->text() + " in mid-run" +
            (server == &proxy ? system_->said() : last_words(log_path("origin.log"))));
      }
    }
    if (const auto end = load_->poll_end()) {
      load_end_ = *end;
      watch_->end();
      if (memory_) memory_->end();
      if (options_.fast_fill > 0 && !part_->began()) {
        return run_problem("the load ended before its measured part was seen to begin" +
                           last_words(log_path("load.log")));
      }
      return disks_->end();
    }
    watch_->sample();
    if (auto done = follow_phases(); !done) return done;
    if (turn % kSamplesForMemory == 0) load_->sample_memory();
    if (std::chrono::steady_clock::now() > deadline) {
      return run_problem("the load did not end in time and was stopped");
    }
  }
}

Expected<void> Run::follow_phases() {
  if (!part_) return {};
  const auto step = part_->look();
  if (!step) return step.error();
  if (*step == MeasuredPart::Step::kBeginTiming) {
    if (auto done = places_->begin_timing(); !done) return done;
    return part_->timing_began();
  }
  if (*step == MeasuredPart::Step::kBeginMeasured) {
    watch_->begin();
    load_cpu_before_s_ = load_->cpu_s();
    return disks_->begin();
  }
  return {};
}

void Run::keep_pages() {
  const auto keep = [&](const std::optional<storage::HostPort>& server, const std::string& path,
                        const std::string& name) {
    if (!server) return;
    const auto page = fetch_page(*server, path, kFetchTimeMax);
    const auto kept = page ? write_file(request_.folder / name, *page) : page.error();
    if (!kept) warnings_.push_back(kept.error().text);
  };
  for (auto& line : system_->keep_counters()) warnings_.push_back(std::move(line));
  keep(addresses_.origin, "/cacheoff/status", "origin_status.json");
}

void Run::stop_servers() {
  keep_pages();
  places_->end_timing();
  proxy_end_ = system_->process().stop(kStopTimeMax);
  origin_end_ = origin_->stop(kStopTimeMax);
  const auto check = [&](const char* name, const ChildEnd& end) {
    if (end.killed) {
      failure_ = std::string(name) + " did not end when asked and was killed";
    } else if (end.exit_status != 0) {
      failure_ = std::string(name) + " " + end.text() + " when asked to end";
    }
  };
  check("cacheoff origin", origin_end_);
  check(system_->process().name().c_str(), proxy_end_);
}

void Run::compare_hits(boost::json::object& record, RunObservation& seen) const {
  if (system_->setup().access_log.empty()) return;
  const auto counts = count_access_log(
      request_.folder / system_->setup().access_log,
      kind_.hits_in_log == HitsInLog::kAsSquids ? LogDialect::kSquids : LogDialect::kOurs);
  if (!counts) return;
  record["access_log"] = {{"lines", counts->lines},
                          {"requests", counts->requests},
                          {"hits", counts->hits},
                          {"aborted", counts->aborted},
                          {"unreadable", counts->unreadable}};
  if (kind_.hits_in_log == HitsInLog::kUnlike) return;
  // Requests that failed or were cut off at the end may be in one account and not in the other.
  const uint64_t doubtful =
      errors_over_phases(record) + count_over_phases(record, "unfinished") + counts->aborted;
  const uint64_t sent = count_over_phases(record, "requests");
  const uint64_t logged = counts->requests + counts->aborted;
  const auto* hits = record.if_contains("hits");
  if (hits == nullptr || logged + doubtful < sent || sent + doubtful < logged) return;
  const uint64_t robot_hits = count_over_phases(record, "hits");
  const uint64_t apart =
      robot_hits > counts->hits ? robot_hits - counts->hits : counts->hits - robot_hits;
  seen.robot_hits = robot_hits;
  seen.proxy_hits = apart <= doubtful ? robot_hits : counts->hits;
}

std::vector<std::string> Run::proxy_warnings() const {
  std::vector<std::string> out;
  const auto status = read_json_object(request_.folder / "status.json");
  for (const char* list : {"warnings", "scheme.warnings"}) {
    const auto* warnings = status ? find_json(*status, list) : nullptr;
    if (warnings == nullptr || !warnings->is_array()) continue;
    for (const auto& warning : warnings->get_array()) {
      if (warning.is_string()) out.emplace_back(warning.get_string());
    }
  }
  return out;
}

RunObservation Run::observe(boost::json::object& record) const {
  RunObservation seen;
  watch_->observe(seen);
  blame_worker(kind_, seen);
  disks_->observe(seen);
  const auto generator = number_at(record, "generator.cpu_percent");
  const double length_s = std::max(watch_->length_s(), 1e-3);
  const double load_cpu_s = std::max(0.0, load_end_.use.cpu_s - load_cpu_before_s_);
  seen.load_cpu_share = generator ? *generator / 100 : load_cpu_s / length_s;
  if (seen.machine_busy_share) {
    const double own_share =
        (seen.proxy_cpu_share + seen.origin_cpu_share +
         (load_cpu_s + watch_->helper_cpu_s().value_or(0) + disks_->cpu_s()) / length_s) /
        static_cast<double>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
    seen.others_busy_share = std::max(0.0, *seen.machine_busy_share - own_share);
  }
  seen.requests = count_at(record, "requests");
  seen.errors = sum_at(record, "errors");
  seen.wrong_bodies = count_at(record, "wrong_bodies");
  if (const auto* steady = record.if_contains("steady"); steady && steady->is_bool()) {
    seen.steady = steady->get_bool();
  }
  if (const auto* limit = find_json(record, "generator.limit"); limit && limit->is_string()) {
    seen.generator_limit = limit->get_string();
  }
  if (options_.finds_peak()) {
    seen.peak_limit = text_at(record, "peak.limit");
    if (const auto* settled = find_json(record, "peak.settled"); settled && settled->is_bool()) {
      seen.peak_settled = settled->get_bool();
      seen.peak_note = text_at(record, "peak.note");
    }
  } else {
    seen.offered = count_at(record, "offered");
    seen.unsent = seen.offered - std::min(seen.offered, count_at(record, "sent"));
  }
  if (memory_) seen.memory_excess_share = memory_excess(memory_->account());
  compare_hits(record, seen);
  return seen;
}

Expected<boost::json::object> Run::make_record() {
  auto read = read_json_object(request_.folder / "run.json");
  if (!read) {
    const std::string why =
        load_end_.exit_status == 0 ? read.error().text : "cacheoff load " + load_end_.text();
    return run_problem(why + last_words(request_.folder / "load.log"));
  }
  boost::json::object record = std::move(*read);
  const RunObservation seen = observe(record);
  const RunVerdict verdict = judge_run(seen);
  if (seen.wrong_bodies > 0) {
    failure_ = "responses with wrong bytes";
  } else if (failure_.empty() && load_end_.exit_status != 0) {
    failure_ = "cacheoff load " + load_end_.text() + last_words(request_.folder / "load.log");
  }
  record["run"] = request_.round;
  record["seed"] = seed_of_round(options_.seed, request_.round);
  const bool has_workers = serves_by_children(kind_);
  record["cpu_s"] = {
      {"proxy", watch_->proxy_cpu_s() + (has_workers ? watch_->helper_cpu_s().value_or(0) : 0)},
      {"load", load_end_.use.cpu_s},
      {"origin", watch_->origin_cpu_s()},
      {"helper", has_workers ? json_number(0.0) : json_number(watch_->helper_cpu_s())}};
  const uint64_t worker_rss_bytes = has_workers ? watch_->helper_peak_rss_bytes().value_or(0) : 0;
  record["peak_rss_bytes"] = {
      {"proxy", std::max(proxy_end_.use.peak_rss_bytes, worker_rss_bytes)},
      {"load", load_end_.use.peak_rss_bytes},
      {"origin", origin_end_.use.peak_rss_bytes},
      {"helper", has_workers ? boost::json::value(0)
                             : boost::json::value_from(watch_->helper_peak_rss_bytes())}};
  if (const auto page = read_file(request_.folder / "metrics.txt", kPageSizeMax)) {
    if (auto storage = account_storage(*page)) record["storage"] = std::move(*storage);
  }
  record["disk"] = watch_->disk();
  record["devices"] = places_->device_descriptions();
  disks_->account(record);
  const auto requests_meanwhile = watched_measured_part() ? count_at(record, "requests")
                                                          : count_over_phases(record, "requests");
  record["disk"].as_object()["operations_per_request"] =
      json_number(disk_operations_per(record, requests_meanwhile));
  ProgramCounters counters = watch_->counters();
  counters.load = load_end_.use.counters;
  add_run_costs(
      record, counters,
      watched_measured_part() ? std::optional(count_at(record, "requests")) : std::nullopt);
  record["memory"] = nullptr;
  if (memory_) {
    record["memory"] = memory_to_json(memory_->account());
    for (auto& line : memory_warnings(memory_->account())) warnings_.push_back(std::move(line));
  }
  record["steal_percent"] =
      json_number(seen.steal_share ? std::optional(*seen.steal_share * 100) : std::nullopt);
  record["machine_busy_percent"] = json_number(
      seen.machine_busy_share ? std::optional(*seen.machine_busy_share * 100) : std::nullopt);
  const auto blocked_share = watch_->proxy_blocked_share();
  record["proxy_blocked_percent"] =
      json_number(blocked_share ? std::optional(*blocked_share * 100) : std::nullopt);
  // `errors` are those of what was measured.
  const uint64_t measured_errors = sum_at(record, "errors");
  const uint64_t earlier_errors =
      std::max(errors_over_phases(record), measured_errors) - measured_errors;
  if (earlier_errors > 0) {
    warnings_.push_back(std::to_string(earlier_errors) +
                        " requests failed outside the measured part (phases[].errors says how)");
  }
  if (const auto said = system_->said_of_itself(); !said.empty()) {
    record["system_said"] = boost::json::value_from(said);
  }
  record["limited_by"] = verdict.limited_by;
  record["mount_options_in_force"] = places_->options_in_force();
  record["mount_option_outcomes"] = places_->option_outcomes();
  record["warnings"] =
      merge_warnings(record, {warnings_, proxy_warnings(), disks_->warnings(), verdict.warnings});
  record["valid"] = verdict.valid && failure_.empty();
  record["failure"] = failure_.empty() ? nullptr : boost::json::value(failure_);
  if (auto done = write_file(request_.folder / kRunRecordFile, to_pretty_json(record)); !done) {
    return done.error();
  }
  return record;
}

}  // namespace

Expected<boost::json::object> run_cell(const RunRequest& request, const ExperimentOptions& options,
                                       const Programs& programs, StopSignals& stop) {
  if (is_webproxy(request.cell.scheme)) {
    return run_webproxy_cell(request, options, programs, stop);
  }
  if (is_static_scheme(request.cell.scheme)) {
    return run_static_cell(request, options, programs, stop);
  }
  Run run(request, options, programs, stop);
  return run.perform();
}

}  // namespace workload
