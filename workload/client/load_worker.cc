#include "workload/client/load_worker.h"

#include <algorithm>
#include <boost/asio/co_spawn.hpp>

#include "storage/base/error.h"

namespace workload {
namespace asio = boost::asio;

namespace {

/// How often the loop looks whether the run is over, and how late it is itself.
constexpr std::chrono::milliseconds kPulse{10};
constexpr uint64_t kRobotPurpose = 0x726f626f74ULL;
/// Bits of a transaction's id that count within one worker.
constexpr int kTransactionBits = 40;

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
  }
  return "basic";
}

}  // namespace

LoadWorker::LoadWorker(const LoadOptions& options, RunControl& control, const storage::Clock& clock,
                       RequestLog* log, uint16_t index, uint64_t robots)
    : options_(options),
      control_(control),
      clock_(clock),
      log_(log),
      io_(BOOST_ASIO_CONCURRENCY_HINT_UNSAFE),
      pulse_timer_(io_),
      source_(options.workload, options.seed, index),
      next_transaction_(options.transaction_base +
                        (static_cast<uint64_t>(index) << kTransactionBits)),
      recorder_(options.sample_interval) {
  robot_options_.model = options.workload.robot;
  robot_options_.client.peer = options.peer;
  robot_options_.client.timeout = options.timeout;
  robot_options_.target = options.target;
  robot_options_.verification = options.verification;
  const storage::Random random = storage::Random(options.seed).fork(kRobotPurpose).fork(index);
  for (uint64_t robot = 0; robot < robots; ++robot) {
    const storage::Random own = random.fork(robot);
    auto timing = closed_loop_timing(options.load.kind, options.workload.robot, options.time_scale,
                                     own.fork(0));
    std::optional<asio::ip::address> source;
    if (!options.sources.empty()) source = options.sources[robot % options.sources.size()];
    robots_.push_back(std::make_unique<Robot>(io_.get_executor(), static_cast<RobotHost&>(*this),
                                              clock, robot_options_, source, std::move(timing),
                                              own.fork(1)));
  }
}

LoadWorker::~LoadWorker() = default;

void LoadWorker::run(storage::SteadyTime run_start) {
  run_start_ = run_start;
  robots_running_ = robots_.size();
  for (const auto& robot : robots_) {
    asio::co_spawn(io_, robot->run(run_start),
                   [this](std::exception_ptr failure) { robot_ended(failure); });
  }
  pulse_due_ = clock_.steady_now() + kPulse;
  pulse();
  io_.run();
}

void LoadWorker::robot_ended(const std::exception_ptr& failure) {
  if (failure) robot_failed(storage::text_of(failure));
  --robots_running_;
  // Connections may still hold timers; nobody waits for them any more.
  if (robots_running_ == 0) io_.stop();
}

void LoadWorker::robot_failed(const std::string& reason) {
  control_.abort("a robot failed: " + reason);
}

void LoadWorker::pulse() {
  pulse_timer_.expires_at(std::chrono::time_point_cast<asio::steady_timer::duration>(pulse_due_));
  pulse_timer_.async_wait([this](const boost::system::error_code& error) {
    if (error || robots_running_ == 0) return;
    const storage::SteadyTime now = clock_.steady_now();
    const auto from = control_.measured_from();
    if (from && pulse_due_ >= *from && !control_.over(pulse_due_)) {
      lag_max_ = std::max(lag_max_, now - pulse_due_);
    }
    if (control_.over(now)) {
      for (const auto& robot : robots_) robot->wake();
    }
    if (control_.aborted()) {
      for (const auto& robot : robots_) robot->abort();
    }
    pulse_due_ = now + kPulse;
    pulse();
  });
}

Grant LoadWorker::take_page(std::vector<IntendedRequest>& page, storage::SteadyTime now) {
  return source_.next_page(page, control_, now);
}

void LoadWorker::give_back(uint64_t requests, const Grant& grant) {
  control_.give_back(requests, grant);
}

bool LoadWorker::over(storage::SteadyTime now) const {
  return control_.over(now);
}

uint64_t LoadWorker::started(const IntendedRequest& intended, bool measured,
                             storage::SteadyTime start, std::chrono::nanoseconds blocked) {
  ideal_.add(intended);
  if (measured) {
    // A closed loop offers what it sends: nothing is due while a robot waits.
    const auto until = control_.measured_until();
    const auto due = until ? std::min(start, *until - storage::Nanoseconds(1)) : start;
    Tally& row = recorder_.series.at(due - *control_.measured_from());
    for (Tally* tally : {&row, &recorder_.total}) {
      ++tally->offered;
      ++tally->sent;
      tally->blocked_ns += static_cast<uint64_t>(blocked.count());
    }
  }
  return next_transaction_++;
}

void LoadWorker::finished(const IntendedRequest& intended, uint64_t transaction, bool measured,
                          storage::SteadyTime start, const TransactionResult& result) {
  const bool aborted_before = control_.aborted();
  const auto until = control_.measured_until();
  const bool counted = measured && !aborted_before && (!until || result.end <= *until);
  const ErrorKind error = result.record.error;
  if (counted) {
    recorder_.record(result.record, result.status, result.end - *control_.measured_from());
    last_counted_end_ = std::max(last_counted_end_, result.end);
  }
  if (!aborted_before) control_.completed(result.record, measured, result.end);
  if (result.opened_connection) ++connections_;
  retries_ += result.retries;
  if (error != ErrorKind::kNone && !aborted_before && first_error_.empty()) {
    first_error_ = result.detail;
  }
  // A wrong body is fatal whenever it comes, in the warm-up or behind the end.
  if (error == ErrorKind::kWrongBody && !options_.keep_going) {
    control_.abort("wrong body: " + result.detail);
  }
  if (log_ != nullptr) log_transaction(intended, transaction, counted, start, result);
}

void LoadWorker::log_transaction(const IntendedRequest& intended, uint64_t transaction,
                                 bool counted, storage::SteadyTime start,
                                 const TransactionResult& result) {
  const std::string url = "http://" + options_.target.authority + object_path(intended.object);
  RequestLogEntry entry;
  entry.transaction = transaction;
  entry.start_s = std::chrono::duration<double>(start - run_start_).count();
  entry.method = method_text(intended.method);
  entry.kind = kind_text(intended.kind);
  entry.outcome = name_of(result.record.outcome);
  entry.status = result.status;
  entry.received_bytes = result.record.received_bytes;
  entry.response_time_ns = result.record.response_time_ns;
  entry.error = name_of(result.record.error);
  entry.measured = counted;
  entry.url = url;
  log_->write(entry);
}

}  // namespace workload
