// Requests at the times of a schedule, whatever became of those before them.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <vector>

#include "storage/base/clock.h"
#include "storage/base/random.h"
#include "workload/client/page_source.h"
#include "workload/client/request_host.h"
#include "workload/client/robot.h"

namespace workload {

/// Bounds of one thread's open loop.
struct OpenLoopOptions {
  uint64_t connections_max = 1;
  uint64_t queue_max =
      0;  ///< Requests that may wait for a connection; what comes then is given up.
  std::vector<boost::asio::ip::address> sources;  ///< Local addresses, used in turn; empty: any.
};

/// An open loop: pages start when the schedule says, on any idle connection or a new one. Where all
/// connections are taken they wait, first come first served, and their response time runs. What has
/// waited for as long as a transaction may take is given up.
///
/// The requests of a page take as many gaps of the schedule as they are, so the rate includes
/// embedded objects. These become due when their page has come, at most `connections_max` of the
/// robot model at once, as a browser does: from then on their response time runs, whether a
/// connection is free or not. Those of a page that did not come are given up.
///
/// Each connection serves as many requests as the model draws for it. All on one thread.
class OpenLoop {
 public:
  /// All references must outlive the loop.
  OpenLoop(boost::asio::any_io_executor executor, RequestHost& host, PageSource& source,
           RunControl& control, const storage::Clock& clock, const RobotOptions& robot_options,
           OpenLoopOptions options, storage::Random random);
  ~OpenLoop();
  OpenLoop(const OpenLoop&) = delete;
  OpenLoop& operator=(const OpenLoop&) = delete;

  /// Runs until the run is over and the last transaction has ended. Spawn once.
  boost::asio::awaitable<void> run();
  /// Ends a wait early, so that run() sees that the run is over.
  void wake();
  /// Closes all connections: transactions under way end with an error.
  void abort();

 private:
  struct Lane;
  struct Visit;
  /// A request that is due.
  struct Item {
    Item(IntendedRequest intended_in, storage::SteadyTime due_in, std::shared_ptr<Visit> visit_in)
        : intended(std::move(intended_in)), due(due_in), visit(std::move(visit_in)) {}
    IntendedRequest intended;
    storage::SteadyTime due;
    std::shared_ptr<Visit> visit;
  };

  boost::asio::awaitable<bool> wait_until_due(double place, storage::SteadyTime& due);
  void open_page(ScheduledPage& page, storage::SteadyTime due);
  /// What became due before the run's end, and was seen behind it, was offered.
  void never_opened(const ScheduledPage& page);
  void become_due(Item item);
  void give_up(const Item& item, NotSent reason);
  void start(Lane& lane, Item item);
  boost::asio::awaitable<void> serve(Lane& lane);
  boost::asio::awaitable<void> transact(Lane& lane);
  bool take_next(Lane& lane);
  void page_failed(const Visit& visit, storage::SteadyTime now);
  void send_embedded(const std::shared_ptr<Visit>& visit);
  void lane_ended(Lane& lane, const std::exception_ptr& failure);

  boost::asio::any_io_executor executor_;
  RequestHost& host_;
  PageSource& source_;
  RunControl& control_;
  const storage::Clock& clock_;
  const RobotOptions& robot_options_;
  OpenLoopOptions options_;
  storage::Random random_;
  boost::asio::steady_timer due_timer_;
  boost::asio::steady_timer all_ended_;  ///< Never expires; cancelled when the last lane is idle.
  std::vector<std::unique_ptr<Lane>> lanes_;
  std::vector<Lane*> idle_;
  std::deque<Item> queue_;
};

}  // namespace workload
