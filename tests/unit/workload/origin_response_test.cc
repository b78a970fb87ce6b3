#include "workload/origin/origin_response.h"

#include <gtest/gtest.h>

#include <string>

#include "workload/model/http_date.h"

namespace workload {
namespace {

constexpr int64_t kNow = 1704067200;  // 2024-01-01 00:00:00 UTC

ObjectSpec html_object() {
  return {7, 9, ContentType::kHtml, 10000, true, 1700000000, 86400};
}

OriginRequest request_for(const ObjectSpec& object) {
  OriginRequest request;
  request.method = OriginRequest::Method::kGet;
  request.target = object_path(object);
  request.http_1_1 = true;
  request.transaction = 0xabc;
  return request;
}

OriginResponse answer_to(const OriginRequest& request, const OriginContext& context = {kNow}) {
  OriginResponse response;
  answer_request(request, context, response);
  return response;
}

/// The value of a header field; `(none)` where it is absent.
std::string field(const OriginResponse& response, const std::string& name) {
  const auto at = response.head.find("\r\n" + name + ": ");
  if (at == std::string::npos) return "(none)";
  const auto begin = at + name.size() + 4;
  return response.head.substr(begin, response.head.find("\r\n", begin) - begin);
}

TEST(OriginResponse, CarriesEverythingThatAnObjectSays) {
  const auto object = html_object();
  const auto response = answer_to(request_for(object));
  EXPECT_EQ(response.status, 200u);
  EXPECT_TRUE(response.head.starts_with("HTTP/1.1 200 OK\r\n"));
  EXPECT_TRUE(response.head.ends_with("\r\n\r\n"));
  EXPECT_EQ(field(response, "Date"), "Mon, 01 Jan 2024 00:00:00 GMT");
  EXPECT_EQ(field(response, "Expires"), "Tue, 02 Jan 2024 00:00:00 GMT");
  EXPECT_EQ(field(response, "Cache-Control"), "public, max-age=86400");
  EXPECT_EQ(field(response, "Last-Modified"), HttpDate(1700000000).text());
  EXPECT_EQ(field(response, "ETag"), object_etag(object));
  EXPECT_EQ(field(response, "Content-Type"), "text/html");
  EXPECT_EQ(field(response, "Content-Length"), "10000");
  EXPECT_EQ(field(response, "X-Cacheoff-Body-For"), "0000000000000abc");
  EXPECT_EQ(field(response, "X-Cacheoff-Validated-For"), "(none)");
  EXPECT_EQ(field(response, "Connection"), "keep-alive");
  EXPECT_EQ(response.object, object);
  EXPECT_EQ(response.body_size_bytes, 10000u);
}

TEST(OriginResponse, UncachableObjectsSaySo) {
  auto object = html_object();
  object.cachable = false;
  const auto response = answer_to(request_for(object));
  EXPECT_EQ(field(response, "Cache-Control"), "private, no-cache");
  EXPECT_EQ(field(response, "Expires"), "(none)");
}

TEST(OriginResponse, HeadHasTheHeadOfGetAndNoBody) {
  auto request = request_for(html_object());
  const auto get = answer_to(request);
  request.method = OriginRequest::Method::kHead;
  const auto head = answer_to(request);
  EXPECT_EQ(head.head, get.head);
  EXPECT_EQ(head.body_size_bytes, 0u);
}

TEST(OriginResponse, ModificationDateDecidesAConditionalRequest) {
  auto request = request_for(html_object());
  request.if_modified_since = HttpDate(1700000000 - 1).text();
  EXPECT_EQ(answer_to(request).status, 200u);
  for (const int later : {0, 1}) {
    request.if_modified_since = HttpDate(1700000000 + later).text();
    const auto response = answer_to(request);
    EXPECT_EQ(response.status, 304u);
    EXPECT_EQ(response.body_size_bytes, 0u);
    EXPECT_EQ(field(response, "X-Cacheoff-Validated-For"), "0000000000000abc");
    EXPECT_EQ(field(response, "X-Cacheoff-Body-For"), "(none)");
    EXPECT_EQ(field(response, "Cache-Control"), "public, max-age=86400");
    EXPECT_EQ(field(response, "Content-Length"), "(none)");
  }
  request.if_modified_since = "yesterday";
  EXPECT_EQ(answer_to(request).status, 200u);
}

TEST(OriginResponse, EntityTagsGoBeforeDates) {
  const auto object = html_object();
  auto request = request_for(object);
  const std::string tag = object_etag(object);
  for (const auto& list :
       {tag, "W/" + tag, "\"x\", " + tag, std::string("*"), "\"a,b\" ,," + tag}) {
    request.if_none_match = list;
    EXPECT_EQ(answer_to(request).status, 304u) << list;
  }
  request.if_modified_since = HttpDate(1700000001).text();
  for (const auto& list : {std::string("\"x\""), tag.substr(0, 5), tag.substr(1), "\"x" + tag}) {
    request.if_none_match = list;
    EXPECT_EQ(answer_to(request).status, 200u) << list;
  }
}

struct RangeCase {
  const char* range;
  unsigned status;
  uint64_t offset;
  uint64_t length;
  const char* content_range;
};

TEST(OriginResponse, Ranges) {
  const RangeCase cases[]{{"bytes=0-0", 206, 0, 1, "bytes 0-0/10000"},
                          {"bytes=10-19", 206, 10, 10, "bytes 10-19/10000"},
                          {"BYTES=9999-", 206, 9999, 1, "bytes 9999-9999/10000"},
                          {"bytes=-1", 206, 9999, 1, "bytes 9999-9999/10000"},
                          {"bytes=-20000", 206, 0, 10000, "bytes 0-9999/10000"},
                          {"bytes=5-99999999999999999999999", 206, 5, 9995, "bytes 5-9999/10000"},
                          {"bytes=-99999999999999999999999", 206, 0, 10000, "bytes 0-9999/10000"},
                          {"bytes=10000-", 416, 0, 0, "bytes */10000"},
                          {"bytes=99999999999999999999999-", 416, 0, 0, "bytes */10000"},
                          {"bytes=-0", 416, 0, 0, "bytes */10000"},
                          {"bytes=5-2", 200, 0, 10000, "(none)"},
                          {"bytes=0-1,5-6", 200, 0, 10000, "(none)"},
                          {"bytes=", 200, 0, 10000, "(none)"},
                          {"bytes=-", 200, 0, 10000, "(none)"},
                          {"bytes=a-b", 200, 0, 10000, "(none)"},
                          {"bytes=+1-2", 200, 0, 10000, "(none)"},
                          {"lines=0-1", 200, 0, 10000, "(none)"}};
  for (const auto& each : cases) {
    auto request = request_for(html_object());
    request.range = each.range;
    const auto response = answer_to(request);
    EXPECT_EQ(response.status, each.status) << each.range;
    EXPECT_EQ(response.body_offset_bytes, each.offset) << each.range;
    EXPECT_EQ(response.body_size_bytes, each.length) << each.range;
    EXPECT_EQ(field(response, "Content-Range"), each.content_range) << each.range;
    EXPECT_EQ(field(response, "Content-Length"), std::to_string(each.length)) << each.range;
    if (each.status != 416) {
      EXPECT_EQ(field(response, "X-Cacheoff-Body-For"), "0000000000000abc");
    }
  }
}

TEST(OriginResponse, RangeOfAnEmptyObjectIsUnsatisfiable) {
  auto object = html_object();
  object.size_bytes = 0;
  auto request = request_for(object);
  EXPECT_EQ(field(answer_to(request), "Content-Length"), "0");
  for (const char* range : {"bytes=0-", "bytes=-5", "bytes=0-0"}) {
    request.range = range;
    EXPECT_EQ(answer_to(request).status, 416u) << range;
  }
}

TEST(OriginResponse, IfRangeGuardsTheRange) {
  const auto object = html_object();
  auto request = request_for(object);
  request.range = "bytes=0-0";
  for (const auto& [guard, status] : {std::pair(object_etag(object), 206u),
                                      {"W/" + object_etag(object), 200u},
                                      {std::string("\"x\""), 200u},
                                      {std::string(HttpDate(1700000000).text()), 206u},
                                      {std::string(HttpDate(1700000001).text()), 200u}}) {
    request.if_range = guard;
    EXPECT_EQ(answer_to(request).status, status) << guard;
  }
}

TEST(OriginResponse, PostIsAnsweredWithTheObjectThatNoCacheMayKeep) {
  auto request = request_for(html_object());
  request.method = OriginRequest::Method::kPost;
  request.if_none_match = "*";
  request.range = "bytes=0-0";
  const auto response = answer_to(request);
  EXPECT_EQ(response.status, 200u);
  EXPECT_EQ(response.body_size_bytes, 10000u);
  EXPECT_EQ(field(response, "Cache-Control"), "private, no-cache");
  EXPECT_EQ(field(response, "X-Cacheoff-Body-For"), "0000000000000abc");
  request.method = OriginRequest::Method::kPut;
  EXPECT_EQ(answer_to(request).status, 204u);
}

TEST(OriginResponse, OthersAreRefused) {
  auto request = request_for(html_object());
  request.method = OriginRequest::Method::kOther;
  EXPECT_EQ(answer_to(request).status, 405u);
  EXPECT_NE(field(answer_to(request), "Allow"), "(none)");
  request.method = OriginRequest::Method::kGet;
  request.target[10] ^= 1;
  const auto missing = answer_to(request);
  EXPECT_EQ(missing.status, 404u);
  EXPECT_EQ(missing.body_size_bytes, 0u);
  EXPECT_EQ(field(missing, "X-Cacheoff-Body-For"), "(none)");
  EXPECT_EQ(field(missing, "Cache-Control"), "no-store");
}

TEST(OriginResponse, WithoutATransactionThereIsNoStamp) {
  auto request = request_for(html_object());
  request.transaction.reset();
  EXPECT_EQ(field(answer_to(request), "X-Cacheoff-Body-For"), "(none)");
}

TEST(OriginFaults, AreNamedInTheQuery) {
  EXPECT_EQ(fault_of_target("/a"), OriginFault::kNone);
  EXPECT_EQ(fault_of_target("/a?"), OriginFault::kNone);
  EXPECT_EQ(fault_of_target("/a?b=c"), OriginFault::kNone);
  EXPECT_EQ(fault_of_target("/a?fault=truncate"), OriginFault::kTruncate);
  EXPECT_EQ(fault_of_target("/a?x&fault=chunked-no-end&y"), OriginFault::kChunkedNoEnd);
  EXPECT_FALSE(fault_of_target("/a?fault=").has_value());
  EXPECT_FALSE(fault_of_target("/a?fault=truncated").has_value());
}

}  // namespace
}  // namespace workload
