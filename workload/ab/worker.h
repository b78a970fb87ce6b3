// One thread of `cacheoff ab`: its connections, in a loop with as few system calls as can be.
#pragma once

#include <sys/socket.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "workload/ab/options.h"
#include "workload/ab/response_check.h"
#include "workload/ab/socket_watch.h"
#include "workload/ab/tally.h"

namespace workload::ab {

/// A resolved address.
struct Address {
  sockaddr_storage bytes{};
  socklen_t size = 0;
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&bytes); }
};

/// What the threads of a run share. Options, request and addresses do not change meanwhile.
struct RunState {
  RunState(const Options& options_in, std::string request_in, const Address& peer_in,
           const std::optional<Address>& local_in)
      : options(options_in), request(std::move(request_in)), peer(peer_in), local(local_in) {}

  const Options& options;
  const std::string request;
  const Address peer;
  const std::optional<Address> local;
  uint64_t deadline_ns = UINT64_MAX;      ///< Of -t, on the steady clock; set before the threads.
  int64_t steady_to_unix_ns = 0;          ///< What to add to the steady clock.
  std::atomic<uint64_t> started = 0;      ///< Requests that were given out.
  std::atomic<bool> stop = false;         ///< Leave what is under way.
  std::atomic<bool> out_of_time = false;  ///< -t ended the run.
  FirstResponse first;

  /// Ends the run early. The first reason stays.
  void break_off(const std::string& reason);
  /// Why the run was broken off; empty where it was not. To be read after the threads.
  const std::string& broken_off() const { return broken_off_; }
  /// A line on standard output, whole, for -v.
  void say(const std::string& text);

 private:
  std::mutex mutex_;
  std::string broken_off_;
};

/// The steady clock, in nanoseconds.
uint64_t steady_now_ns();

/// What a thread used and waited for. Seconds.
struct ThreadUse {
  double cpu_s = 0;
  double runnable_s = 0;  ///< Ready to run while others had the CPU; 0 where the kernel is silent.
  double wall_s = 0;
};

/// Keeps a share of the connections busy until the requests or the time are used up. A socket
/// is registered once with the SocketWatch; a request is one send and one receive as long as the
/// response fits into the buffer.
class Worker {
 public:
  /// `state` must outlive it.
  Worker(RunState& state, unsigned connections);
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  /// Runs to the end, on the thread of its own. Failures of the machine break the run off.
  void run();

  /// Complete requests so far; from any thread.
  uint64_t complete() const { return complete_.load(std::memory_order_relaxed); }
  /// Of them, the good ones; from any thread.
  uint64_t good() const { return good_.load(std::memory_order_relaxed); }
  /// After run().
  const Tally& tally() const { return tally_; }
  const ThreadUse& use() const { return use_; }
  /// When the last request ended; 0 where none did.
  uint64_t last_end_ns() const { return last_end_ns_; }

 private:
  struct Connection;

  /// How long there is nothing to do but to wait for events.
  int wait_ms() const;
  bool take_ticket();
  void open_waiting();
  void open(Connection& connection);
  bool set_up_socket(Connection& connection);
  void on_event(Connection& connection, const SocketEvent& event);
  void on_connected(Connection& connection, const SocketEvent& event);
  void begin_request(Connection& connection, uint64_t now_ns);
  void send_rest(Connection& connection);
  void receive(Connection& connection, bool ended);
  bool take(Connection& connection, std::string_view bytes);
  bool response_done(Connection& connection, bool surplus, uint64_t now_ns);
  void on_stream_end(Connection& connection, int error);
  void finish(Connection& connection, Failure failure, uint64_t now_ns);
  void record_times(const Connection& connection, bool good, uint64_t now_ns);
  void fail(Connection& connection, Failure failure, const std::string& reason);
  void note_failure(Failure failure, const std::string& reason);
  void reopen(Connection& connection);
  void close(Connection& connection);
  void sweep(uint64_t now_ns);
  void say_response(const Connection& connection);

  RunState& state_;
  ThreadChecks checks_;
  std::vector<std::unique_ptr<Connection>> connections_;
  std::vector<Connection*> to_open_;     ///< They have a request to send and no socket.
  std::vector<Connection*> more_input_;  ///< They were left with unread input.
  std::unique_ptr<char[]> buffer_;
  SocketWatch watch_;
  size_t active_ = 0;  ///< Connections with a request under way or to send.
  Tally tally_;
  ThreadUse use_;
  uint64_t last_end_ns_ = 0;
  std::atomic<uint64_t> complete_ = 0;
  std::atomic<uint64_t> good_ = 0;
};

}  // namespace workload::ab
