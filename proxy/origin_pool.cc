#include "proxy/origin_pool.h"
#include "storage/base/await.h"

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace proxy {

namespace {

namespace asio = boost::asio;
using storage::kAwait;
/// Names are asked again after this long, whatever their records say: the system's resolver does
/// not tell.
constexpr std::chrono::seconds kNameLifetime(30);
constexpr size_t kNamesMax = 4096;
/// More than this wait for one origin's connections: the next is refused.
constexpr uint64_t kWaitingMax = 10000;

void cancel_socket(Socket& socket) {
  boost::system::error_code ignored;  // A socket that is closed already has nothing to cancel.
  socket.cancel(ignored);
}

}  // namespace

const char* name_of(OriginFailure failure) {
  switch (failure) {
    case OriginFailure::kNone:
      return "none";
    case OriginFailure::kName:
      return "origin_name";
    case OriginFailure::kConnect:
      return "origin_connect";
    case OriginFailure::kConnectTimeout:
      return "origin_connect_timeout";
    case OriginFailure::kOverloaded:
      return "origin_overloaded";
    case OriginFailure::kClosed:
      return "origin_closed";
    case OriginFailure::kTimeout:
      return "origin_timeout";
    case OriginFailure::kInvalid:
      return "origin_invalid";
    case OriginFailure::kCancelled:
      return "origin_cancelled";
  }
  return "none";
}

OriginConnection::OriginConnection(OriginPool& pool, const std::string& origin)
    : pool_(pool),
      origin_(origin),
      socket_(pool.executor_),
      buffer_(pool.options_.header_size_bytes_max + 16 * 1024),
      read_deadline_(pool.deadlines_, [this] { cancel_socket(socket_); }),
      write_deadline_(pool.deadlines_, [this] { cancel_socket(socket_); }) {
  ++pool_.open_total_;
  ++pool_.origin(origin_).open;
}

OriginConnection::~OriginConnection() {
  --pool_.open_total_;
  auto& origin = pool_.origin(origin_);
  --origin.open;
  origin.freed.wake_one();
  pool_.forget_if_unused(origin_);
}

OriginPool::OriginPool(const asio::any_io_executor& executor, const storage::Clock& clock,
                       Deadlines& deadlines, const OriginPoolOptions& options)
    : executor_(executor), clock_(clock), deadlines_(deadlines), options_(options) {}

OriginPool::~OriginPool() {
  stop();
}

OriginPool::Origin& OriginPool::origin(const std::string& name) {
  auto& slot = origins_[name];
  if (!slot) slot = std::make_unique<Origin>(executor_);
  return *slot;
}

void OriginPool::forget_if_unused(const std::string& name) {
  const auto found = origins_.find(name);
  if (found != origins_.end() && found->second->open == 0 && found->second->waiting == 0) {
    origins_.erase(found);
  }
}

std::unique_ptr<OriginConnection> OriginPool::take_idle(Origin& origin) {
  while (!origin.idle.empty()) {
    auto connection = std::move(origin.idle.back());
    origin.idle.pop_back();
    --idle_total_;
    if (is_open_and_silent(connection->socket_)) {
      connection->reused_ = true;
      return connection;
    }
    // Keep the record of this origin alive while its last connection is destroyed.
    ++origin.waiting;
    connection.reset();
    --origin.waiting;
  }
  return nullptr;
}

/// Makes room under the overall limit by closing a kept connection of any origin.
bool OriginPool::make_room() {
  if (open_total_ < options_.connections_total_max) return true;
  for (auto& [name, origin] : origins_) {
    if (origin->idle.empty()) continue;
    auto oldest = std::move(origin->idle.front());
    origin->idle.erase(origin->idle.begin());
    --idle_total_;
    oldest.reset();  // May erase this origin's record, so the loop ends here.
    return true;
  }
  return false;
}

/// Waits until the origin has a free place or a kept connection; false where it took too long.
asio::awaitable<bool> OriginPool::wait_for_place(std::string name) {
  auto& place = origin(name);
  if (place.waiting >= kWaitingMax) co_return false;
  ++place.waiting;
  Deadlines::Entry deadline(deadlines_, [&place] { place.freed.wake_all(); });
  deadline.set_in(options_.connect_timeout);
  while (place.open >= options_.connections_max && place.idle.empty() && !deadline.expired()) {
    co_await place.freed.wait();
  }
  --place.waiting;
  co_return place.open < options_.connections_max || !place.idle.empty();
}

asio::awaitable<OriginConnectionOrFailure> OriginPool::acquire(const storage::HostPort& address,
                                                               bool fresh) {
  const std::string name = address.text();
  {
    auto& place = origin(name);
    if (!fresh) {
      if (auto kept = take_idle(place)) {
        ++reuses_total_;
        co_return OriginConnectionOrFailure(std::move(kept));
      }
    }
    if (place.open >= options_.connections_max) {
      const bool has_place = co_await wait_for_place(name);
      if (!has_place) {
        forget_if_unused(name);
        co_return OriginConnectionOrFailure(OriginFailure::kOverloaded);
      }
      if (auto kept = take_idle(origin(name))) {
        if (!fresh) {
          ++reuses_total_;
          co_return OriginConnectionOrFailure(std::move(kept));
        }
      }
    }
  }
  if (!make_room()) {
    forget_if_unused(name);
    co_return OriginConnectionOrFailure(OriginFailure::kOverloaded);
  }
  auto connection = std::make_unique<OriginConnection>(*this, name);
  ++connects_total_;
  const OriginFailure failure = co_await connect(*connection, address);
  if (failure != OriginFailure::kNone) {
    ++connect_failures_total_;
    co_return OriginConnectionOrFailure(failure);
  }
  co_return OriginConnectionOrFailure(std::move(connection));
}

asio::awaitable<OriginPool::Endpoints> OriginPool::resolve(const storage::HostPort& address) {
  boost::system::error_code not_numeric;
  const auto numeric = asio::ip::make_address(address.host, not_numeric);
  if (!not_numeric) co_return Endpoints{{numeric, address.port}};
  const std::string name = address.text();
  const auto known = names_.find(name);
  if (known != names_.end() && known->second.valid_until > clock_.steady_now()) {
    co_return known->second.endpoints;
  }
  asio::ip::tcp::resolver resolver(executor_);
  Deadlines::Entry deadline(deadlines_, [&resolver] { resolver.cancel(); });
  deadline.set_in(options_.connect_timeout);
  const std::string port = std::to_string(address.port);
  auto [error, found] = co_await resolver.async_resolve(
      address.host, port, asio::ip::resolver_base::numeric_service, kAwait);
  Endpoints endpoints;
  if (error) co_return endpoints;
  for (const auto& entry : found) endpoints.push_back(entry.endpoint());
  if (names_.size() >= kNamesMax) names_.clear();
  Name& remembered = names_[name];
  remembered.endpoints = endpoints;
  remembered.valid_until = clock_.steady_now() + kNameLifetime;
  co_return endpoints;
}

asio::awaitable<OriginFailure> OriginPool::connect(OriginConnection& connection,
                                                   const storage::HostPort& address) {
  const Endpoints endpoints = co_await resolve(address);
  if (endpoints.empty()) co_return OriginFailure::kName;
  auto& deadline = connection.write_deadline_;
  deadline.set_in(options_.connect_timeout);
  OriginFailure failure = OriginFailure::kConnect;
  for (const auto& endpoint : endpoints) {
    boost::system::error_code error;
    connection.socket_.close(error);
    connection.socket_.open(endpoint.protocol(), error);
    if (error) continue;  // E.g. no IPv6 here: the next address may do.
    prepare_socket(connection.socket_);
    std::tie(error) = co_await connection.socket_.async_connect(endpoint, kAwait);
    if (deadline.expired()) {
      failure = OriginFailure::kConnectTimeout;
      break;
    }
    if (!error) {
      connection.address_ = endpoint.address().to_string();
      failure = OriginFailure::kNone;
      break;
    }
  }
  deadline.clear();
  co_return failure;
}

void OriginPool::keep(std::unique_ptr<OriginConnection> connection) {
  // Input beyond the response is of no request of ours: such a connection is out of step.
  if (stopped_ || connection->buffer_.size() > 0) return;
  connection->idle_since_ = clock_.steady_now();
  auto& place = origin(connection->origin_);
  place.idle.push_back(std::move(connection));
  ++idle_total_;
  place.freed.wake_one();
}

void OriginPool::close_idle() {
  const auto limit = clock_.steady_now() - options_.idle_timeout;
  std::vector<std::unique_ptr<OriginConnection>> closing;
  for (auto& [name, origin] : origins_) {
    const auto old = [&](const auto& connection) { return connection->idle_since_ < limit; };
    // The newest are last, so those to close are at the front.
    const auto end = std::find_if_not(origin->idle.begin(), origin->idle.end(), old);
    std::move(origin->idle.begin(), end, std::back_inserter(closing));
    origin->idle.erase(origin->idle.begin(), end);
  }
  idle_total_ -= closing.size();
}

void OriginPool::stop() {
  stopped_ = true;
  std::vector<std::unique_ptr<OriginConnection>> closing;
  for (auto& [name, origin] : origins_) {
    std::move(origin->idle.begin(), origin->idle.end(), std::back_inserter(closing));
    origin->idle.clear();
  }
  idle_total_ = 0;
}

void OriginPool::visit_counters(storage::CounterVisitor& visitor) const {
  visitor.gauge("origin_connections_open", "", static_cast<double>(open_total_));
  visitor.gauge("origin_connections_idle", "", static_cast<double>(idle_total_));
  visitor.counter("origin_connects_total", "", connects_total_);
  visitor.counter("origin_reuses_total", "", reuses_total_);
  visitor.counter("origin_connect_failures_total", "", connect_failures_total_);
}

}  // namespace proxy
