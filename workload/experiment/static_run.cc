#include "workload/experiment/static_run.h"

#include <unistd.h>

#include <algorithm>
#include <boost/json/value_from.hpp>
#include <chrono>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "storage/base/clock.h"
#include "workload/experiment/ab_record.h"
#include "workload/experiment/disk_account.h"
#include "workload/experiment/http_fetch.h"
#include "workload/experiment/memory_limit.h"
#include "workload/experiment/program_commands.h"
#include "workload/experiment/run_places.h"
#include "workload/experiment/run_record.h"
#include "workload/experiment/run_watch.h"
#include "workload/experiment/static_options.h"
#include "workload/experiment/static_page.h"
#include "workload/report/json_text.h"
#include "workload/system/registry.h"
#include "workload/system/running_system.h"

namespace workload {
namespace {

using std::chrono::seconds;

constexpr auto kPageTimeMax = seconds(60);
constexpr auto kAbTimeMax = std::chrono::hours(24);
constexpr auto kServerStopTimeMax = seconds(60);
constexpr int kTurnsForMemory = 4;
constexpr const char* kAbFile = "ab.json";

/// The run's places, its server, and the load, which ends before both.
class StaticRun {
 public:
  StaticRun(const RunRequest& request, const ExperimentOptions& options, const Programs& programs,
            StopSignals& stop)
      : request_(request),
        options_(options),
        programs_(programs),
        stop_(stop),
        kind_(system_of_scheme(request.cell.scheme)),
        load_(*ab_load_of(options)) {}

  /// The programs first, and then the disks' delays: what is killed with writes under way waits for
  /// the disk.
  ~StaticRun() {
    generator_.reset();
    if (places_) places_->end_timing();
  }
  StaticRun(const StaticRun&) = delete;
  StaticRun& operator=(const StaticRun&) = delete;

  Expected<boost::json::object> perform() {
    if (auto done = make_page(); !done) return done.error();
    if (auto done = start_server(); !done) return done.error();
    if (auto done = check_first_body(); !done) return done.error();
    if (auto done = drive_load(); !done) return done.error();
    stop_server();
    return make_record();
  }

 private:
  Expected<void> make_page();
  Expected<void> start_server();
  Expected<void> check_first_body();
  Expected<void> drive_load();
  Expected<void> wait_for_load();
  void stop_server();
  Expected<boost::json::object> make_record();
  RunObservation observe(const boost::json::object& record) const;
  void account_programs(boost::json::object& record) const;
  void add_static_part(boost::json::object& record) const;
  void compare_access_log(boost::json::object& record);
  std::string log_path(const char* name) const { return (request_.folder / name).string(); }

  const RunRequest& request_;
  const ExperimentOptions& options_;
  const Programs& programs_;
  StopSignals& stop_;
  const SystemKind& kind_;
  const AbLoad load_;
  std::unique_ptr<MemoryLimit> memory_;  ///< Goes last: pages of the places are charged to it.
  std::unique_ptr<CachePlaces> places_;
  std::unique_ptr<RunningSystem> server_;
  std::optional<ChildProcess> generator_;
  std::optional<RunWatch> watch_;
  std::optional<DiskAccount> disks_;
  std::string page_;
  ExpectedBody expected_;
  bool is_compressed_ = false;
  uint64_t own_requests_ = 0;  ///< That the runner made itself.
  ChildEnd generator_end_;
  ChildEnd server_end_;
  std::vector<std::string> warnings_;
  std::string failure_;
};

Expected<void> StaticRun::make_page() {
  auto places = make_run_places(request_, options_, programs_, stop_);
  if (!places) return places.error();
  places_ = std::move(*places);
  warnings_ = places_->warnings();
  disks_.emplace(places_->modelled_disks());
  page_ = make_static_page(options_.file_size_bytes, seed_of_round(options_.seed, request_.round));
  expected_ = {page_.size(), xxh3_text(page_)};
  const auto file = std::filesystem::path(places_->paths().front()) / kStaticPageName;
  if (auto done = write_file(file, page_); !done) return done;
  // The server may be another user's.
  std::error_code failure;
  using std::filesystem::perms;
  std::filesystem::permissions(
      file, perms::owner_read | perms::owner_write | perms::group_read | perms::others_read,
      failure);
  if (failure) return run_problem("can't open up '" + file.string() + "': " + failure.message());
  return {};
}

Expected<void> StaticRun::start_server() {
  std::string group_file;
  if (options_.memory.any()) {
    auto limit = MemoryLimit::make(options_.memory, request_.scratch->journal());
    if (!limit) return limit.error();
    memory_ = std::move(*limit);
    group_file = memory_->entrance();
  }
  SystemRun run;
  run.cell = request_.cell;
  run.cache_paths = places_->paths();
  run.options = options_of_cell(request_.cell, options_);
  run.folder = std::filesystem::absolute(request_.folder);
  run.asked_for_gzip = load_.gzip;
  server_ = std::make_unique<RunningSystem>(
      SystemStart{kind_, std::move(run), run_name(request_), programs_.proxy, *request_.scratch,
                  request_.user, group_file, &stop_, options_.system_processors});
  if (auto done = server_->start(); !done) return done;
  const auto& notes = server_->setup().notes;
  warnings_.insert(warnings_.end(), notes.begin(), notes.end());
  // The page is written.
  return places_->begin_timing();
}

Expected<void> StaticRun::check_first_body() {
  if (!load_.gzip) return {};
  // Each server compresses in its own way: what is right is what has the page in it.
  const auto body =
      fetch_page_with_gzip(server_->address(), "/" + std::string(kStaticPageName), kPageTimeMax);
  if (!body) return body.error();
  ++own_requests_;
  const PageCoding coding = coding_of_page(*body, page_);
  if (coding == PageCoding::kAnother) {
    return run_problem(std::string(kind_.system) + " answers with " + std::to_string(body->size()) +
                       " bytes that are not the page, neither as it is nor compressed by gzip");
  }
  is_compressed_ = coding == PageCoding::kGzip;
  if (!is_compressed_) {
    warnings_.push_back(std::string(kind_.system) +
                        " was asked for gzip, and sent the page as it is");
  }
  expected_ = {body->size(), xxh3_text(*body)};
  return {};
}

Expected<void> StaticRun::drive_load() {
  const auto command =
      ab_command(programs_.cacheoff, options_, load_, server_->address(), log_path(kAbFile));
  if (auto done = note_command(request_.folder, command); !done) return done.error();
  // There is no origin; its figures are not used.
  watch_.emplace(server_->process(), server_->process(), places_->devices());
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
  generator_ = std::move(*started);
  return wait_for_load();
}

Expected<void> StaticRun::wait_for_load() {
  const auto length_s = options_.run_length_s();
  const auto deadline =
      std::chrono::steady_clock::now() +
      (length_s ? seconds(static_cast<int64_t>(*length_s * 2) + 120) : seconds(kAbTimeMax));
  ChildProcess& server = server_->process();
  for (int turn = 0;; ++turn) {
    const auto event = ChildWaiter::wait({&*generator_, &server}, &stop_, RunWatch::kSamplePeriod);
    if (event == ChildWaiter::Event::kStopRequested) return run_problem("stopped by a signal");
    if (const auto end = server.poll_end()) {
      return run_problem(server.name() + " " + end->text() + " in mid-run" + server_->said());
    }
    if (const auto end = generator_->poll_end()) {
      generator_end_ = *end;
      watch_->end();
      if (memory_) memory_->end();
      return disks_->end();
    }
    watch_->sample();
    if (turn % kTurnsForMemory == 0) generator_->sample_memory();
    if (std::chrono::steady_clock::now() > deadline) {
      return run_problem("the load did not end in time and was stopped");
    }
  }
}

void StaticRun::stop_server() {
  for (auto& line : server_->keep_counters()) warnings_.push_back(std::move(line));
  places_->end_timing();
  server_end_ = server_->process().stop(kServerStopTimeMax);
  const std::string& name = server_->process().name();
  if (server_end_.killed) {
    failure_ = name + " did not end when asked and was killed";
  } else if (server_end_.exit_status != 0) {
    failure_ = name + " " + server_end_.text() + " when asked to end";
  }
}

RunObservation StaticRun::observe(const boost::json::object& record) const {
  RunObservation seen;
  watch_->observe(seen);
  blame_worker(kind_, seen);
  disks_->observe(seen);
  seen.origin_cpu_share = 0;
  seen.load_cpu_share = number_at(record, "generator.cpu_percent").value_or(0) / 100;
  seen.generator_limit = text_at(record, "generator.limit");
  if (memory_) seen.memory_excess_share = memory_excess(memory_->account());
  if (seen.machine_busy_share) {
    const double own_cpu_s = watch_->proxy_cpu_s() + watch_->helper_cpu_s().value_or(0) +
                             generator_end_.use.cpu_s + disks_->cpu_s();
    const double own_share = own_cpu_s / std::max(watch_->length_s(), 1e-3) /
                             static_cast<double>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
    seen.others_busy_share = std::max(0.0, *seen.machine_busy_share - own_share);
  }
  seen.requests = count_at(record, "requests");
  seen.errors = sum_at(record, "errors");
  seen.wrong_bodies = count_at(record, "wrong_bodies");
  if (const auto* steady = record.if_contains("steady"); steady && steady->is_bool()) {
    seen.steady = steady->get_bool();
  }
  return seen;
}

void StaticRun::account_programs(boost::json::object& record) const {
  const bool has_workers = serves_by_children(kind_);
  const auto helper_cpu_s = watch_->helper_cpu_s();
  std::optional<double> server_cpu_s = watch_->proxy_cpu_s();
  if (has_workers) {
    // Not known of children: then nor is it of the server.
    server_cpu_s = helper_cpu_s ? std::optional(*server_cpu_s + *helper_cpu_s) : std::nullopt;
  }
  record["cpu_s"] = {{"proxy", json_number(server_cpu_s)},
                     {"load", generator_end_.use.cpu_s},
                     {"origin", nullptr},
                     {"helper", has_workers ? json_number(0.0) : json_number(helper_cpu_s)}};
  const auto helper_rss_bytes = watch_->helper_peak_rss_bytes();
  record["peak_rss_bytes"] = {
      {"proxy", std::max(server_end_.use.peak_rss_bytes,
                         has_workers ? helper_rss_bytes.value_or(0) : uint64_t{0})},
      {"load", generator_end_.use.peak_rss_bytes},
      {"origin", nullptr},
      {"helper", has_workers ? boost::json::value(0) : boost::json::value_from(helper_rss_bytes)}};
}

void StaticRun::add_static_part(boost::json::object& record) const {
  const auto a_response = [&](const char* path) {
    const auto bytes = number_at(record, path);
    const auto responses = number_at(record, "completed").value_or(0);
    return json_number(bytes && responses > 0 ? std::optional(*bytes / responses) : std::nullopt);
  };
  record["load"] = load_.text();
  record["static"] = {{"file_size_bytes", options_.file_size_bytes},
                      {"connections", load_.connections},
                      {"keep_alive", load_.keep_alive},
                      {"gzip", load_.gzip},
                      {"content_coding", is_compressed_ ? "gzip" : "identity"},
                      {"bytes_per_response", a_response("bytes_received")},
                      {"body_bytes_per_response", a_response("ab.body_bytes")}};
}

void StaticRun::compare_access_log(boost::json::object& record) {
  const auto lines = count_lines(request_.folder / server_->setup().access_log);
  record["access_log"] = nullptr;
  if (!lines) return;
  record["access_log"] = boost::json::object{{"lines", *lines}};
  const uint64_t expected = count_at(record, "requests") + own_requests_;
  // What failed, or was under way when the time was up, may be in one account alone.
  const uint64_t doubtful =
      sum_at(record, "errors") + (text_at(record, "ab.ended_by") == "time" ? load_.connections : 0);
  const uint64_t apart = std::max(*lines, expected) - std::min(*lines, expected);
  if (apart > doubtful) {
    warnings_.push_back(std::string(kind_.system) + " logged " + std::to_string(*lines) +
                        " requests, and had " + std::to_string(expected));
  }
}

Expected<boost::json::object> StaticRun::make_record() {
  const auto ab_json = read_json_object(request_.folder / kAbFile);
  if (!ab_json) {
    const std::string why = generator_end_.exit_status == 0
                                ? ab_json.error().text
                                : "cacheoff ab " + generator_end_.text();
    return run_problem(why + last_words(request_.folder / "load.log"));
  }
  auto read = ab_record(*ab_json, expected_);
  if (!read) return read.error();
  boost::json::object record = std::move(*read);
  const storage::SystemClock clock;
  if (auto done = write_ab_files(*ab_json, request_.folder, clock.wall_now()); !done) {
    return done.error();
  }
  if (auto done = write_file(request_.folder / "run.json", to_pretty_json(record)); !done) {
    return done.error();
  }
  add_static_part(record);
  compare_access_log(record);
  const RunObservation seen = observe(record);
  const RunVerdict verdict = judge_run(seen);
  if (seen.wrong_bodies > 0) {
    failure_ = "responses with wrong bytes: " + text_at(record, "first_error");
  } else if (failure_.empty() && generator_end_.exit_status != 0) {
    failure_ = "cacheoff ab " + generator_end_.text() + last_words(request_.folder / "load.log");
  }
  account_programs(record);
  ProgramCounters counters = watch_->counters();
  counters.origin.reset();
  counters.load = generator_end_.use.counters;
  add_surroundings(record, {request_, options_, *watch_, *disks_, *places_, memory_.get()}, seen,
                   counters, warnings_);
  if (const auto said = server_->said_of_itself(); !said.empty()) {
    record["system_said"] = boost::json::value_from(said);
  }
  record["limited_by"] = verdict.limited_by;
  auto done = finish_record(record, request_, verdict,
                            {warnings_, disks_->warnings(), verdict.warnings}, failure_);
  if (!done) return done.error();
  return record;
}

}  // namespace

std::optional<uint64_t> count_lines(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) return std::nullopt;
  std::vector<char> buffer(1 << 20);
  uint64_t lines = 0;
  while (in) {
    in.read(buffer.data(), static_cast<std::streamsize>(buffer.size()));
    lines += static_cast<uint64_t>(std::count(
        buffer.begin(), buffer.begin() + static_cast<std::ptrdiff_t>(in.gcount()), '\n'));
  }
  return in.bad() ? std::nullopt : std::optional(lines);
}

Expected<boost::json::object> run_static_cell(const RunRequest& request,
                                              const ExperimentOptions& options,
                                              const Programs& programs, StopSignals& stop) {
  StaticRun run(request, options, programs, stop);
  return run.perform();
}

}  // namespace workload
