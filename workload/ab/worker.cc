#include "workload/ab/worker.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <iostream>
#include <sstream>
#include <utility>

#include "storage/base/kernel_file.h"
#include "workload/client/generator_limits.h"

namespace workload::ab {

namespace {

constexpr size_t kBufferBytes = 128 << 10;
constexpr int kEventsMax = 256;
/// Full buffers that are read from one connection before others have their turn.
constexpr int kReadsInARow = 8;
constexpr int kSweepMs = 100;
constexpr uint64_t kNsInMs = 1'000'000;

std::string error_text(const char* call, int error) {
  return std::string(call) + ": " + std::strerror(error) + " (" + std::to_string(error) + ")";
}

/// Seconds that the calling thread was ready to run and did not.
double thread_runnable_s() {
  std::istringstream in(storage::read_kernel_file("/proc/thread-self/schedstat"));
  uint64_t ran_ns = 0;
  uint64_t waited_ns = 0;
  if (!(in >> ran_ns >> waited_ns)) return 0;
  return static_cast<double>(waited_ns) / 1e9;
}

}  // namespace

void RunState::break_off(const std::string& reason) {
  const std::lock_guard lock(mutex_);
  if (broken_off_.empty()) broken_off_ = reason;
  stop = true;
}

void RunState::say(const std::string& text) {
  const std::lock_guard lock(mutex_);
  std::cout << text << std::flush;
}

uint64_t steady_now_ns() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(time.tv_nsec);
}

struct Worker::Connection {
  enum class Stage { kClosed, kConnecting, kExchange, kDraining };

  explicit Connection(ThreadChecks& checks) : check(checks) {}

  int fd = -1;
  Stage stage = Stage::kClosed;
  size_t sent = 0;
  uint64_t served = 0;  ///< Responses on this socket.
  bool listed = false;  ///< In more_input_.
  uint64_t start_ns = 0;
  uint64_t connected_ns = 0;
  uint64_t first_byte_ns = 0;  ///< 0: none came.
  ResponseCheck check;
};

Worker::Worker(RunState& state, unsigned connections)
    : state_(state),
      checks_(state.first, state.options.method == "HEAD", state.options.verbosity < 4),
      buffer_(new char[kBufferBytes]) {
  for (unsigned i = 0; i < connections; ++i) {
    connections_.push_back(std::make_unique<Connection>(checks_));
  }
}

Worker::~Worker() {
  for (auto& connection : connections_) {
    if (connection->fd >= 0) ::close(connection->fd);
  }
}

void Worker::run() {
  const double cpu_before_s = thread_cpu_s();
  const double runnable_before_s = thread_runnable_s();
  const uint64_t begin_ns = steady_now_ns();
  if (!watch_.open()) return state_.break_off(error_text("can't watch sockets", errno));
  for (auto& connection : connections_) reopen(*connection);
  std::array<SocketEvent, kEventsMax> events;
  uint64_t next_sweep_ns = begin_ns + kSweepMs * kNsInMs;
  while (true) {
    open_waiting();
    if (active_ == 0 || state_.stop.load(std::memory_order_relaxed)) break;
    const int count = watch_.wait(events, wait_ms());
    if (count < 0 && errno != EINTR) {
      return state_.break_off(error_text("can't wait for sockets", errno));
    }
    // Sockets are opened behind this loop, so that no event is taken for a later socket's.
    for (int i = 0; i < count; ++i) {
      const auto& event = events[static_cast<size_t>(i)];
      on_event(*static_cast<Connection*>(event.subject), event);
    }
    std::vector<Connection*> unread;
    unread.swap(more_input_);
    for (auto* connection : unread) {
      if (!std::exchange(connection->listed, false)) continue;
      receive(*connection, true);
    }
    const uint64_t now_ns = steady_now_ns();
    if (now_ns >= state_.deadline_ns) {
      state_.out_of_time = true;
      state_.stop = true;
    }
    if (now_ns >= next_sweep_ns) {
      sweep(now_ns);
      next_sweep_ns = now_ns + kSweepMs * kNsInMs;
    }
  }
  use_.cpu_s = thread_cpu_s() - cpu_before_s;
  use_.runnable_s = thread_runnable_s() - runnable_before_s;
  use_.wall_s = static_cast<double>(steady_now_ns() - begin_ns) / 1e9;
}

int Worker::wait_ms() const {
  if (!to_open_.empty() || !more_input_.empty()) return 0;
  if (state_.deadline_ns == UINT64_MAX) return kSweepMs;
  const uint64_t now_ns = steady_now_ns();
  if (now_ns >= state_.deadline_ns) return 0;
  return static_cast<int>(
      std::min<uint64_t>(kSweepMs, (state_.deadline_ns - now_ns) / kNsInMs + 1));
}

bool Worker::take_ticket() {
  return state_.started.fetch_add(1, std::memory_order_relaxed) < state_.options.requests;
}

void Worker::open_waiting() {
  // As many as there are now: one that fails at once comes back behind them.
  std::vector<Connection*> waiting;
  waiting.swap(to_open_);
  for (auto* connection : waiting) {
    if (state_.stop.load(std::memory_order_relaxed)) return;
    open(*connection);
  }
}

/// The connection gets a request and, behind the events at hand, a new socket for it.
void Worker::reopen(Connection& connection) {
  if (!take_ticket()) return;
  ++active_;
  to_open_.push_back(&connection);
}

bool Worker::set_up_socket(Connection& connection) {
  const auto broken = [&](const char* call) {
    state_.break_off(error_text(call, errno));
    return false;
  };
  connection.fd =
      ::socket(state_.peer.bytes.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (connection.fd < 0) return broken("socket");
  const int one = 1;
  // Where this fails requests of several segments are slower, and nothing else.
  setsockopt(connection.fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  if (const int bytes = state_.options.window_bytes; bytes > 0) {
    if (setsockopt(connection.fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes) != 0 ||
        setsockopt(connection.fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes) != 0) {
      return broken("-b: setsockopt");
    }
  }
  if (state_.local) {
    // The port is chosen at connect, so that it need only be free towards this peer.
#ifdef IP_BIND_ADDRESS_NO_PORT
    setsockopt(connection.fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &one, sizeof one);
#endif
    if (::bind(connection.fd, state_.local->get(), state_.local->size) != 0) {
      return broken("-B: bind");
    }
  }
  return true;
}

void Worker::open(Connection& connection) {
  connection.served = 0;
  connection.sent = 0;
  connection.first_byte_ns = 0;
  connection.check.begin();
  connection.start_ns = steady_now_ns();
  connection.connected_ns = 0;
  if (!set_up_socket(connection)) return;
  connection.stage = Connection::Stage::kConnecting;
  const int done = ::connect(connection.fd, state_.peer.get(), state_.peer.size);
  if (done != 0 && errno != EINPROGRESS) {
    const int error = errno;
    if (error == EADDRNOTAVAIL || error == EAGAIN) {
      return state_.break_off(error_text("connect", error) +
                              ": no local port is left; use -k, or a wider "
                              "net.ipv4.ip_local_port_range");
    }
    return fail(connection, Failure::kConnect, error_text("connect", error));
  }
  if (!watch_.add(connection.fd, &connection)) {
    state_.break_off(error_text("can't watch a socket", errno));
  }
}

void Worker::on_event(Connection& connection, const SocketEvent& event) {
  if (connection.fd < 0) return;
  if (connection.stage == Connection::Stage::kConnecting) return on_connected(connection, event);
  if (event.readable || event.ended) receive(connection, event.ended);
  if (event.writable && connection.stage == Connection::Stage::kExchange &&
      connection.sent < state_.request.size()) {
    send_rest(connection);
  }
}

void Worker::on_connected(Connection& connection, const SocketEvent& event) {
  if (event.failed) {
    int error = 0;
    socklen_t size = sizeof error;
    if (getsockopt(connection.fd, SOL_SOCKET, SO_ERROR, &error, &size) != 0) error = errno;
    if (error != 0) return fail(connection, Failure::kConnect, error_text("connect", error));
  }
  if (!event.writable) return;
  ++tally_.connections;
  connection.connected_ns = steady_now_ns();
  connection.stage = Connection::Stage::kExchange;
  send_rest(connection);
  // What came together with the connection would not be told of again.
  if (connection.fd >= 0 && (event.readable || event.ended)) receive(connection, event.ended);
}

/// The next request on a connection that is open.
void Worker::begin_request(Connection& connection, uint64_t now_ns) {
  connection.sent = 0;
  connection.first_byte_ns = 0;
  connection.start_ns = connection.connected_ns = now_ns;
  connection.check.begin();
  connection.stage = Connection::Stage::kExchange;
  send_rest(connection);
}

void Worker::send_rest(Connection& connection) {
  const auto& request = state_.request;
  while (connection.sent < request.size()) {
    const ssize_t sent = ::send(connection.fd, request.data() + connection.sent,
                                request.size() - connection.sent, MSG_NOSIGNAL);
    if (sent < 0) {
      if (errno == EINTR) continue;
      if (errno == EAGAIN) return watch_.await_writable(connection.fd);
      const int error = errno;
      if (connection.served == 0) ++tally_.write_errors;
      return on_stream_end(connection, error);
    }
    connection.sent += static_cast<size_t>(sent);
    tally_.sent_bytes += static_cast<uint64_t>(sent);
  }
}

void Worker::receive(Connection& connection, bool ended) {
  for (int reads = 0; reads < kReadsInARow; ++reads) {
    const ssize_t size = ::recv(connection.fd, buffer_.get(), kBufferBytes, 0);
    if (size > 0) {
      const auto received = static_cast<size_t>(size);
      tally_.received_bytes += received;
      if (!take(connection, {buffer_.get(), received})) return;
      // A short read has emptied the socket; what comes later is a new event. An end that was
      // told of already is not.
      if (received < kBufferBytes && !ended) return;
    } else if (size == 0) {
      return on_stream_end(connection, 0);
    } else if (errno == EAGAIN) {
      return;
    } else if (errno != EINTR) {
      return on_stream_end(connection, errno);
    }
  }
  if (!connection.listed) more_input_.push_back(&connection);
  connection.listed = true;
}

/// Takes what was received; false where the socket is closed thereafter.
bool Worker::take(Connection& connection, std::string_view bytes) {
  using State = ResponseReader::State;
  const uint64_t now_ns = steady_now_ns();
  if (connection.stage == Connection::Stage::kDraining) {
    return response_done(connection, true, now_ns);
  }
  if (connection.first_byte_ns == 0) connection.first_byte_ns = now_ns;
  const auto surplus = connection.check.take(bytes);
  switch (connection.check.reader().state()) {
    case State::kDone:
      return response_done(connection, !surplus.empty(), now_ns);
    case State::kBroken:
      fail(connection, Failure::kException, connection.check.reader().reason());
      return false;
    case State::kHead:
    case State::kBody:
      break;
  }
  return true;
}

/// A response is whole by its own word; false where the socket is closed thereafter.
bool Worker::response_done(Connection& connection, bool surplus, uint64_t now_ns) {
  if (surplus) {
    ++tally_.surplus;
    note_failure(Failure::kLength, "more bytes came than were announced");
    finish(connection, Failure::kLength, now_ns);
    return false;
  }
  const bool keeps = connection.check.reader().head().keep;
  if (!keeps) {
    // As in ApacheBench the request ends with the connection that the server said it would close.
    connection.stage = Connection::Stage::kDraining;
    return true;
  }
  finish(connection, Failure::kNone, now_ns);
  return connection.fd >= 0;
}

/// The peer closed (`error` 0) or the connection broke.
void Worker::on_stream_end(Connection& connection, int error) {
  using State = ResponseReader::State;
  const auto& reader = connection.check.reader();
  if (connection.stage == Connection::Stage::kDraining) {
    return finish(connection, Failure::kNone, steady_now_ns());
  }
  if (!reader.begun() && connection.served > 0) {
    // The server closed a kept connection while the request was on its way, as it may.
    ++tally_.stale_retries;
    close(connection);
    to_open_.push_back(&connection);
    return;
  }
  if (error == 0) connection.check.end_of_stream();
  if (error == 0 && reader.state() == State::kDone) {
    return finish(connection, Failure::kNone, steady_now_ns());
  }
  if (error == 0 && reader.state() == State::kBody) {
    ++tally_.truncated;
    note_failure(Failure::kLength, "the connection ended before the body's announced end");
    return finish(connection, Failure::kLength, steady_now_ns());
  }
  fail(connection, Failure::kReceive,
       error != 0 ? error_text("receive", error)
                  : "receive: the connection ended before a response's head did");
}

void Worker::note_failure(Failure failure, const std::string& reason) {
  ++tally_.failures[static_cast<size_t>(failure)];
  if (tally_.first_failure.empty()) tally_.first_failure = reason;
}

/// A request that got no response.
void Worker::fail(Connection& connection, Failure failure, const std::string& reason) {
  note_failure(failure, reason);
  if (failure != Failure::kException && !state_.options.go_on) state_.break_off(reason);
  tally_.body_bytes += connection.check.body_bytes();
  ++tally_.complete;
  complete_.store(tally_.complete, std::memory_order_relaxed);
  last_end_ns_ = steady_now_ns();
  close(connection);
  --active_;
  reopen(connection);
}

/// A request that got a response, whole or of a wrong length, which is noted already.
void Worker::finish(Connection& connection, Failure failure, uint64_t now_ns) {
  auto& check = connection.check;
  const auto& head = check.reader().head();
  ++tally_.complete;
  complete_.store(tally_.complete, std::memory_order_relaxed);
  tally_.body_bytes += check.body_bytes();
  const bool framed = failure == Failure::kNone;
  const bool success = head.status >= 200 && head.status < 300;
  if (!success) ++tally_.not_2xx;
  ++tally_.by_class[std::min<size_t>(static_cast<size_t>(head.status / 100), 5)];
  if (framed) {
    const auto likeness = check.compare();
    if (likeness == Likeness::kOtherContent) ++tally_.other_content;
    if (likeness == Likeness::kOtherLength) {
      ++tally_.other_length;
      if (!state_.options.any_length) {
        failure = Failure::kLength;
        note_failure(failure, "a body of another length than the first");
      }
    }
  }
  if (head.keep && state_.options.keep_alive) ++tally_.kept_alive;
  const bool good = success && failure == Failure::kNone;
  if (good) good_.store(++tally_.good, std::memory_order_relaxed);
  record_times(connection, good, now_ns);
  if (state_.options.verbosity >= 3) say_response(connection);
  last_end_ns_ = now_ns;
  ++connection.served;
  const bool reuse = state_.options.keep_alive && head.keep &&
                     connection.stage == Connection::Stage::kExchange &&
                     connection.sent == state_.request.size() && framed;
  if (reuse && now_ns < state_.deadline_ns && take_ticket()) {
    return begin_request(connection, now_ns);
  }
  close(connection);
  --active_;
  if (!reuse) reopen(connection);
}

void Worker::record_times(const Connection& connection, bool good, uint64_t now_ns) {
  const uint64_t total_ns = now_ns - connection.start_ns;
  const uint64_t connect_ns = connection.connected_ns - connection.start_ns;
  const uint64_t wait_ns = connection.first_byte_ns - connection.connected_ns;
  tally_.connect.record(connect_ns);
  tally_.processing.record(total_ns - connect_ns);
  tally_.waiting.record(wait_ns);
  tally_.total.record(total_ns);
  if (good) tally_.good_times.record(total_ns);
  if (state_.options.gnuplot_file.empty()) return;
  const auto us = [](uint64_t ns) {
    return static_cast<uint32_t>(std::min<uint64_t>((ns + 500) / 1000, UINT32_MAX));
  };
  RequestTimes times;
  times.start_unix_us =
      (static_cast<int64_t>(connection.start_ns) + state_.steady_to_unix_ns) / 1000;
  times.connect_us = us(connect_ns);
  times.total_us = us(total_ns);
  times.wait_us = us(wait_ns);
  tally_.requests.push_back(times);
}

void Worker::close(Connection& connection) {
  if (connection.fd >= 0) {
    watch_.forget(connection.fd);
    ::close(connection.fd);
  }
  connection.fd = -1;
  connection.listed = false;
  connection.stage = Connection::Stage::kClosed;
}

void Worker::sweep(uint64_t now_ns) {
  const auto timeout_ns = static_cast<uint64_t>(state_.options.timeout.count());
  for (auto& connection : connections_) {
    if (connection->fd < 0 || now_ns - connection->start_ns < timeout_ns) continue;
    ++tally_.timeouts;
    const bool connecting = connection->stage == Connection::Stage::kConnecting;
    fail(*connection, connecting ? Failure::kConnect : Failure::kReceive,
         "no whole response within the " + storage::format_duration(state_.options.timeout) +
             " of -s");
  }
}

void Worker::say_response(const Connection& connection) {
  const auto& reader = connection.check.reader();
  std::string text;
  if (state_.options.verbosity >= 4) {
    text = "LOG: header received:\n" + std::string(reader.head_text());
  }
  state_.say(text + "LOG: Response code = " + std::to_string(reader.head().status) + '\n');
}

}  // namespace workload::ab
