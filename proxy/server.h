// The running proxy: its ports, its sessions, and its end.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/intrusive/list.hpp>
#include <memory>
#include <string>
#include <vector>

#include "proxy/access_log_writer.h"
#include "proxy/admin.h"
#include "proxy/fill_table.h"
#include "proxy/services.h"
#include "proxy/session.h"

namespace proxy {

/// Single-threaded on `executor`. The references must outlive it; it must outlive the run of its
/// executor. Order of calls: start(), then stop() in another coroutine, once.
class Server {
 public:
  /// `deadline_tick`: how late a passed deadline may be noticed.
  Server(const boost::asio::any_io_executor& executor, const Config& config,
         const storage::Clock& clock, storage::BufferPool& buffers, storage::StorageScheme& store,
         std::chrono::milliseconds deadline_tick = std::chrono::milliseconds(250));
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// Starts the store, opens log and ports, and serves. One line for the user, or empty.
  boost::asio::awaitable<std::string> start();

  /// What the store could not do as asked, found out by start(); one line each.
  const std::vector<std::string>& start_warnings() const { return start_warnings_; }

  uint16_t port() const { return acceptor_.local_endpoint().port(); }
  /// The addresses that are served, with the ports that were picked.
  storage::HostPort listening_on() const { return {config_.listen.host, port()}; }
  storage::HostPort admin_on() const { return {config_.admin->host, admin_port()}; }
  /// 0 where there is no administrator's port.
  uint16_t admin_port() const { return admin_ ? admin_->port() : 0; }
  const ProxyCounters& counters() const { return counters_; }
  /// For tests: what /metrics and /status answer.
  const Admin& admin() const { return *admin_; }

  /// Stops accepting, ends idle connections, finishes what is under way for Timeouts::stop at the
  /// longest (breaking off the rest), and closes the store cleanly. A store that cannot: one line.
  boost::asio::awaitable<std::string> stop();
  /// Makes a stop() that is under way break off what is not finished now.
  void hurry();
  /// Opens the access log anew, after it was renamed. One line for the user, or empty.
  std::string reopen_access_log();

 private:
  template <class Awaitable>
  void spawn(Awaitable task);
  boost::asio::awaitable<void> accept();
  boost::asio::awaitable<void> serve(Socket socket);
  boost::asio::awaitable<void> keep_house();
  boost::asio::awaitable<void> wait_for_sessions();
  void break_off();

  const Config& config_;
  storage::StorageScheme& store_;
  Deadlines deadlines_;
  OriginPool origins_;
  ProxyCounters counters_;
  std::unique_ptr<AccessLogWriter> access_log_;
  FillTable fills_;
  Services services_;
  std::unique_ptr<Admin> admin_;
  boost::asio::ip::tcp::acceptor acceptor_;
  boost::asio::steady_timer house_timer_;
  boost::intrusive::list<Session, boost::intrusive::constant_time_size<false>> sessions_;
  Wakeup session_ended_;
  Wakeup task_ended_;
  uint64_t tasks_ = 0;
  std::vector<std::string> start_warnings_;
  bool started_ = false;
  bool hurrying_ = false;
};

}  // namespace proxy
