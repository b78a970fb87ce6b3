#include "workload/client/robot.h"

#include <algorithm>
#include <boost/asio/co_spawn.hpp>

#include "storage/base/await.h"
#include "storage/base/error.h"

namespace workload {
namespace asio = boost::asio;

namespace {

using storage::kAwait;
constexpr std::chrono::milliseconds kBackoffMin{10};
constexpr int kBackoffDoublingsMax = 7;  // To 1.28 s, cut to kBackoffMax.
constexpr std::chrono::milliseconds kBackoffMax{1000};
/// How often a robot looks at a load that is not 1.
constexpr std::chrono::milliseconds kLoadLook{100};

}  // namespace

struct Robot::Lane {
  Lane(const asio::any_io_executor& executor, const storage::Clock& clock,
       const HttpClientOptions& client_options, const RobotOptions& options)
      : client(executor, clock, client_options),
        transactor(options.target, options.verification, clock, options.under_way) {}

  HttpClient client;
  Transactor transactor;
  TransactionRequest request;
  TransactionResult result;
  uint64_t uses_left = 0;
};

Robot::Robot(asio::any_io_executor executor, RobotHost& host, const storage::Clock& clock,
             size_t number, const RobotOptions& options, std::optional<asio::ip::address> source,
             std::unique_ptr<ReleaseTiming> timing, storage::Random random)
    : executor_(executor),
      host_(host),
      clock_(clock),
      number_(number),
      options_(options),
      client_options_(options.client),
      timing_(std::move(timing)),
      random_(random),
      pause_(executor),
      helpers_done_(executor) {
  client_options_.source = source;
}

Robot::~Robot() = default;

Robot::Lane& Robot::lane(size_t index) {
  while (lanes_.size() <= index) {
    lanes_.push_back(std::make_unique<Lane>(executor_, clock_, client_options_, options_));
  }
  return *lanes_[index];
}

void Robot::wake() {
  pause_.cancel();
}

void Robot::abort() {
  for (const auto& lane : lanes_) lane->client.close();
}

asio::awaitable<void> Robot::run(storage::SteadyTime run_start) {
  storage::SteadyTime from = run_start;
  std::optional<storage::SteadyTime> due = timing_->next(run_start, 1);
  std::optional<storage::SteadyTime> not_before;
  for (;;) {
    if (due) due = co_await pause_at_load(from, *due);
    if (not_before) co_await pause_until(*not_before);
    const bool slept = co_await sleep_while_inactive();
    storage::SteadyTime now = clock_.steady_now();
    if (slept && !host_.over(now)) {
      from = now;
      due = timing_->next(now, 1);  // What it missed meanwhile is not due.
      not_before.reset();
      continue;
    }
    grant_ = host_.take_page(page_, now);
    if (grant_.later) now = co_await wait_for_page(now);
    if (grant_.requests == 0) co_return;
    const auto blocked =
        due ? std::max(now - *due, storage::Nanoseconds(0)) : storage::Nanoseconds(0);
    page_failed_ = false;
    co_await fetch_page(blocked);
    from = now;
    due = timing_->next(now, page_.size());
    not_before.reset();
    if (page_failed_) {
      not_before = after_backoff(clock_.steady_now());
    } else {
      failures_in_row_ = 0;
    }
  }
}

asio::awaitable<storage::SteadyTime> Robot::wait_for_page(storage::SteadyTime asked) {
  storage::SteadyTime now = asked;
  while (grant_.later) {
    host_.wait_for_page(number_);
    pause_.expires_at(asio::steady_timer::time_point::max());
    co_await pause_.async_wait(kAwait);  // Until wake().
    now = clock_.steady_now();
    grant_ = host_.take_page(page_, now);
  }
  if (grant_.requests > 0) host_.woke_late(now - asked);
  co_return now;
}

asio::awaitable<bool> Robot::sleep_while_inactive() {
  bool slept = false;
  while (!host_.active(number_) && !host_.over(clock_.steady_now())) {
    if (!slept) {
      for (const auto& lane : lanes_) lane->client.close();
    }
    slept = true;
    pause_.expires_at(asio::steady_timer::time_point::max());
    co_await pause_.async_wait(kAwait);  // Until wake().
  }
  co_return slept;
}

asio::awaitable<storage::SteadyTime> Robot::pause_at_load(storage::SteadyTime start,
                                                          storage::SteadyTime due) {
  // At a load of 1 all of this is one wait until `due`; else the gap passes more slowly, and the
  // load may change meanwhile.
  storage::SteadyTime reached = start;
  auto left = std::chrono::duration<double, std::nano>(due - start);
  for (;;) {
    const double load = host_.load_factor();
    if (load == 1) {
      due = reached + std::chrono::duration_cast<storage::Nanoseconds>(left);
      co_await pause_until(due);
      co_return due;
    }
    const auto step_max = std::chrono::duration<double, std::nano>(kLoadLook);
    const auto step = load > 0 ? std::min(left / load, step_max) : step_max;
    reached += std::chrono::duration_cast<storage::Nanoseconds>(step);
    left -= step * load;
    co_await pause_until(reached);
    if (left.count() <= 0 || host_.over(clock_.steady_now())) co_return reached;
  }
}

storage::SteadyTime Robot::after_backoff(storage::SteadyTime now) {
  const auto wait = std::min(kBackoffMax, kBackoffMin * (1 << failures_in_row_));
  failures_in_row_ = std::min(failures_in_row_ + 1, kBackoffDoublingsMax);
  return now + wait;
}

asio::awaitable<void> Robot::pause_until(storage::SteadyTime due) {
  bool waited = false;
  // In steps, as the run may be over since before the timer was set.
  while (!host_.over(clock_.steady_now()) && clock_.steady_now() < due) {
    waited = true;
    pause_.expires_at(std::chrono::time_point_cast<asio::steady_timer::duration>(due));
    co_await pause_.async_wait(kAwait);
  }
  const storage::SteadyTime now = clock_.steady_now();
  if (waited && now >= due) host_.woke_late(now - due);
}

asio::awaitable<void> Robot::fetch_page(std::chrono::nanoseconds blocked) {
  next_of_page_ = 1;
  co_await fetch(lane(0), page_.front(), blocked);
  if (page_.size() > 1 && !page_failed_) co_await fetch_embedded();
  if (next_of_page_ < page_.size()) host_.give_back(page_.size() - next_of_page_, grant_);
}

asio::awaitable<void> Robot::fetch_embedded() {
  const size_t connections = std::max<uint64_t>(1, options_.model.connections_max);
  const size_t lanes = std::min(connections, page_.size() - 1);
  for (size_t index = 1; index < lanes; ++index) {
    ++helpers_;
    asio::co_spawn(executor_, fetch_rest_on(lane(index)),
                   [this](std::exception_ptr failure) { helper_ended(failure); });
  }
  co_await fetch_rest_on(lane(0));
  while (helpers_ > 0) {
    helpers_done_.expires_at(asio::steady_timer::time_point::max());
    co_await helpers_done_.async_wait(kAwait);
  }
}

void Robot::helper_ended(const std::exception_ptr& failure) {
  --helpers_;
  if (helpers_ == 0) helpers_done_.cancel();
  if (failure) host_.sender_failed(storage::text_of(failure));
}

asio::awaitable<void> Robot::fetch_rest_on(Lane& lane) {
  while (next_of_page_ < page_.size() && !host_.over(clock_.steady_now())) {
    const IntendedRequest& intended = page_[next_of_page_++];
    co_await fetch(lane, intended, std::chrono::nanoseconds(0));
  }
}

asio::awaitable<void> Robot::fetch(Lane& lane, const IntendedRequest& intended,
                                   std::chrono::nanoseconds blocked) {
  if (!lane.client.connected()) {
    lane.uses_left =
        std::max<uint64_t>(1, options_.model.requests_per_connection.sample_count(random_));
  }
  --lane.uses_left;
  const storage::SteadyTime start = clock_.steady_now();
  const RequestTimes times(grant_.phase, start, start);
  TransactionRequest& request = lane.request;
  // A closed loop offers what it sends: nothing is due while a robot waits.
  host_.offered(grant_.phase, start);
  request.id = host_.started(intended, times, blocked);
  request.take(intended);
  request.last_on_connection = lane.uses_left == 0;
  co_await lane.transactor.run(lane.client, request, start, lane.result);
  if (lane.result.record.error != ErrorKind::kNone) page_failed_ = true;
  host_.finished(intended, request.id, times, lane.result);
}

}  // namespace workload
