// The administrator's port: /metrics for Prometheus, /status as JSON.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <string>

#include "proxy/services.h"
#include "proxy/wakeup.h"

namespace proxy {

/// Answers on its own port, a few connections at a time. Single-threaded on the services' executor.
class Admin {
 public:
  Admin(Services& services, const storage::RecoveryReport& recovery);
  Admin(const Admin&) = delete;
  Admin& operator=(const Admin&) = delete;

  /// Opens the port; an error line or nothing.
  std::string listen(const storage::HostPort& address);
  uint16_t port() const;
  /// Serves until stop().
  boost::asio::awaitable<void> run();
  void stop();
  /// Returns when no connection is open.
  boost::asio::awaitable<void> wait_until_empty();

  /// The page of a path; empty where there is none.
  std::string page(std::string_view path) const;

 private:
  boost::asio::awaitable<void> serve(boost::asio::ip::tcp::socket socket);
  std::string metrics() const;
  std::string status() const;

  Services& services_;
  storage::RecoveryReport recovery_;
  storage::SteadyTime started_;
  boost::asio::ip::tcp::acceptor acceptor_;
  Wakeup ended_;
  unsigned open_ = 0;
};

/// Opens `acceptor` on an address; an error line that names `option`, or nothing.
std::string open_listener(boost::asio::ip::tcp::acceptor& acceptor,
                          const storage::HostPort& address, std::string_view option);

}  // namespace proxy
