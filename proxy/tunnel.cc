#include "proxy/tunnel.h"

#include <array>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <exception>
#include <vector>

#include "proxy/wakeup.h"
#include "storage/base/await.h"

namespace proxy {

namespace {

namespace asio = boost::asio;
using storage::kAwait;
constexpr size_t kBufferBytes = 16 * 1024;

/// Both directions, and the one deadline that they share.
class Tunnel {
 public:
  Tunnel(Services& services, ClientConnection& client, OriginConnection& origin)
      : timeout_(services.config.timeouts.tunnel),
        client_(client),
        origin_(origin),
        deadline_(services.deadlines, [this] { break_off(); }),
        ended_(services.executor) {}

  asio::awaitable<TunnelReport> run(const asio::any_io_executor& executor) {
    running_ = 2;
    const auto end = [this](const std::exception_ptr& failure) { end_direction(failure); };
    asio::co_spawn(executor, carry(origin_.socket(), client_.socket(), report_.to_client_bytes),
                   end);
    asio::co_spawn(executor, carry_to_origin(), end);
    while (running_ > 0) co_await ended_.wait();
    deadline_.clear();
    co_return report_;
  }

 private:
  asio::awaitable<void> carry_to_origin() {
    const auto ahead = client_.buffer().data();
    if (ahead.size() > 0) {
      deadline_.set_in(timeout_);
      auto [error, done] = co_await asio::async_write(origin_.socket(), ahead, kAwait);
      report_.to_origin_bytes += done;
      client_.buffer().consume(ahead.size());
      if (error) {
        break_off();
        co_return;
      }
    }
    co_await carry(client_.socket(), origin_.socket(), report_.to_origin_bytes);
  }

  asio::awaitable<void> carry(Socket& from, Socket& to, uint64_t& carried) {
    std::vector<std::byte> buffer(kBufferBytes);
    for (;;) {
      deadline_.set_in(timeout_);
      auto [read_error, size] = co_await from.async_read_some(asio::buffer(buffer), kAwait);
      if (read_error == asio::error::eof) {
        boost::system::error_code gone;  // Then the other direction notices as well.
        to.shutdown(Socket::shutdown_send, gone);
        co_return;
      }
      if (read_error) break;
      auto [write_error, written] =
          co_await asio::async_write(to, asio::buffer(buffer.data(), size), kAwait);
      carried += written;
      if (write_error) break;
    }
    break_off();
  }

  void end_direction(const std::exception_ptr& failure) {
    // Only want of memory can bring us here.
    if (failure) break_off();
    --running_;
    ended_.wake_all();
  }

  /// Ends both directions at once.
  void break_off() {
    boost::system::error_code ignored;  // They are thrown away whatever happens.
    client_.socket().close(ignored);
    origin_.socket().close(ignored);
  }

  std::chrono::nanoseconds timeout_;
  ClientConnection& client_;
  OriginConnection& origin_;
  Deadlines::Entry deadline_;
  Wakeup ended_;
  int running_ = 0;
  TunnelReport report_;
};

}  // namespace

asio::awaitable<TunnelReport> run_tunnel(Services& services, ClientConnection& client,
                                         OriginConnection& origin) {
  Tunnel tunnel(services, client, origin);
  co_return co_await tunnel.run(services.executor);
}

}  // namespace proxy
