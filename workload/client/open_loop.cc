#include "workload/client/open_loop.h"

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>

#include "storage/base/await.h"
#include "storage/base/error.h"

namespace workload {
namespace asio = boost::asio;

namespace {

using storage::kAwait;
/// The rate may have changed since a timer was set, so it is looked at so often.
constexpr std::chrono::milliseconds kRateLook{20};
/// Pages that are started in a row where the loop is late, before it looks at its connections.
constexpr int kPagesInRow = 64;

}  // namespace

/// A page on its way, with what is embedded in it.
struct OpenLoop::Visit {
  size_t phase = 0;
  std::vector<IntendedRequest> embedded;
  size_t next = 0;       ///< Of `embedded`.
  size_t under_way = 0;  ///< Due and not ended.
};

/// A connection with the transactor that uses it.
struct OpenLoop::Lane {
  Lane(const asio::any_io_executor& executor, const storage::Clock& clock,
       const HttpClientOptions& client_options, const RobotOptions& options)
      : client(executor, clock, client_options),
        transactor(options.target, options.verification, clock, options.under_way) {}

  HttpClient client;
  Transactor transactor;
  TransactionRequest request;
  TransactionResult result;
  std::optional<Item> item;
  uint64_t uses_left = 0;
};

OpenLoop::OpenLoop(asio::any_io_executor executor, RequestHost& host, PageSource& source,
                   RunControl& control, const storage::Clock& clock,
                   const RobotOptions& robot_options, OpenLoopOptions options,
                   storage::Random random)
    : executor_(executor),
      host_(host),
      source_(source),
      control_(control),
      clock_(clock),
      robot_options_(robot_options),
      options_(std::move(options)),
      random_(random),
      due_timer_(executor),
      all_ended_(executor) {}

OpenLoop::~OpenLoop() = default;

void OpenLoop::wake() {
  due_timer_.cancel();
}

void OpenLoop::abort() {
  for (const auto& lane : lanes_) lane->client.close();
}

asio::awaitable<void> OpenLoop::run() {
  ScheduledPage page;
  int in_row = 0;
  for (;;) {
    source_.next_page(page, clock_.steady_now());
    if (page.grant.later) {
      // Until wake(), at the latest after a while, as the run may be over since.
      due_timer_.expires_after(kRateLook);
      co_await due_timer_.async_wait(kAwait);
      continue;
    }
    if (page.grant.requests == 0) break;
    storage::SteadyTime due{};
    if (!co_await wait_until_due(page.place, due)) {
      never_opened(page);
      break;
    }
    open_page(page, due);
    if (++in_row < kPagesInRow) continue;
    in_row = 0;
    co_await asio::post(executor_, asio::use_awaitable);
  }
  while (idle_.size() < lanes_.size()) {
    all_ended_.expires_at(asio::steady_timer::time_point::max());
    co_await all_ended_.async_wait(kAwait);
  }
}

asio::awaitable<bool> OpenLoop::wait_until_due(double place, storage::SteadyTime& due) {
  for (;;) {
    const storage::SteadyTime now = clock_.steady_now();
    if (host_.over(now)) co_return false;
    const auto when = source_.due(place);
    if (when && *when <= now) {
      due = *when;
      // An arrival behind one that was late is late for the same reason, and counts too.
      host_.woke_late(now - due);
      co_return true;
    }
    const auto look = now + kRateLook;
    const auto until = when ? std::min(*when, look) : look;
    due_timer_.expires_at(std::chrono::time_point_cast<asio::steady_timer::duration>(until));
    co_await due_timer_.async_wait(kAwait);
  }
}

void OpenLoop::open_page(ScheduledPage& page, storage::SteadyTime due) {
  auto visit = std::make_shared<Visit>();
  visit->phase = control_.phase_when_due(page.grant, due);
  visit->embedded.assign(page.requests.begin() + 1, page.requests.end());
  become_due(Item(page.requests.front(), due, std::move(visit)));
}

void OpenLoop::never_opened(const ScheduledPage& page) {
  const auto due = source_.due(page.place);
  const auto end = control_.run_end();
  if (!due || !end || *due >= *end || control_.aborted()) return;
  host_.offered(control_.phase_when_due(page.grant, *due), *due);
}

void OpenLoop::become_due(Item item) {
  host_.offered(item.visit->phase, item.due);
  ++item.visit->under_way;
  if (!idle_.empty()) {
    // The one that was used last: connections that are not needed stay idle, as a browser's do.
    Lane& lane = *idle_.back();
    idle_.pop_back();
    return start(lane, std::move(item));
  }
  if (lanes_.size() < options_.connections_max) {
    HttpClientOptions client_options = robot_options_.client;
    if (!options_.sources.empty()) {
      client_options.source = options_.sources[lanes_.size() % options_.sources.size()];
    }
    lanes_.push_back(std::make_unique<Lane>(executor_, clock_, client_options, robot_options_));
    return start(*lanes_.back(), std::move(item));
  }
  if (queue_.size() < options_.queue_max) {
    queue_.push_back(std::move(item));
    return;
  }
  give_up(item, NotSent::kQueueFull);
}

void OpenLoop::give_up(const Item& item, NotSent reason) {
  const storage::SteadyTime now = clock_.steady_now();
  Visit& visit = *item.visit;
  host_.not_sent(visit.phase, now, reason);
  --visit.under_way;
  if (!item.intended.embedded) page_failed(visit, now);
}

void OpenLoop::page_failed(const Visit& visit, storage::SteadyTime now) {
  if (host_.over(now)) return;
  for (size_t index = visit.next; index < visit.embedded.size(); ++index) {
    host_.offered(visit.phase, now);
    host_.not_sent(visit.phase, now, NotSent::kPageFailed);
  }
}

void OpenLoop::send_embedded(const std::shared_ptr<Visit>& visit) {
  const uint64_t at_once = std::max<uint64_t>(1, robot_options_.model.connections_max);
  const storage::SteadyTime now = clock_.steady_now();
  while (visit->next < visit->embedded.size() && visit->under_way < at_once && !host_.over(now)) {
    const size_t index = visit->next++;
    become_due(Item(visit->embedded[index], now, visit));
  }
}

void OpenLoop::start(Lane& lane, Item item) {
  lane.item.emplace(std::move(item));
  asio::co_spawn(executor_, serve(lane),
                 [this, &lane](std::exception_ptr failure) { lane_ended(lane, failure); });
}

asio::awaitable<void> OpenLoop::serve(Lane& lane) {
  do {
    co_await transact(lane);
    const std::shared_ptr<Visit> visit = lane.item->visit;
    const bool page = !lane.item->intended.embedded;
    const bool failed = lane.result.record.error != ErrorKind::kNone;
    lane.item.reset();
    --visit->under_way;
    if (page && failed) {
      page_failed(*visit, clock_.steady_now());
    } else {
      // Those that have waited longest come first; what this page brings joins behind them.
      if (queue_.empty() && visit->next < visit->embedded.size() &&
          !host_.over(clock_.steady_now())) {
        const storage::SteadyTime now = clock_.steady_now();
        host_.offered(visit->phase, now);
        ++visit->under_way;
        lane.item.emplace(visit->embedded[visit->next++], now, visit);
      }
      send_embedded(visit);
    }
  } while (lane.item || take_next(lane));
}

bool OpenLoop::take_next(Lane& lane) {
  while (!queue_.empty()) {
    Item item = std::move(queue_.front());
    queue_.pop_front();
    const storage::SteadyTime now = clock_.steady_now();
    // What was due before the end was offered; whether it is sent then changes no figure.
    if (host_.over(now)) continue;
    if (now - item.due >= robot_options_.client.timeout) {
      give_up(item, NotSent::kWaitedOut);
      if (item.intended.embedded) send_embedded(item.visit);
      continue;
    }
    lane.item.emplace(std::move(item));
    return true;
  }
  return false;
}

asio::awaitable<void> OpenLoop::transact(Lane& lane) {
  if (!lane.client.connected()) {
    lane.uses_left =
        std::max<uint64_t>(1, robot_options_.model.requests_per_connection.sample_count(random_));
  }
  --lane.uses_left;
  const Item& item = *lane.item;
  const IntendedRequest& intended = item.intended;
  const RequestTimes times(item.visit->phase, item.due, clock_.steady_now());
  TransactionRequest& request = lane.request;
  request.id = host_.started(intended, times, times.start - times.due);
  request.take(intended);
  request.last_on_connection = lane.uses_left == 0;
  co_await lane.transactor.run(lane.client, request, times.due, lane.result);
  host_.finished(intended, request.id, times, lane.result);
}

void OpenLoop::lane_ended(Lane& lane, const std::exception_ptr& failure) {
  idle_.push_back(&lane);
  if (idle_.size() == lanes_.size()) all_ended_.cancel();
  if (failure) host_.sender_failed(storage::text_of(failure));
}

}  // namespace workload
