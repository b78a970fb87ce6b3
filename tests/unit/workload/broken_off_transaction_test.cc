// Ends that are meant, by robots and by the origin, and those that are not.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "tests/unit/workload/transaction_under_test.h"

namespace workload {
namespace {

class BrokenOffTransactionTest : public TransactionTest {};

TEST_F(BrokenOffTransactionTest, ARobotGoesAwayAsToldAndThatIsNoError) {
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

TEST_F(BrokenOffTransactionTest, WhatComesBeforeARobotGoesAwayIsJudged) {
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

TEST_F(BrokenOffTransactionTest, AnEndThatTheOriginWasAskedForIsNoError) {
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

TEST_F(BrokenOffTransactionTest, AnEndThatDidNotComeIsAnError) {
  serve_changed(leave);
  TransactionRequest request = sample_request();
  request.break_off = 12'345;
  EXPECT_EQ(run(request).record.error, ErrorKind::kProtocol);
  // From a cache it must be whole.
  serve_changed([](ObjectReply& reply) { reply.body_stamp = kOther; });
  EXPECT_EQ(run(request).record.error, ErrorKind::kNone);
}

TEST_F(BrokenOffTransactionTest, AProxyMaySayThatTheOriginBrokeOff) {
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

TEST_F(BrokenOffTransactionTest, OnlyThoseWhoSharedABrokenOffResponseMayGetIt) {
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
