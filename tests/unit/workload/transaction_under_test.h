// One client and one transaction at a time against a scripted server: what the tests of
// transactions share.
#pragma once

#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <string_view>
#include <utility>

#include "tests/support/scripted_server.h"
#include "tests/unit/workload/object_replies.h"
#include "workload/client/transaction.h"

namespace workload {

using testing_support::ObjectReply;
using testing_support::right_reply;
using testing_support::ScriptedReply;
using testing_support::ScriptedRequest;
using testing_support::ScriptedServer;
using Then = ScriptedReply::Then;

/// A stamp that no transaction of these tests has.
inline constexpr std::string_view kOther = "00000000000000ff";

inline ObjectSpec requested_object(uint64_t size_bytes = 10'000) {
  ObjectSpec object;
  object.seed = 7;
  object.id = 42;
  object.type = ContentType::kHtml;
  object.size_bytes = size_bytes;
  object.last_modified_unix_s = 1'600'000'000;
  object.lifetime_s = 3600;
  return object;
}

inline TransactionRequest sample_request(uint64_t size_bytes = 10'000) {
  TransactionRequest request;
  request.id = 0x123456789abcdef0;
  request.object = requested_object(size_bytes);
  return request;
}

/// A client against a server.
class TransactionTest : public testing::Test {
 protected:
  void serve(ScriptedServer::Script script) {
    server_ = std::make_unique<ScriptedServer>(std::move(script));
    connect_to(server_->port());
  }

  /// Each reply is the right one, changed by `change`.
  void serve_changed(std::function<void(ObjectReply&)> change, Then then = Then::kKeep) {
    serve([change, then](const ScriptedRequest& request) {
      ObjectReply reply = right_reply(request);
      change(reply);
      return ScriptedReply{reply.text(request.method == "HEAD"), then};
    });
  }

  void connect_to(uint16_t port) {
    HttpClientOptions options;
    options.peer = {boost::asio::ip::address_v4::loopback(), port};
    options.timeout = timeout_;
    client_ = std::make_unique<HttpClient>(io_.get_executor(), clock_, options);
  }

  TransactionResult run(const TransactionRequest& request,
                        Verification verification = Verification::kBytes) {
    Transactor transactor({"origin.test:80", true}, verification, clock_, under_way_);
    TransactionResult result;
    bool ended = false;
    boost::asio::co_spawn(io_, transactor.run(*client_, request, clock_.steady_now(), result),
                          [&ended](std::exception_ptr failure) {
                            EXPECT_FALSE(failure);
                            ended = true;
                          });
    io_.restart();
    while (!ended) io_.run_one();
    return result;
  }

  /// The error of one plain GET.
  ErrorKind error_of_get() { return run(sample_request()).record.error; }

  std::chrono::nanoseconds timeout_ = std::chrono::seconds(60);
  const TransactionsUnderWay* under_way_ = nullptr;
  storage::SystemClock clock_;
  boost::asio::io_context io_;
  std::unique_ptr<ScriptedServer> server_;
  std::unique_ptr<HttpClient> client_;
};

/// Changes nothing.
inline void leave(ObjectReply&) {}

}  // namespace workload
