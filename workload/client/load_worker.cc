#include "workload/client/load_worker.h"

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <cerrno>
#include <cmath>

#include "storage/base/error.h"
#include "storage/base/units.h"
#include "workload/client/generator_limits.h"
#include "workload/client/punctual_timers.h"

namespace workload {
namespace asio = boost::asio;

namespace {

/// How often the loop looks whether the run is over, and how late it is itself.
constexpr std::chrono::milliseconds kPulse{10};
/// Asio's hint for a loop on one thread that others post to, as where pages come over the network.
/// A loop by itself needs no locks at all.
constexpr int kOneThreadAndPosts = 1;
constexpr uint64_t kRobotPurpose = 0x726f626f74ULL;
constexpr uint64_t kConnectionPurpose = 0x636f6e6e656374ULL;

std::string_view method_text(RequestMethod method) {
  switch (method) {
    case RequestMethod::kGet:
      return "GET";
    case RequestMethod::kHead:
      return "HEAD";
    case RequestMethod::kPost:
      return "POST";
  }
  return "GET";
}

std::string_view kind_text(RequestKind kind) {
  switch (kind) {
    case RequestKind::kBasic:
      return "basic";
    case RequestKind::kIms200:
      return "ims200";
    case RequestKind::kIms304:
      return "ims304";
    case RequestKind::kReload:
      return "reload";
    case RequestKind::kEtag200:
      return "etag200";
    case RequestKind::kEtag304:
      return "etag304";
    case RequestKind::kRange:
      return "range";
  }
  return "basic";
}

}  // namespace

LoadWorker::LoadWorker(const LoadOptions& options, RunControl& control, PageSource& source,
                       TransactionsUnderWay& under_way, const storage::Clock& clock,
                       RequestLog* log, DoubtSink* doubts, uint64_t index)
    : options_(options),
      control_(control),
      source_(source),
      under_way_(under_way),
      clock_(clock),
      log_(log),
      doubts_(doubts),
      index_(index),
      io_(options.place.ranks > 1 ? kOneThreadAndPosts : BOOST_ASIO_CONCURRENCY_HINT_UNSAFE),
      pulse_timer_(io_),
      active_robots_(options.load.robots),
      recorder_(options.sample_interval),
      phases_(control.phases().size()) {
  robot_options_.model = options.workload.robot;
  robot_options_.client.peer = options.peer;
  robot_options_.client.timeout = options.timeout;
  robot_options_.target = options.target;
  robot_options_.verification = options.verification;
  robot_options_.under_way = &under_way;
  if (options.load.open_loop()) {
    make_open_loop();
  } else {
    make_robots();
  }
  source.on_arrival(
      [this](size_t pages) { asio::post(io_, [this, pages] { pages_came(pages); }); });
}

LoadWorker::~LoadWorker() = default;

void LoadWorker::make_robots() {
  const storage::Random random = storage::Random(options_.seed).fork(kRobotPurpose);
  const auto threads = options_.all_threads();
  for (uint64_t robot = index_; robot < options_.load.robots; robot += threads) {
    const storage::Random own = random.fork(robot);
    auto timing = closed_loop_timing(options_.load.kind, options_.workload.robot,
                                     options_.time_scale, own.fork(0));
    std::optional<asio::ip::address> source;
    if (!options_.sources.empty()) source = options_.sources[robot % options_.sources.size()];
    robots_.push_back(std::make_unique<Robot>(io_.get_executor(), static_cast<RobotHost&>(*this),
                                              clock_, robots_.size(), robot_options_, source,
                                              std::move(timing), own.fork(1)));
  }
}

void LoadWorker::make_open_loop() {
  const auto threads = options_.all_threads();
  OpenLoopOptions bounds;
  bounds.connections_max = std::max<uint64_t>(1, options_.load.connections_max / threads);
  bounds.queue_max = (options_.load.queue_max + threads - 1) / threads;
  bounds.sources = options_.sources;
  const storage::Random random =
      storage::Random(options_.seed).fork(kConnectionPurpose).fork(index_);
  open_loop_ =
      std::make_unique<OpenLoop>(io_.get_executor(), static_cast<RobotHost&>(*this), source_,
                                 control_, clock_, robot_options_, std::move(bounds), random);
}

void LoadWorker::run(storage::SteadyTime run_start) {
  run_start_ = run_start;
  make_timers_punctual();
  look_at_phase(run_start);
  look_at_cpu(run_start);
  const auto ended = [this](std::exception_ptr failure) { sender_ended(failure); };
  senders_running_ = open_loop_ ? 1 : robots_.size();
  if (open_loop_) asio::co_spawn(io_, open_loop_->run(), ended);
  for (const auto& robot : robots_) asio::co_spawn(io_, robot->run(run_start), ended);
  pulse_due_ = clock_.steady_now() + kPulse;
  pulse();
  io_.run();
}

void LoadWorker::sender_ended(const std::exception_ptr& failure) {
  if (failure) sender_failed(storage::text_of(failure));
  --senders_running_;
  if (senders_running_ > 0) return;
  look_at_cpu(clock_.steady_now());
  // Connections may still hold timers; nobody waits for them any more.
  io_.stop();
}

void LoadWorker::sender_failed(const std::string& reason) {
  control_.abort("the load generator failed: " + reason);
}

void LoadWorker::look_at_cpu(storage::SteadyTime now) {
  const auto from = control_.recorded_from();
  if (!from || now < *from) return;
  const double cpu_s = thread_cpu_s();
  if (!cpu_begin_s_) {
    cpu_begin_s_ = cpu_s;
    cpu_begin_ = now;
  }
  health_.cpu_s = cpu_s - *cpu_begin_s_;
  health_.wall_s = storage::seconds_of(now - cpu_begin_);
}

void LoadWorker::look_at_phase(storage::SteadyTime now) {
  const PhaseFactors factors = control_.factors(now);
  load_factor_ = factors.load;
  const uint64_t before = active_robots_;
  const double wanted = factors.robots * static_cast<double>(options_.load.robots);
  // As long as a phase wants any, one is there.
  active_robots_ =
      factors.robots > 0 ? std::max<uint64_t>(1, static_cast<uint64_t>(std::llround(wanted))) : 0;
  if (active_robots_ <= before) return;
  for (size_t robot = 0; robot < robots_.size(); ++robot) {
    const uint64_t number = index_ + robot * options_.all_threads();
    if (number >= before && number < active_robots_) robots_[robot]->wake();
  }
}

void LoadWorker::pulse() {
  pulse_timer_.expires_at(std::chrono::time_point_cast<asio::steady_timer::duration>(pulse_due_));
  pulse_timer_.async_wait([this](const boost::system::error_code& error) {
    if (error || senders_running_ == 0) return;
    const storage::SteadyTime now = clock_.steady_now();
    const auto from = control_.recorded_from();
    if (from && pulse_due_ >= *from && !control_.over(pulse_due_)) {
      health_.lag.record(static_cast<uint64_t>(std::max<int64_t>(0, (now - pulse_due_).count())));
      look_at_cpu(now);
    }
    control_.look(now);
    look_at_phase(now);
    if (control_.over(now) || control_.all_granted()) {
      waiting_for_page_.clear();  // All are woken; those that have to wait go on say so.
      for (const auto& robot : robots_) robot->wake();
      if (open_loop_) open_loop_->wake();
    }
    if (control_.aborted()) {
      for (const auto& robot : robots_) robot->abort();
      if (open_loop_) open_loop_->abort();
    }
    pulse_due_ = now + kPulse;
    pulse();
  });
}

void LoadWorker::pages_came(size_t pages) {
  if (open_loop_) open_loop_->wake();
  for (; pages > 0 && !waiting_for_page_.empty(); --pages) {
    const size_t robot = waiting_for_page_.front();
    waiting_for_page_.pop_front();
    robots_[robot]->wake();
  }
}

void LoadWorker::wait_for_page(size_t robot) {
  waiting_for_page_.push_back(robot);
}

Grant LoadWorker::take_page(std::vector<IntendedRequest>& page, storage::SteadyTime now) {
  return source_.next_page(page, now);
}

void LoadWorker::give_back(uint64_t requests, const Grant& grant) {
  control_.give_back(requests, grant);
}

bool LoadWorker::active(size_t robot) const {
  // One that is not wanted goes home with the others when there is nothing left to do.
  return index_ + robot * options_.all_threads() < active_robots_ || control_.all_granted();
}

double LoadWorker::load_factor() const {
  return load_factor_;
}

bool LoadWorker::over(storage::SteadyTime now) const {
  return control_.over(now);
}

void LoadWorker::woke_late(std::chrono::nanoseconds lateness) {
  if (!recorded(control_.current())) return;
  health_.lateness.record(static_cast<uint64_t>(std::max<int64_t>(0, lateness.count())));
}

Tally& LoadWorker::row_at(storage::SteadyTime time) {
  const auto end = control_.run_end();
  const auto in_run = end ? std::min(time, *end - storage::Nanoseconds(1)) : time;
  return recorder_.series.at(in_run - *control_.recorded_from());
}

void LoadWorker::offered(size_t phase, storage::SteadyTime due) {
  control_.offered(1);
  if (!recorded(phase)) return;
  ++row_at(due).offered;
  ++phases_[phase].total.offered;
}

void LoadWorker::not_sent(size_t phase, storage::SteadyTime now, NotSent reason) {
  control_.not_sent(1);
  if (!recorded(phase)) return;
  ++row_at(now).not_sent[static_cast<size_t>(reason)];
  ++phases_[phase].total.not_sent[static_cast<size_t>(reason)];
}

uint64_t LoadWorker::started(const IntendedRequest& intended, const RequestTimes& times,
                             std::chrono::nanoseconds blocked) {
  if (control_.phases()[times.phase].primary) ideal_.add(intended);
  if (recorded(times.phase)) {
    const auto blocked_ns = static_cast<uint64_t>(std::max<int64_t>(0, blocked.count()));
    Measurements& phase = phases_[times.phase];
    for (Tally* tally : {&row_at(times.start), &phase.total}) {
      ++tally->sent;
      tally->blocked_ns += blocked_ns;
    }
    if (open_loop_) phase.waiting_time.record(blocked_ns);
  }
  const auto broken_off = intended.break_off ? std::optional(intended.object.id) : std::nullopt;
  return under_way_.begin(times.start, broken_off);
}

void LoadWorker::finished(const IntendedRequest& intended, uint64_t transaction,
                          const RequestTimes& times, const TransactionResult& result) {
  under_way_.end(transaction, result.end);
  const bool aborted_before = control_.aborted();
  const auto end = control_.run_end();
  const bool counted = recorded(times.phase) && !aborted_before && (!end || result.end <= *end);
  const ErrorKind error = result.record.error;
  if (counted) {
    recorder_.record_in_time(result.record, result.end - *control_.recorded_from());
    phases_[times.phase].record(result.record, result.status);
    last_counted_end_ = std::max(last_counted_end_, result.end);
  }
  if (!aborted_before) control_.completed(result.record, times.phase, result.end);
  if (result.shared_doubt || result.cut_doubt) note_doubts(times.phase, counted, result);
  if (result.opened_connection) ++health_.connections;
  health_.retries += result.retries;
  if (result.local_errno == EADDRNOTAVAIL) ++health_.ports_exhausted;
  if (result.local_errno == EMFILE || result.local_errno == ENFILE) {
    ++health_.descriptors_exhausted;
  }
  if (error != ErrorKind::kNone && !aborted_before && first_error_.empty()) {
    first_error_ = result.detail;
  }
  // A wrong body is fatal whenever it comes, in the warm-up or behind the end.
  if (error == ErrorKind::kWrongBody && !options_.keep_going) {
    control_.abort("wrong body: " + result.detail);
  }
  if (log_ != nullptr) log_transaction(intended, transaction, counted, times, result);
}

void LoadWorker::note_doubts(size_t phase, bool counted, const TransactionResult& result) {
  if (doubts_ == nullptr) return;
  DoubtfulTransaction transaction;
  transaction.record = result.record;
  transaction.shared = result.shared_doubt;
  transaction.cut = result.cut_doubt;
  transaction.phase = phase;
  transaction.counted = counted;
  if (counted) transaction.elapsed = result.end - *control_.recorded_from();
  // An error that was found apart from it settles the matter.
  if (result.record.error == ErrorKind::kNone) doubts_->add(std::move(transaction));
}

void LoadWorker::log_transaction(const IntendedRequest& intended, uint64_t transaction,
                                 bool counted, const RequestTimes& times,
                                 const TransactionResult& result) {
  const std::string url = "http://" + options_.target.authority + object_path(intended.object);
  RequestLogEntry entry;
  entry.transaction = transaction;
  entry.start_s = storage::seconds_of(times.start - run_start_);
  entry.method = method_text(intended.method);
  entry.kind = kind_text(intended.kind);
  entry.outcome = name_of(result.record.outcome);
  entry.status = result.status;
  entry.received_bytes = result.record.received_bytes;
  entry.response_time_ns = result.record.response_time_ns;
  entry.error = result.record.error == ErrorKind::kNone && !result.record.good()
                    ? name_of(result.record.ending)
                    : name_of(result.record.error);
  entry.measured = counted;
  entry.url = url;
  entry.sequence = intended.sequence;
  entry.due_s = storage::seconds_of(times.due - run_start_);
  entry.phase = control_.phases()[times.phase].name;
  log_->write(entry);
}

}  // namespace workload
