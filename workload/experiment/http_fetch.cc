#include "workload/experiment/http_fetch.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <functional>
#include <utility>

#include "workload/experiment/static_page.h"

namespace workload {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;

constexpr uint64_t kBodyBytesMax = 16ULL << 20;

using Request = http::request<http::empty_body>;

Expected<std::string> fetch_body(const storage::HostPort& server, Request request,
                                 uint64_t body_bytes_max, std::chrono::milliseconds wait_max) {
  boost::system::error_code failure;
  const auto address = asio::ip::make_address(server.host, failure);
  if (failure) return run_problem("'" + server.host + "' is not an IP address");
  asio::io_context io(1);
  beast::tcp_stream stream(io);
  stream.expires_after(wait_max);
  request.set(http::field::host, server.text());
  request.set(http::field::connection, "close");
  http::response_parser<http::string_body> response;
  response.body_limit(body_bytes_max);
  beast::flat_buffer buffer;
  // Asynchronous steps, because only these obey the stream's time-out.
  stream.async_connect(asio::ip::tcp::endpoint(address, server.port), [&](auto connect_failure) {
    failure = connect_failure;
    if (failure) return;
    http::async_write(stream, request, [&](auto write_failure, size_t) {
      failure = write_failure;
      if (failure) return;
      http::async_read(stream, buffer, response,
                       [&](auto read_failure, size_t) { failure = read_failure; });
    });
  });
  io.run();
  const std::string url = "http://" + server.text() + std::string(request.target());
  if (failure) return run_problem("can't fetch " + url + ": " + failure.message());
  if (response.get().result() != http::status::ok) {
    return run_problem(url + " answered " + std::to_string(response.get().result_int()));
  }
  return std::move(response.get().body());
}

}  // namespace

Expected<std::string> fetch_page(const storage::HostPort& server, const std::string& path,
                                 std::chrono::milliseconds wait_max) {
  return fetch_body(server, Request(http::verb::get, path, 11), kBodyBytesMax, wait_max);
}

Expected<std::string> fetch_page_with_gzip(const storage::HostPort& server, const std::string& path,
                                           std::chrono::milliseconds wait_max) {
  Request request(http::verb::get, path, 10);
  request.set(http::field::accept_encoding, "gzip");
  // It may come as it is.
  return fetch_body(server, std::move(request), kStaticPageBytesMax + 1, wait_max);
}

}  // namespace workload
