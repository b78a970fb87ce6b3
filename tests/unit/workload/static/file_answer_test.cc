#include "workload/origin/static/file_answer.h"

#include <gtest/gtest.h>

namespace workload {
namespace {

constexpr int64_t kNsOfS = 1'000'000'000;
constexpr int64_t kNowS = 1'704'067'200;

FileFacts old_file() {
  return {77, 1000, (kNowS - 5000) * kNsOfS, (kNowS - 4000) * kNsOfS};
}

struct Answered {
  FileAnswer answer;
  std::string head;

  /// The value of a field; `(none)` where it is absent.
  std::string field(const std::string& name) const {
    const auto at = head.find("\r\n" + name + ": ");
    if (at == std::string::npos) return "(none)";
    const auto begin = at + name.size() + 4;
    return head.substr(begin, head.find("\r\n", begin) - begin);
  }
  uint64_t length_behind_head() const {
    uint64_t length = 0;
    for (size_t at = 1; at < answer.pieces.size(); ++at) length += answer.pieces[at].size_bytes;
    return length;
  }
};

Answered answered(const OriginRequest& request, FileCoding coding = FileCoding::kIdentity,
                  const FileFacts& facts = old_file()) {
  FileContext context;
  context.now_unix_s = kNowS;
  context.media_type = "text/plain";
  context.coding = coding;
  context.negotiated = coding != FileCoding::kIdentity;
  context.size_bytes = facts.size_bytes;
  context.boundary = "BOUNDARY";
  const FileVersion version(facts, coding, kNowS * kNsOfS);
  const auto validators = version.validators();
  Answered result;
  answer_file(request, context, validators, evaluate_conditions(request, validators, kNowS),
              result.answer);
  result.head = result.answer.text.substr(0, result.answer.pieces.front().size_bytes);
  EXPECT_TRUE(result.head.ends_with("\r\n\r\n"));
  return result;
}

OriginRequest get_of_file(const std::string& range = {}) {
  OriginRequest request;
  request.method = OriginRequest::Method::kGet;
  request.range = range;
  return request;
}

TEST(FileAnswer, Whole) {
  const auto whole = answered(get_of_file());
  EXPECT_EQ(whole.answer.status, 200u);
  EXPECT_TRUE(whole.head.starts_with("HTTP/1.1 200 OK\r\n"));
  EXPECT_EQ(whole.field("Content-Length"), "1000");
  EXPECT_EQ(whole.field("Content-Type"), "text/plain");
  EXPECT_EQ(whole.field("Accept-Ranges"), "bytes");
  EXPECT_EQ(whole.field("Last-Modified"), "Sun, 31 Dec 2023 22:36:40 GMT");
  EXPECT_EQ(whole.field("Vary"), "(none)");
  EXPECT_EQ(whole.field("Content-Encoding"), "(none)");
  EXPECT_EQ(whole.length_behind_head(), 1000u);
}

TEST(FileAnswer, HeadHasTheHeadOfGet) {
  for (const char* range : {"", "bytes=0-9", "bytes=0-9,20-29"}) {
    for (const auto coding :
         {FileCoding::kIdentity, FileCoding::kPrecompressed, FileCoding::kCompressed}) {
      auto request = get_of_file();
      const auto get = answered(request, coding);
      request.method = OriginRequest::Method::kHead;
      request.range = range;
      const auto head = answered(request, coding);
      EXPECT_EQ(head.head, get.head);  // HEAD knows no ranges (RFC 9110 section 14.2).
      EXPECT_EQ(head.answer.pieces.size(), 1u);
    }
  }
}

TEST(FileAnswer, VersionsHaveTags) {
  const auto tag_of = [](const FileFacts& facts, FileCoding coding = FileCoding::kIdentity) {
    return std::string(FileVersion(facts, coding, kNowS * kNsOfS).validators().etag);
  };
  const auto tag = tag_of(old_file());
  EXPECT_TRUE(tag.starts_with('"') && tag.ends_with('"')) << tag;
  auto other = old_file();
  other.inode = 78;
  EXPECT_NE(tag_of(other), tag);
  other = old_file();
  other.size_bytes = 1001;
  EXPECT_NE(tag_of(other), tag);
  other = old_file();
  other.changed_unix_ns += 1;
  EXPECT_NE(tag_of(other), tag);
  EXPECT_NE(tag_of(old_file(), FileCoding::kPrecompressed), tag);
  EXPECT_FALSE(tag_of(old_file(), FileCoding::kPrecompressed).starts_with("W/"));
  EXPECT_TRUE(tag_of(old_file(), FileCoding::kCompressed).starts_with("W/"));
}

TEST(FileAnswer, WhatChangedJustNowHasWeakValidators) {
  auto facts = old_file();
  for (const int64_t age_ms : {-1000, 0, 1999, 2000}) {
    facts.changed_unix_ns = kNowS * kNsOfS - age_ms * 1'000'000;
    const FileVersion version(facts, FileCoding::kIdentity, kNowS * kNsOfS);
    EXPECT_EQ(version.validators().etag.starts_with("W/"), age_ms < 2000) << age_ms;
    EXPECT_EQ(version.validators().date_is_strong, age_ms >= 2000) << age_ms;
  }
  // A date in the future would be later than the response's own (RFC 9110 section 8.8.2.1).
  facts = old_file();
  facts.modified_unix_ns = (kNowS + 100) * kNsOfS;
  EXPECT_EQ(
      FileVersion(facts, FileCoding::kIdentity, kNowS * kNsOfS).validators().last_modified_unix_s,
      kNowS);
}

TEST(FileAnswer, NotModifiedHasValidatorsAndNoBody) {
  auto request = get_of_file("bytes=0-9");
  const auto whole = answered(get_of_file());
  request.if_none_match = whole.field("ETag");
  const auto answer = answered(request);
  EXPECT_EQ(answer.answer.status, 304u);
  EXPECT_EQ(answer.field("ETag"), whole.field("ETag"));
  EXPECT_EQ(answer.field("Last-Modified"), whole.field("Last-Modified"));
  EXPECT_EQ(answer.field("Content-Length"), "(none)");
  EXPECT_EQ(answer.answer.pieces.size(), 1u);
}

TEST(FileAnswer, FailedConditions) {
  auto request = get_of_file();
  request.if_match = "\"x\"";
  EXPECT_EQ(answered(request).answer.status, 412u);
}

TEST(FileAnswer, OneRange) {
  const auto part = answered(get_of_file("bytes=10-19"));
  EXPECT_EQ(part.answer.status, 206u);
  EXPECT_EQ(part.field("Content-Range"), "bytes 10-19/1000");
  EXPECT_EQ(part.field("Content-Length"), "10");
  ASSERT_EQ(part.answer.pieces.size(), 2u);
  EXPECT_EQ(part.answer.pieces[1].offset_bytes, 10u);
  EXPECT_EQ(part.answer.pieces[1].size_bytes, 10u);
}

TEST(FileAnswer, SeveralRangesAreOneMultipart) {
  const auto parts = answered(get_of_file("bytes=10-19,-1"));
  EXPECT_EQ(parts.answer.status, 206u);
  EXPECT_EQ(parts.field("Content-Type"), "multipart/byteranges; boundary=BOUNDARY");
  EXPECT_EQ(parts.field("Content-Range"), "(none)");
  EXPECT_EQ(parts.field("Content-Length"), std::to_string(parts.length_behind_head()));
  const std::string behind = parts.answer.text.substr(parts.head.size());
  EXPECT_EQ(behind,
            "\r\n--BOUNDARY\r\nContent-Type: text/plain\r\nContent-Range: bytes 10-19/1000\r\n\r\n"
            "\r\n--BOUNDARY\r\nContent-Type: text/plain\r\nContent-Range: bytes 999-999/1000\r\n"
            "\r\n\r\n--BOUNDARY--\r\n");
}

TEST(FileAnswer, UnsatisfiableRangesSayTheSize) {
  const auto answer = answered(get_of_file("bytes=1000-"));
  EXPECT_EQ(answer.answer.status, 416u);
  EXPECT_EQ(answer.field("Content-Range"), "bytes */1000");
}

TEST(FileAnswer, IfRangeDecides) {
  auto request = get_of_file("bytes=0-9");
  request.if_range = answered(get_of_file()).field("ETag");
  EXPECT_EQ(answered(request).answer.status, 206u);
  request.if_range = "\"x\"";
  EXPECT_EQ(answered(request).answer.status, 200u);
}

TEST(FileAnswer, WhatIsCompressedNowHasNoRanges) {
  const auto answer = answered(get_of_file("bytes=0-9"), FileCoding::kCompressed);
  EXPECT_EQ(answer.answer.status, 200u);
  EXPECT_EQ(answer.field("Accept-Ranges"), "(none)");
  EXPECT_EQ(answer.field("Content-Encoding"), "gzip");
  EXPECT_EQ(answer.field("Vary"), "Accept-Encoding");
  const auto beside = answered(get_of_file("bytes=0-9"), FileCoding::kPrecompressed);
  EXPECT_EQ(beside.answer.status, 206u);
  EXPECT_EQ(beside.field("Content-Encoding"), "gzip");
}

TEST(FileAnswer, EmptyFiles) {
  auto facts = old_file();
  facts.size_bytes = 0;
  const auto whole = answered(get_of_file(), FileCoding::kIdentity, facts);
  EXPECT_EQ(whole.answer.status, 200u);
  EXPECT_EQ(whole.field("Content-Length"), "0");
  EXPECT_EQ(whole.answer.pieces.size(), 1u);
  EXPECT_EQ(answered(get_of_file("bytes=0-"), FileCoding::kIdentity, facts).answer.status, 416u);
}

}  // namespace
}  // namespace workload
