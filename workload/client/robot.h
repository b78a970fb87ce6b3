// One simulated user: pages, the objects embedded in them, and pauses between.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "storage/base/clock.h"
#include "storage/base/random.h"
#include "workload/client/http_client.h"
#include "workload/client/release_timing.h"
#include "workload/client/request_host.h"
#include "workload/client/run_control.h"
#include "workload/client/transaction.h"
#include "workload/model/request_stream.h"

namespace workload {

/// What all robots of a thread share. Called on that thread only.
class RobotHost : public RequestHost {
 public:
  /// The next page of the stream, as far as the run's goals grant it; a grant of 0 requests (and an
  /// empty page) when the run is over, or `later` where there may be one soon.
  virtual Grant take_page(std::vector<IntendedRequest>& page, storage::SteadyTime now) = 0;
  /// That robot was told `later`: wake() it when pages have come, or when the run is over.
  virtual void wait_for_page(size_t robot) = 0;
  /// The last `requests` of a page are not sent after all.
  virtual void give_back(uint64_t requests, const Grant& grant) = 0;
  /// Whether the phase wants that robot, numbered from 0 within the thread, to be active.
  virtual bool active(size_t robot) const = 0;
  /// What the phase multiplies the robots' rate with; 1 in most.
  virtual double load_factor() const = 0;
};

/// How robots reach the system under test.
struct RobotOptions {
  RobotModel model;
  HttpClientOptions client;
  TargetForm target;
  Verification verification = Verification::kBytes;
  /// The run's transactions; null: responses are never taken for shared.
  const TransactionsUnderWay* under_way = nullptr;
};

/// A closed loop: waits until a page is due, fetches it, then its embedded objects over up to
/// `connections_max` connections as a browser does, and starts again. Each connection serves as
/// many requests as the model draws for it. A page that failed is followed by a pause of its own,
/// 10 ms doubled with each further failure up to 1 s, so that errors cannot spin; its embedded
/// objects are not asked for. A robot that a phase does not want closes its connections and waits.
/// All on one thread.
class Robot {
 public:
  /// `number` counts from 0 within the thread. `source` is the local address of its connections;
  /// nothing: any. `host`, `clock` and `options` must outlive the robot.
  Robot(boost::asio::any_io_executor executor, RobotHost& host, const storage::Clock& clock,
        size_t number, const RobotOptions& options, std::optional<boost::asio::ip::address> source,
        std::unique_ptr<ReleaseTiming> timing, storage::Random random);
  ~Robot();
  Robot(const Robot&) = delete;
  Robot& operator=(const Robot&) = delete;

  /// Runs until the run is over. Spawn once.
  boost::asio::awaitable<void> run(storage::SteadyTime run_start);
  /// Ends a pause early, so that run() sees that the run is over.
  void wake();
  /// Closes all connections: transactions under way end with an error.
  void abort();

 private:
  /// A connection with the transactor that uses it.
  struct Lane;

  boost::asio::awaitable<void> pause_until(storage::SteadyTime due);
  boost::asio::awaitable<storage::SteadyTime> pause_at_load(storage::SteadyTime start,
                                                            storage::SteadyTime due);
  boost::asio::awaitable<bool> sleep_while_inactive();
  boost::asio::awaitable<storage::SteadyTime> wait_for_page(storage::SteadyTime asked);
  boost::asio::awaitable<void> fetch_page(std::chrono::nanoseconds blocked);
  boost::asio::awaitable<void> fetch_embedded();
  boost::asio::awaitable<void> fetch_rest_on(Lane& lane);
  boost::asio::awaitable<void> fetch(Lane& lane, const IntendedRequest& intended,
                                     std::chrono::nanoseconds blocked);
  void helper_ended(const std::exception_ptr& failure);
  Lane& lane(size_t index);
  storage::SteadyTime after_backoff(storage::SteadyTime now);

  boost::asio::any_io_executor executor_;
  RobotHost& host_;
  const storage::Clock& clock_;
  size_t number_;
  const RobotOptions& options_;
  HttpClientOptions client_options_;
  std::unique_ptr<ReleaseTiming> timing_;
  storage::Random random_;
  boost::asio::steady_timer pause_;
  boost::asio::steady_timer helpers_done_;  ///< Never expires; cancelled by the last helper.
  std::vector<std::unique_ptr<Lane>> lanes_;
  std::vector<IntendedRequest> page_;
  Grant grant_;
  size_t next_of_page_ = 0;
  size_t helpers_ = 0;
  int failures_in_row_ = 0;
  bool page_failed_ = false;
};

}  // namespace workload
