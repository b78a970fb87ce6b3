#include "workload/client/replay_run.h"
#include "storage/base/await.h"
#include "storage/base/error.h"

#include <unistd.h>

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <exception>
#include <memory>
#include <vector>

namespace workload {
namespace asio = boost::asio;

namespace {

using storage::kAwait;
/// How often the loop measures its own lag.
constexpr std::chrono::milliseconds kLookEvery{10};
constexpr std::chrono::milliseconds kProgressPeriod{500};

asio::steady_timer::time_point timer_time(storage::SteadyTime time) {
  return std::chrono::time_point_cast<asio::steady_timer::duration>(time);
}

class Replayer {
 public:
  Replayer(const ReplayWork& work, const ReplayRunOptions& options, const storage::Clock& clock)
      : work_(work),
        options_(options),
        clock_(clock),
        due_(due_times(work.steps, options.timing)),
        under_way_(work.objects.size()),
        io_(BOOST_ASIO_CONCURRENCY_HINT_UNSAFE),
        due_timer_(io_),
        change_(io_),
        pulse_timer_(io_),
        stop_watch_(io_),
        measured_(options.sample_interval) {}

  ReplayMeasurement run();

 private:
  /// A connection, its transactor and the transaction under way.
  struct Lane {
    Lane(const asio::any_io_executor& executor, const storage::Clock& clock,
         const HttpClientOptions& client_options, const TargetForm& target)
        : client(executor, clock, client_options),
          transactor(target, Verification::kBytes, clock) {}
    HttpClient client;
    Transactor transactor;
    TransactionRequest request;
    TransactionResult result;
    uint32_t object = 0;
  };
  /// Transactions under way for one object.
  struct UnderWay {
    uint32_t gets = 0;
    uint32_t heads = 0;
    uint32_t& of(RequestMethod method) { return method == RequestMethod::kHead ? heads : gets; }
  };

  asio::awaitable<void> dispatch();
  asio::awaitable<void> transact(Lane& lane, storage::SteadyTime from);
  bool may_start(const ReplayStep& step) const;
  void start_step(size_t index);
  void finish(Lane& lane);
  void wind_up();
  void stop(const std::string& reason);
  void watch_stop_descriptor();
  void pulse();

  const ReplayWork& work_;
  const ReplayRunOptions& options_;
  const storage::Clock& clock_;
  const std::vector<std::chrono::nanoseconds> due_;
  std::vector<UnderWay> under_way_;  ///< By object.
  asio::io_context io_;
  asio::steady_timer due_timer_;
  asio::steady_timer change_;  ///< Never expires; cancelled when a transaction ended.
  asio::steady_timer pulse_timer_;
  asio::posix::stream_descriptor stop_watch_;
  std::vector<std::unique_ptr<Lane>> lanes_;
  std::vector<Lane*> idle_;
  ReplayMeasurement measured_;
  ReplayProgress progress_;
  storage::SteadyTime start_{};
  storage::SteadyTime pulse_due_{};
  storage::SteadyTime progress_due_{};
  storage::SteadyTime last_good_{};
  uint64_t errors_at_last_good_ = 0;
  bool stopping_ = false;
  bool done_ = false;
};

ReplayMeasurement Replayer::run() {
  change_.expires_at(asio::steady_timer::time_point::max());
  progress_.steps = work_.steps.size();
  measured_.start = clock_.wall_now();
  start_ = last_good_ = pulse_due_ = progress_due_ = clock_.steady_now();
  watch_stop_descriptor();
  pulse();
  asio::co_spawn(io_, dispatch(), [this](std::exception_ptr failure) {
    if (failure) stop("the replay failed: " + storage::text_of(failure));
    done_ = true;
    wind_up();
  });
  io_.run();
  measured_.recorder.series.finish(measured_.duration);
  return std::move(measured_);
}

/// Lets the loop end: connections hold timers of their own, so they go too, once none is in use.
void Replayer::wind_up() {
  if (!done_ || idle_.size() < lanes_.size()) return;
  idle_.clear();
  lanes_.clear();
  pulse_timer_.cancel();
  boost::system::error_code ignored;  // The watch is over either way.
  stop_watch_.close(ignored);
}

asio::awaitable<void> Replayer::dispatch() {
  for (size_t index = 0; index < work_.steps.size() && !stopping_; ++index) {
    if (options_.timing.open_loop()) {
      const storage::SteadyTime due = start_ + due_[index];
      due_timer_.expires_at(timer_time(due));
      if (clock_.steady_now() < due) co_await due_timer_.async_wait(kAwait);
    }
    while (!stopping_ && !may_start(work_.steps[index])) co_await change_.async_wait(kAwait);
    if (!stopping_) start_step(index);
  }
  while (idle_.size() < lanes_.size()) co_await change_.async_wait(kAwait);
}

bool Replayer::may_start(const ReplayStep& step) const {
  if (idle_.empty() && lanes_.size() >= options_.concurrency) return false;
  if (options_.timing.open_loop()) return true;
  const UnderWay& same = under_way_[step.object];
  return same.heads == 0 && (step.method == RequestMethod::kGet || same.gets == 0);
}

void Replayer::start_step(size_t index) {
  if (idle_.empty()) {
    HttpClientOptions client_options;
    client_options.peer = options_.peer;
    client_options.timeout = options_.timeout;
    lanes_.push_back(
        std::make_unique<Lane>(io_.get_executor(), clock_, client_options, options_.target));
    idle_.push_back(lanes_.back().get());
  }
  // The lane that was used last: connections that are not needed stay idle, as a browser's do.
  Lane& lane = *idle_.back();
  idle_.pop_back();
  const ReplayStep& step = work_.steps[index];
  lane.object = step.object;
  lane.request = TransactionRequest();
  lane.request.id = options_.transaction_base + index;
  lane.request.object = work_.objects[step.object];
  lane.request.method = step.method;
  lane.request.offered_hit = step.offered_hit;
  ++under_way_[step.object].of(step.method);

  const storage::SteadyTime now = clock_.steady_now();
  storage::SteadyTime from = now;
  uint64_t late_ns = 0;
  if (options_.timing.open_loop()) {
    from = start_ + due_[index];
    late_ns = static_cast<uint64_t>(std::max<int64_t>((now - from).count(), 0));
    measured_.lateness.record(late_ns);
  }
  RunRecorder& recorder = measured_.recorder;
  ++recorder.series.at(from - start_).offered;
  ++recorder.total.offered;
  for (Tally* tally : {&recorder.series.at(now - start_), &recorder.total}) {
    ++tally->sent;
    tally->blocked_ns += late_ns;
  }
  asio::co_spawn(io_, transact(lane, from), [this, &lane](std::exception_ptr failure) {
    if (failure) stop("the replay failed: " + storage::text_of(failure));
    finish(lane);
    wind_up();
  });
}

asio::awaitable<void> Replayer::transact(Lane& lane, storage::SteadyTime from) {
  co_await lane.transactor.run(lane.client, lane.request, from, lane.result);
}

void Replayer::finish(Lane& lane) {
  --under_way_[lane.object].of(lane.request.method);
  idle_.push_back(&lane);
  change_.cancel();
  if (stopping_) return;  // What was cut off by the stop counts as sent, not as completed.
  TransactionResult& result = lane.result;
  result.record.basic = true;
  measured_.recorder.record(result.record, result.status, result.end - start_);
  measured_.duration = std::max(measured_.duration, result.end - start_);
  measured_.connections += result.opened_connection ? 1 : 0;
  measured_.retries += result.retries;
  ++progress_.ended;
  if (result.record.error != ErrorKind::kNone) {
    ++progress_.errors;
    if (measured_.first_error.empty()) measured_.first_error = result.detail;
    return;
  }
  last_good_ = result.end;
  errors_at_last_good_ = progress_.errors;
  progress_.hits += result.record.outcome == Outcome::kMiss ? 0 : 1;
}

void Replayer::stop(const std::string& reason) {
  if (stopping_) return;
  stopping_ = true;
  measured_.ended_early = reason;
  measured_.duration = std::max(measured_.duration, clock_.steady_now() - start_);
  due_timer_.cancel();
  change_.cancel();
  for (const auto& lane : lanes_) lane->client.close();
}

void Replayer::watch_stop_descriptor() {
  if (options_.stop_fd < 0) return;
  boost::system::error_code error;
  stop_watch_.assign(::dup(options_.stop_fd), error);
  if (error) return stop("can't watch for signals: " + error.message());
  stop_watch_.async_wait(asio::posix::stream_descriptor::wait_read,
                         [this](const boost::system::error_code& failure) {
                           if (!failure) stop("stopped by a signal");
                         });
}

void Replayer::pulse() {
  pulse_timer_.expires_at(timer_time(pulse_due_));
  pulse_timer_.async_wait([this](const boost::system::error_code& error) {
    if (error || done_) return;
    const storage::SteadyTime now = clock_.steady_now();
    measured_.lag_max = std::max(measured_.lag_max, now - pulse_due_);
    if (options_.progress && now >= progress_due_) {
      progress_due_ = now + kProgressPeriod;
      options_.progress(progress_);
    }
    if (progress_.errors > errors_at_last_good_ && now - last_good_ > options_.give_up_after) {
      stop("given up: nothing but errors; the first: " + measured_.first_error);
    }
    pulse_due_ = now + kLookEvery;
    pulse();
  });
}

}  // namespace

ReplayMeasurement run_replay(const ReplayWork& work, const ReplayRunOptions& options,
                             const storage::Clock& clock) {
  return Replayer(work, options, clock).run();
}

}  // namespace workload
