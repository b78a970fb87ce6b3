#include "workload/client/transaction.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "tests/unit/workload/transaction_under_test.h"

namespace workload {
namespace {

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

TEST_F(TransactionTest, ANotModifiedWithoutStampOfAnUncachableObjectIsTheOrigins) {
  serve_changed([](ObjectReply& reply) { reply.validation_stamp.clear(); });
  TransactionRequest request = sample_request();
  request.object.cachable = false;
  request.kind = RequestKind::kIms304;
  const TransactionResult result = run(request);
  EXPECT_EQ(result.record.error, ErrorKind::kNone) << result.detail;
  EXPECT_EQ(result.record.outcome, Outcome::kMiss);
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

}  // namespace
}  // namespace workload
