#include "workload/client/transaction.h"

#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <functional>
#include <vector>

#include "tests/support/scripted_server.h"
#include "tests/unit/workload/object_replies.h"
#include "workload/model/origin_abort.h"

namespace workload {
namespace {

using testing_support::ObjectReply;
using testing_support::right_reply;
using testing_support::ScriptedReply;
using testing_support::ScriptedRequest;
using testing_support::ScriptedServer;
using Then = ScriptedReply::Then;

constexpr std::string_view kOther = "00000000000000ff";

ObjectSpec sample_object(uint64_t size_bytes = 10'000) {
  ObjectSpec object;
  object.seed = 7;
  object.id = 42;
  object.type = ContentType::kHtml;
  object.size_bytes = size_bytes;
  object.last_modified_unix_s = 1'600'000'000;
  object.lifetime_s = 3600;
  return object;
}

TransactionRequest sample_request(uint64_t size_bytes = 10'000) {
  TransactionRequest request;
  request.id = 0x123456789abcdef0;
  request.object = sample_object(size_bytes);
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

void leave(ObjectReply&) {}

TEST_F(TransactionTest, AMissIsGood) {
  serve_changed(leave);
  const TransactionResult result = run(sample_request());
  EXPECT_EQ(result.record.error, ErrorKind::kNone) << result.detail;
  EXPECT_EQ(result.record.outcome, Outcome::kMiss);
  EXPECT_EQ(result.status, 200);
  EXPECT_EQ(result.record.body_bytes, 10'000U);
  EXPECT_GT(result.record.received_bytes, 10'000U);
  EXPECT_TRUE(result.record.fill);
  EXPECT_TRUE(result.record.basic);
  EXPECT_TRUE(result.opened_connection);
  EXPECT_GT(result.record.response_time_ns, 0U);
  EXPECT_LE(result.record.first_byte_ns, result.record.response_time_ns);
}

TEST_F(TransactionTest, AnothersStampIsAHit) {
  serve_changed([](ObjectReply& reply) { reply.body_stamp = kOther; });
  const TransactionResult result = run(sample_request());
  EXPECT_EQ(result.record.error, ErrorKind::kNone) << result.detail;
  EXPECT_EQ(result.record.outcome, Outcome::kHit);
  EXPECT_FALSE(result.record.fill);
}

TEST_F(TransactionTest, AMergedValidationIsAValidatedHit) {
  serve([](const ScriptedRequest& request) {
    ObjectReply reply = right_reply(request);
    reply.body_stamp = kOther;
    reply.validation_stamp = request.field("X-Cacheoff-Transaction");
    return ScriptedReply{reply.text(), Then::kKeep};
  });
  EXPECT_EQ(run(sample_request()).record.outcome, Outcome::kValidated);
}

TEST_F(TransactionTest, AnEarlierMergedValidationIsAPlainHit) {
  serve_changed([](ObjectReply& reply) {
    reply.body_stamp = kOther;
    reply.validation_stamp = kOther;
  });
  EXPECT_EQ(run(sample_request()).record.outcome, Outcome::kHit);
}

TEST_F(TransactionTest, AResponseWithoutStampIsForeign) {
  serve_changed([](ObjectReply& reply) { reply.body_stamp.clear(); });
  const TransactionResult result = run(sample_request());
  EXPECT_EQ(result.record.error, ErrorKind::kProtocol);
  EXPECT_EQ(result.record.outcome, Outcome::kUnknown);
}

TEST_F(TransactionTest, ConditionalRequestsGetWhatTheyMust) {
  serve_changed(leave);
  TransactionRequest request = sample_request();
  request.kind = RequestKind::kIms304;
  TransactionResult result = run(request);
  EXPECT_EQ(result.record.error, ErrorKind::kNone) << result.detail;
  EXPECT_EQ(result.status, 304);
  EXPECT_EQ(result.record.outcome, Outcome::kMiss);
  EXPECT_FALSE(result.record.basic);
  request.kind = RequestKind::kIms200;
  result = run(request);
  EXPECT_EQ(result.record.error, ErrorKind::kNone) << result.detail;
  EXPECT_EQ(result.status, 200);
}

TEST_F(TransactionTest, ANotModifiedWithoutTheOriginsStampComesFromACache) {
  serve_changed([](ObjectReply& reply) { reply.validation_stamp.clear(); });
  TransactionRequest request = sample_request();
  request.kind = RequestKind::kIms304;
  EXPECT_EQ(run(request).record.outcome, Outcome::kHit);
}

TEST_F(TransactionTest, WrongStatusesAreErrors) {
  for (int status : {206, 302, 404, 500, 503}) {
    serve_changed([status](ObjectReply& reply) { reply.status = status; });
    EXPECT_EQ(error_of_get(), ErrorKind::kWrongStatus) << status;
  }
  serve_changed([](ObjectReply& reply) { reply.status = 200; });
  TransactionRequest request = sample_request();
  request.kind = RequestKind::kIms304;
  EXPECT_EQ(run(request).record.error, ErrorKind::kWrongStatus);
}

TEST_F(TransactionTest, HeadersThatContradictTheObjectAreErrors) {
  serve_changed([](ObjectReply& reply) { reply.etag = "\"other\""; });
  EXPECT_EQ(error_of_get(), ErrorKind::kProtocol);
  serve_changed([](ObjectReply& reply) { reply.last_modified = HttpDate(1'600'000'001).text(); });
  EXPECT_EQ(error_of_get(), ErrorKind::kProtocol);
  serve_changed([](ObjectReply& reply) { reply.body.pop_back(); });
  EXPECT_EQ(error_of_get(), ErrorKind::kProtocol);
  serve_changed([](ObjectReply& reply) {
    reply.etag.clear();
    reply.last_modified.clear();
  });
  EXPECT_EQ(error_of_get(), ErrorKind::kNone);
}

TEST_F(TransactionTest, FindsAWrongByteAtAnyOffset) {
  const std::vector<size_t> offsets{0, 1, 7, 8, 4095, 4096, 65'535, 65'536, 150'000, 199'999};
  for (bool chunked : {false, true}) {
    for (size_t offset : offsets) {
      serve_changed([offset, chunked](ObjectReply& reply) {
        reply.body[offset] = static_cast<char>(reply.body[offset] ^ 1);
        reply.chunked = chunked;
        reply.extra_fields = "Via: 1.1 some-cache\r\n";
      });
      const TransactionResult result = run(sample_request(200'000));
      EXPECT_EQ(result.record.error, ErrorKind::kWrongBody) << offset;
      EXPECT_NE(result.detail.find("byte " + std::to_string(offset) + " of 200000"),
                std::string::npos)
          << result.detail;
      EXPECT_NE(result.detail.find("some-cache"), std::string::npos);
    }
  }
}

TEST_F(TransactionTest, LengthVerificationCountsBytesOnly) {
  serve_changed([](ObjectReply& reply) { reply.body[5] = static_cast<char>(reply.body[5] ^ 1); });
  EXPECT_EQ(run(sample_request(), Verification::kLength).record.error, ErrorKind::kNone);
  serve_changed([](ObjectReply& reply) {
    reply.body += 'x';
    reply.chunked = true;
  });
  EXPECT_EQ(run(sample_request(), Verification::kLength).record.error, ErrorKind::kWrongBody);
}

TEST_F(TransactionTest, BytesBehindTheObjectAreWrong) {
  serve_changed([](ObjectReply& reply) {
    reply.body += 'x';
    reply.chunked = true;
  });
  EXPECT_EQ(error_of_get(), ErrorKind::kWrongBody);
}

TEST_F(TransactionTest, EveryTruncationIsFound) {
  for (auto then : {Then::kClose, Then::kReset}) {
    for (size_t missing : {1, 100, 9'999, 10'000}) {
      serve([missing, then](const ScriptedRequest& request) {
        const std::string whole = right_reply(request).text();
        return ScriptedReply{whole.substr(0, whole.size() - missing), then};
      });
      const ErrorKind error = error_of_get();
      // A reset may overtake what was sent before it.
      const bool reset_first = then == Then::kReset && error == ErrorKind::kReset;
      EXPECT_TRUE(error == ErrorKind::kTruncated || reset_first) << missing;
    }
  }
}

TEST_F(TransactionTest, ChunksWithoutTheirEndAreTruncated) {
  serve([](const ScriptedRequest& request) {
    ObjectReply reply = right_reply(request);
    reply.chunked = true;
    const std::string whole = reply.text();
    return ScriptedReply{whole.substr(0, whole.size() - 5), Then::kClose};
  });
  EXPECT_EQ(error_of_get(), ErrorKind::kTruncated);
}

TEST_F(TransactionTest, ABodyThatEndsWithTheConnectionIsCounted) {
  serve_changed([](ObjectReply& reply) { reply.with_length = false; }, Then::kClose);
  EXPECT_EQ(error_of_get(), ErrorKind::kNone);
  serve_changed(
      [](ObjectReply& reply) {
        reply.with_length = false;
        reply.body.resize(5000);
      },
      Then::kClose);
  EXPECT_EQ(error_of_get(), ErrorKind::kTruncated);
}

TEST_F(TransactionTest, AStallIsATimeout) {
  timeout_ = std::chrono::milliseconds(50);
  for (bool half : {false, true}) {
    serve([half](const ScriptedRequest& request) {
      const std::string whole = right_reply(request).text();
      return ScriptedReply{half ? whole.substr(0, whole.size() / 2) : "", Then::kStall};
    });
    const TransactionResult result = run(sample_request());
    EXPECT_EQ(result.record.error, ErrorKind::kTimeout);
    EXPECT_GE(result.record.response_time_ns, 50'000'000U);
    EXPECT_FALSE(client_->connected());
  }
}

TEST_F(TransactionTest, ATimeoutCountsFromEachRequest) {
  // Many quick exchanges on one connection, together longer than the time-out.
  timeout_ = std::chrono::seconds(1);
  serve_changed(leave);
  const auto begin = clock_.steady_now();
  while (clock_.steady_now() - begin < std::chrono::milliseconds(1500)) {
    ASSERT_EQ(error_of_get(), ErrorKind::kNone);
  }
}

TEST_F(TransactionTest, RefusedAndResetAreTold) {
  connect_to(testing_support::unused_port());
  EXPECT_EQ(error_of_get(), ErrorKind::kRefused);
  serve([](const ScriptedRequest&) { return ScriptedReply{"", Then::kClose}; });
  EXPECT_EQ(error_of_get(), ErrorKind::kReset);
}

TEST_F(TransactionTest, WhatIsNotHttpIsAProtocolError) {
  for (const char* bytes :
       {"SSH-2.0-OpenSSH\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        "HTTP/1.1 200 OK\r\n bad: folded\r\n\r\n"}) {
    serve([bytes](const ScriptedRequest&) { return ScriptedReply{bytes, Then::kClose}; });
    EXPECT_EQ(error_of_get(), ErrorKind::kProtocol) << bytes;
  }
  serve([](const ScriptedRequest&) {
    return ScriptedReply{"HTTP/1.1 200 OK\r\nX: " + std::string(100'000, 'x'), Then::kStall};
  });
  EXPECT_EQ(error_of_get(), ErrorKind::kProtocol);
}

TEST_F(TransactionTest, BytesBehindTheResponseAreAProtocolError) {
  serve([](const ScriptedRequest& request) {
    return ScriptedReply{right_reply(request).text() + "extra", Then::kKeep};
  });
  EXPECT_EQ(error_of_get(), ErrorKind::kProtocol);
}

TEST_F(TransactionTest, InterimResponsesAreSkippedWithinReason) {
  const std::string interim = "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n";
  serve([&](const ScriptedRequest& request) {
    return ScriptedReply{interim + interim + right_reply(request).text(), Then::kKeep};
  });
  EXPECT_EQ(error_of_get(), ErrorKind::kNone);
  serve([&](const ScriptedRequest& request) {
    std::string bytes;
    for (int i = 0; i < 100; ++i) bytes += interim;
    return ScriptedReply{bytes + right_reply(request).text(), Then::kKeep};
  });
  EXPECT_EQ(error_of_get(), ErrorKind::kProtocol);
}

TEST_F(TransactionTest, CachesMayNotAnswerEverything) {
  serve_changed([](ObjectReply& reply) { reply.body_stamp = kOther; });
  TransactionRequest request = sample_request();
  request.object.cachable = false;
  EXPECT_EQ(run(request).record.error, ErrorKind::kStale);
  request = sample_request();
  request.method = RequestMethod::kPost;
  EXPECT_EQ(run(request).record.error, ErrorKind::kStale);
}

TEST_F(TransactionTest, AHitPastItsLifetimeIsStaleUnlessValidated) {
  const auto age = [this](int64_t age_s) {
    return std::chrono::duration_cast<std::chrono::seconds>(clock_.wall_now().time_since_epoch())
               .count() -
           age_s;
  };
  const auto aged = [&](int64_t age_s) {
    return [date = age(age_s)](ObjectReply& reply) {
      reply.body_stamp = kOther;
      reply.date = HttpDate(date).text();
    };
  };
  serve_changed(aged(3000));
  EXPECT_EQ(error_of_get(), ErrorKind::kNone);
  serve_changed(aged(4000));
  EXPECT_EQ(error_of_get(), ErrorKind::kStale);
  serve([date = age(4000)](const ScriptedRequest& request) {
    ObjectReply reply = right_reply(request);
    reply.body_stamp = kOther;
    reply.validation_stamp = request.field("X-Cacheoff-Transaction");
    reply.date = HttpDate(date).text();
    return ScriptedReply{reply.text(), Then::kKeep};
  });
  EXPECT_EQ(error_of_get(), ErrorKind::kNone);
}

TEST_F(TransactionTest, RequestsSayWhatTheyAre) {
  std::vector<ScriptedRequest> seen;
  serve([&seen](const ScriptedRequest& request) {
    seen.push_back(request);
    return ScriptedReply{right_reply(request).text(request.method == "HEAD"), Then::kKeep};
  });
  TransactionRequest request = sample_request();
  EXPECT_EQ(run(request).record.error, ErrorKind::kNone);
  request.kind = RequestKind::kReload;
  EXPECT_EQ(run(request).record.error, ErrorKind::kNone);
  request.kind = RequestKind::kBasic;
  request.method = RequestMethod::kHead;
  EXPECT_EQ(run(request).record.error, ErrorKind::kNone);
  request.method = RequestMethod::kPost;
  request.request_body_bytes = 5000;
  EXPECT_EQ(run(request).record.error, ErrorKind::kNone);
  request.method = RequestMethod::kGet;
  request.last_on_connection = true;
  EXPECT_EQ(run(request).record.error, ErrorKind::kNone);
  EXPECT_FALSE(client_->connected());
  ASSERT_EQ(seen.size(), 5U);
  EXPECT_EQ(seen[0].target, "http://origin.test:80" + object_path(request.object));
  EXPECT_EQ(seen[0].field("Host"), "origin.test:80");
  EXPECT_EQ(seen[0].field("X-Cacheoff-Transaction"), "123456789abcdef0");
  EXPECT_EQ(seen[1].field("Cache-Control"), "no-cache");
  EXPECT_EQ(seen[1].field("Pragma"), "no-cache");
  EXPECT_EQ(seen[2].method, "HEAD");
  EXPECT_EQ(seen[3].method, "POST");
  EXPECT_EQ(seen[3].body.size(), 5000U);
  EXPECT_EQ(seen[4].field("Connection"), "close");
  EXPECT_EQ(server_->connections(), 1U);
}

TEST_F(TransactionTest, AnIdleConnectionThatWasClosedIsReplaced) {
  serve_changed(leave, Then::kClose);  // Says nothing of closing.
  EXPECT_EQ(error_of_get(), ErrorKind::kNone);
  EXPECT_TRUE(client_->connected());
  const TransactionResult result = run(sample_request());
  EXPECT_EQ(result.record.error, ErrorKind::kNone) << result.detail;
  EXPECT_EQ(result.retries, 1U);
  EXPECT_EQ(server_->connections(), 2U);
}

TEST_F(TransactionTest, AConnectionThatThePeerWillCloseIsNotKept) {
  serve_changed([](ObjectReply& reply) { reply.extra_fields = "Connection: close\r\n"; },
                Then::kClose);
  EXPECT_EQ(error_of_get(), ErrorKind::kNone);
  EXPECT_FALSE(client_->connected());
}

TransactionRequest range_request(uint64_t offset_bytes, uint64_t size_bytes) {
  TransactionRequest request = sample_request();
  request.kind = RequestKind::kRange;
  request.part = {offset_bytes, size_bytes};
  return request;
}

TEST_F(TransactionTest, ARangeGetsExactlyItsBytes) {
  std::vector<ScriptedRequest> seen;
  serve([&seen](const ScriptedRequest& request) {
    seen.push_back(request);
    ObjectReply reply = right_reply(request);
    reply.status = 206;
    reply.body = reply.body.substr(1001, 2000);
    reply.extra_fields = "Content-Range: bytes 1001-3000/10000\r\n";
    return ScriptedReply{reply.text(), Then::kKeep};
  });
  const TransactionResult result = run(range_request(1001, 2000));
  EXPECT_EQ(result.record.error, ErrorKind::kNone) << result.detail;
  EXPECT_EQ(result.record.body_bytes, 2000U);
  EXPECT_TRUE(result.record.range);
  EXPECT_FALSE(result.record.basic);
  EXPECT_FALSE(result.record.answered_whole);
  EXPECT_FALSE(result.record.fill);
  EXPECT_EQ(seen.at(0).field("Range"), "bytes=1001-3000");
  // The bytes next to it are another range's.
  EXPECT_EQ(run(range_request(1000, 2000)).record.error, ErrorKind::kProtocol);
}

TEST_F(TransactionTest, ARangeWithBytesOfAnotherPlaceIsAWrongBody) {
  serve([](const ScriptedRequest& request) {
    ObjectReply reply = right_reply(request);
    reply.status = 206;
    reply.body = reply.body.substr(1000, 2000);
    reply.extra_fields = "Content-Range: bytes 1001-3000/10000\r\n";
    return ScriptedReply{reply.text(), Then::kKeep};
  });
  const TransactionResult result = run(range_request(1001, 2000));
  EXPECT_EQ(result.record.error, ErrorKind::kWrongBody);
  EXPECT_NE(result.detail.find("byte 1001 of 10000"), std::string::npos) << result.detail;
}

TEST_F(TransactionTest, ARangeThatIsTooLongOrTooShortIsAnError) {
  for (const bool chunked : {false, true}) {
    for (const size_t length : {size_t{1999}, size_t{2001}}) {
      serve([=](const ScriptedRequest& request) {
        ObjectReply reply = right_reply(request);
        reply.status = 206;
        reply.body = reply.body.substr(1001, length);
        reply.chunked = chunked;
        reply.extra_fields = "Content-Range: bytes 1001-3000/10000\r\n";
        return ScriptedReply{reply.text(), Then::kKeep};
      });
      const ErrorKind error = run(range_request(1001, 2000)).record.error;
      const ErrorKind of_chunks = length < 2000 ? ErrorKind::kTruncated : ErrorKind::kWrongBody;
      EXPECT_EQ(error, chunked ? of_chunks : ErrorKind::kProtocol) << length;
    }
  }
}

TEST_F(TransactionTest, AnIgnoredRangeIsCountedApart) {
  serve_changed(leave);
  const TransactionResult result = run(range_request(1001, 2000));
  EXPECT_EQ(result.record.error, ErrorKind::kNone) << result.detail;
  EXPECT_EQ(result.record.body_bytes, 10'000U);
  EXPECT_TRUE(result.record.answered_whole);
}

TEST_F(TransactionTest, EntityTagsGetWhatTheyMust) {
  std::vector<ScriptedRequest> seen;
  serve([&seen](const ScriptedRequest& request) {
    seen.push_back(request);
    ObjectReply reply = right_reply(request);
    if (request.field("If-None-Match") == reply.etag) {
      reply.status = 304;
      reply.body_stamp.clear();
      reply.validation_stamp = request.field("X-Cacheoff-Transaction");
    }
    return ScriptedReply{reply.text(), Then::kKeep};
  });
  TransactionRequest request = sample_request();
  request.kind = RequestKind::kEtag304;
  TransactionResult result = run(request);
  EXPECT_EQ(result.record.error, ErrorKind::kNone) << result.detail;
  EXPECT_EQ(result.status, 304);
  request.kind = RequestKind::kEtag200;
  result = run(request);
  EXPECT_EQ(result.record.error, ErrorKind::kNone) << result.detail;
  EXPECT_EQ(result.status, 200);
  EXPECT_EQ(result.record.body_bytes, 10'000U);
  EXPECT_EQ(seen.at(0).field("If-None-Match"), object_etag(request.object));
  EXPECT_EQ(seen.at(1).field("If-None-Match"), outdated_etag(request.object));
}

TEST_F(TransactionTest, TheWrongAnswerToAnEntityTagIsAnError) {
  serve_changed(leave);
  TransactionRequest request = sample_request();
  request.kind = RequestKind::kEtag304;
  EXPECT_EQ(run(request).record.error, ErrorKind::kWrongStatus);
  serve_changed([](ObjectReply& reply) { reply.status = 304; });
  request.kind = RequestKind::kEtag200;
  EXPECT_EQ(run(request).record.error, ErrorKind::kWrongStatus);
}

TEST_F(TransactionTest, ARobotGoesAwayAsToldAndThatIsNoError) {
  serve_changed(leave);
  for (const uint64_t after : {uint64_t{0}, uint64_t{1}, uint64_t{199'999}}) {
    TransactionRequest request = sample_request(200'000);
    request.abort_after_bytes = after;
    const TransactionResult result = run(request);
    EXPECT_EQ(result.record.error, ErrorKind::kNone) << result.detail;
    EXPECT_EQ(result.record.ending, Ending::kAborted) << after;
    EXPECT_EQ(result.record.outcome, Outcome::kMiss);
    EXPECT_FALSE(result.record.basic);
    EXPECT_FALSE(result.record.fill);
    EXPECT_GE(result.record.body_bytes, after);
    EXPECT_FALSE(client_->connected());
  }
  EXPECT_EQ(error_of_get(), ErrorKind::kNone);
}

TEST_F(TransactionTest, WhatComesBeforeARobotGoesAwayIsJudged) {
  serve_changed([](ObjectReply& reply) { reply.body[5] = static_cast<char>(reply.body[5] ^ 1); });
  TransactionRequest request = sample_request();
  request.abort_after_bytes = 9000;
  EXPECT_EQ(run(request).record.error, ErrorKind::kWrongBody);
}

/// Half of the right reply, then an end.
ScriptedReply half_reply(const ScriptedRequest& request, const std::string& made_for = {}) {
  ObjectReply reply = right_reply(request);
  if (!made_for.empty()) reply.body_stamp = made_for;
  const std::string whole = reply.text();
  return ScriptedReply{whole.substr(0, whole.size() - 5000), Then::kClose};
}

TEST_F(TransactionTest, AnEndThatTheOriginWasAskedForIsNoError) {
  std::vector<ScriptedRequest> seen;
  serve([&seen](const ScriptedRequest& request) {
    seen.push_back(request);
    return half_reply(request);
  });
  TransactionRequest request = sample_request();
  request.break_off = 12'345;
  const TransactionResult result = run(request);
  EXPECT_EQ(result.record.error, ErrorKind::kNone) << result.detail;
  EXPECT_EQ(result.record.ending, Ending::kCut);
  EXPECT_FALSE(result.record.fill);
  EXPECT_EQ(seen.at(0).field("X-Cacheoff-Break-Off"), "12345");
  EXPECT_EQ(error_of_get(), ErrorKind::kTruncated);
  EXPECT_EQ(seen.at(1).field("X-Cacheoff-Break-Off"), "");
}

TEST_F(TransactionTest, AnEndThatDidNotComeIsAnError) {
  serve_changed(leave);
  TransactionRequest request = sample_request();
  request.break_off = 12'345;
  EXPECT_EQ(run(request).record.error, ErrorKind::kProtocol);
  // From a cache it must be whole.
  serve_changed([](ObjectReply& reply) { reply.body_stamp = kOther; });
  EXPECT_EQ(run(request).record.error, ErrorKind::kNone);
}

TEST_F(TransactionTest, AProxyMaySayThatTheOriginBrokeOff) {
  serve_changed([](ObjectReply& reply) {
    reply.status = 502;
    reply.body = "sorry";
    reply.body_stamp.clear();
    reply.etag.clear();
  });
  EXPECT_EQ(error_of_get(), ErrorKind::kWrongStatus);
  TransactionRequest request = sample_request();
  // To one who waited for a response that was broken off for another.
  TransactionsUnderWay sharing(1);
  sharing.begin(clock_.steady_now(), request.object.id + 1);
  under_way_ = &sharing;
  EXPECT_EQ(run(request).record.error, ErrorKind::kWrongStatus);
  sharing.begin(clock_.steady_now(), request.object.id);
  EXPECT_EQ(run(request).record.ending, Ending::kCut);
  under_way_ = nullptr;
  request.break_off = 12'345;
  const TransactionResult result = run(request);
  EXPECT_EQ(result.record.error, ErrorKind::kNone) << result.detail;
  EXPECT_EQ(result.record.ending, Ending::kCut);
}

TEST_F(TransactionTest, OnlyThoseWhoSharedABrokenOffResponseMayGetIt) {
  constexpr uint64_t kCut = 0x1234;
  serve([](const ScriptedRequest& each) { return half_reply(each, "0000000000001234"); });
  TransactionRequest request = sample_request();
  request.id = kCut + 1;
  TransactionsUnderWay sharing(kCut);
  sharing.begin(clock_.steady_now(), request.object.id);
  under_way_ = &sharing;
  TransactionResult result = run(request);
  EXPECT_EQ(result.record.error, ErrorKind::kNone) << result.detail;
  EXPECT_EQ(result.record.ending, Ending::kCut);
  EXPECT_TRUE(result.record.shared);
  // One that was not to be broken off has no reason to end early.
  TransactionsUnderWay whole(kCut);
  whole.begin(clock_.steady_now(), std::nullopt);
  under_way_ = &whole;
  EXPECT_EQ(run(request).record.error, ErrorKind::kTruncated);
  // Long after its end it can only have been stored.
  TransactionsUnderWay later(kCut);
  later.begin(clock_.steady_now() - std::chrono::seconds(3), request.object.id);
  later.end(kCut, clock_.steady_now() - std::chrono::seconds(2));
  under_way_ = &later;
  EXPECT_EQ(run(request).record.error, ErrorKind::kTruncated);
  // And so can one that nobody here asked for.
  under_way_ = nullptr;
  EXPECT_EQ(run(request).record.error, ErrorKind::kTruncated);
}

}  // namespace
}  // namespace workload
