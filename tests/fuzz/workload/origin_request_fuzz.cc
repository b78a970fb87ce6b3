#include <boost/asio/buffer.hpp>
#include <boost/beast/http/error.hpp>
#include <string>

#include "tests/fuzz/workload/targets.h"
#include "workload/origin/origin_request.h"
#include "workload/origin/origin_response.h"

namespace testing_support {
namespace {

void run(std::string_view input) {
  workload::OriginRequest request;
  workload::OriginRequestParser parser(request, 1 << 20);
  boost::beast::error_code error;
  // Chunks are left out: whoever feeds the parser must hold back short ends of them.
  parser.put(boost::asio::buffer(input.data(), input.size()), error);
  if (!parser.is_header_done()) return;
  workload::OriginContext context;
  context.now_unix_s = 1'700'000'000;
  workload::OriginResponse response;
  workload::answer_request(request, context, response);
  require(response.status >= 200 && response.status < 600, "a response has a status");
  require(response.head.find("\r\n\r\n") != std::string::npos, "a head is complete");
  require(response.body_offset_bytes + response.body_size_bytes <= response.object.size_bytes,
          "a body is a part of its object");
}

}  // namespace

FuzzTarget origin_request_target() {
  return {"origin_request",
          run,
          {"GET /object/html/7-10100-2af8-6553f100-15180-6985f39aec7288ad-c.html HTTP/1.1\r\n"
           "Host: a\r\nRange: bytes=100-199\r\nX-Cacheoff-Transaction: 0123456789abcdef\r\n"
           "X-Cacheoff-Break-Off: 32768\r\n\r\n",
           "HEAD http://a:80/object/html/7-10100-2af8-6553f100-15180-6985f39aec7288ad-c.html "
           "HTTP/1.0\r\nIf-None-Match: \"0\", W/\"1\", *\r\n\r\n",
           "POST /object/html/7-10100-2af8-6553f100-15180-6985f39aec7288ad-c.html HTTP/1.1\r\n"
           "Host: a\r\nContent-Length: 3\r\nIf-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT\r\n"
           "If-Range: \"x\"\r\nRange: bytes=-5\r\n\r\nabc"}};
}

}  // namespace testing_support
