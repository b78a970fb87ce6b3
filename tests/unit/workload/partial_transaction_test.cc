// Ranges and entity tags: what they must get, and what is an error.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "tests/unit/workload/transaction_under_test.h"

namespace workload {
namespace {

class PartialTransactionTest : public TransactionTest {};

TransactionRequest range_request(uint64_t offset_bytes, uint64_t size_bytes) {
  TransactionRequest request = sample_request();
  request.kind = RequestKind::kRange;
  request.part = {offset_bytes, size_bytes};
  return request;
}

TEST_F(PartialTransactionTest, ARangeGetsExactlyItsBytes) {
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

TEST_F(PartialTransactionTest, ARangeWithBytesOfAnotherPlaceIsAWrongBody) {
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

TEST_F(PartialTransactionTest, ARangeThatIsTooLongOrTooShortIsAnError) {
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

TEST_F(PartialTransactionTest, AnIgnoredRangeIsCountedApart) {
  serve_changed(leave);
  const TransactionResult result = run(range_request(1001, 2000));
  EXPECT_EQ(result.record.error, ErrorKind::kNone) << result.detail;
  EXPECT_EQ(result.record.body_bytes, 10'000U);
  EXPECT_TRUE(result.record.answered_whole);
}

TEST_F(PartialTransactionTest, EntityTagsGetWhatTheyMust) {
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

TEST_F(PartialTransactionTest, TheWrongAnswerToAnEntityTagIsAnError) {
  serve_changed(leave);
  TransactionRequest request = sample_request();
  request.kind = RequestKind::kEtag304;
  EXPECT_EQ(run(request).record.error, ErrorKind::kWrongStatus);
  serve_changed([](ObjectReply& reply) { reply.status = 304; });
  request.kind = RequestKind::kEtag200;
  EXPECT_EQ(run(request).record.error, ErrorKind::kWrongStatus);
}

}  // namespace
}  // namespace workload
