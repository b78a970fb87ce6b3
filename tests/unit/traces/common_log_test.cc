#include <gtest/gtest.h>

#include <deque>
#include <string>

#include "traces/log_format.h"

namespace {

using traces::AccessRecord;
using traces::LineFault;
using traces::LogFormat;
using traces::parse_log_line;
using traces::SkipReason;

AccessRecord record_of(std::string line) {
  // The record's views must outlive the call.
  static std::deque<std::string> kept_lines;
  kept_lines.push_back(std::move(line));
  const auto parsed = parse_log_line(kept_lines.back());
  if (const auto* record = std::get_if<AccessRecord>(&parsed)) return *record;
  ADD_FAILURE() << kept_lines.back() << ": " << std::get<LineFault>(parsed).detail;
  return {};
}

std::string in_combined(const std::string& request, const std::string& outcome = "200 10") {
  return "192.0.2.44 - ana [05/Mar/2024:10:15:32 +0100] \"" + request + "\" " + outcome +
         " \"https://www.example.org/\" \"Mozilla/5.0 (X11)\"";
}

void expect_bad(const std::string& line) {
  const auto parsed = parse_log_line(line);
  const auto* fault = std::get_if<LineFault>(&parsed);
  ASSERT_NE(fault, nullptr) << line;
  EXPECT_EQ(fault->reason, SkipReason::kBadLine) << line;
}

TEST(CommonLog, ReadsEveryColumn) {
  const std::string line = in_combined("GET /img/logo.png?v=3 HTTP/1.1", "200 10467");
  const auto record = record_of(line);
  EXPECT_EQ(record.format, LogFormat::kCombined);
  EXPECT_EQ(record.client, "192.0.2.44");
  EXPECT_EQ(record.host, "");
  EXPECT_EQ(record.method, "GET");
  EXPECT_EQ(record.url, "/img/logo.png?v=3");
  EXPECT_EQ(record.status, 200);
  EXPECT_EQ(record.size_bytes, 10467U);
  EXPECT_TRUE(record.whole_seconds);
  EXPECT_EQ(record.arrival.time_since_epoch(), std::chrono::seconds(1709630132));
}

TEST(CommonLog, WithoutRefererItIsCommonAndADashIsZeroBytes) {
  const std::string line = "host.example.org - - [01/Jul/1995:00:00:01 -0400] \"GET /a\" 304 -";
  const auto record = record_of(line);
  EXPECT_EQ(record.format, LogFormat::kCommon);
  EXPECT_EQ(record.url, "/a") << "HTTP/0.9 has no protocol";
  EXPECT_EQ(record.size_bytes, 0U);
}

TEST(CommonLog, AHostInFrontIsToldFromTheClient) {
  const std::string rest = " - - [05/Mar/2024:10:15:32 +0100] \"GET / HTTP/1.1\" 200 1";
  const std::string vhost = "www.example.org:443 192.0.2.1" + rest;
  EXPECT_EQ(record_of(vhost).host, "www.example.org:443");
  EXPECT_EQ(record_of(vhost).client, "192.0.2.1");
  const std::string bare = "www.example.org 2001:db8::1" + rest;
  EXPECT_EQ(record_of(bare).host, "www.example.org");
  for (const std::string client :
       {"192.0.2.1", "2001:db8::1", "gate.example.org", "10.0.0.1, 192.0.2.1", "192.0.2.1:8080"}) {
    const std::string line = client + rest;
    EXPECT_EQ(record_of(line).host, "") << client;
  }
  const std::string user =
      "192.0.2.1 - John Q [x] Public [05/Mar/2024:10:15:32 +0100] \"GET / H\" 200 1";
  EXPECT_EQ(record_of(user).host, "");
  EXPECT_EQ(record_of(user).url, "/ H");
}

TEST(CommonLog, QuotesInTheRequestDoNotEndIt) {
  EXPECT_EQ(record_of(in_combined(R"(GET /?q=\"a\" HTTP/1.1)")).url, "/?q=\"a\"");
  EXPECT_EQ(record_of(in_combined(R"(GET /?q=\x22a\x22 HTTP/1.1)")).url, "/?q=\"a\"");
  EXPECT_EQ(record_of(in_combined(R"(GET /?q="a" b HTTP/1.1)")).url, "/?q=\"a\" b");
  EXPECT_EQ(record_of(in_combined(R"(GET /?q=\" 404 7 HTTP/1.1)")).status, 200)
      << "an escaped quote ends nothing";
  EXPECT_EQ(record_of(in_combined(R"(GET /back\)")).url, R"(/back\)")
      << "unless no other does: old servers escape nothing";
}

TEST(CommonLog, JunkIsARecordWithJunkInIt) {
  EXPECT_EQ(record_of(in_combined("", "400 0")).method, "");
  EXPECT_EQ(record_of(in_combined("-", "408 -")).method, "-");
  EXPECT_EQ(record_of(in_combined(R"(\x16\x03\x01 \x00)", "400 0")).method, R"(\x16\x03\x01)");
  EXPECT_EQ(record_of(in_combined("OPTIONS * HTTP/1.0")).url, "*");
  EXPECT_EQ(record_of(in_combined("PRI * HTTP/2.0")).method, "PRI");
  EXPECT_EQ(record_of(in_combined("GET HTTP/1.1", "400 0")).url, "");
  EXPECT_EQ(record_of(in_combined("GET /a b c HTTP/3.0")).url, "/a b c");
}

TEST(CommonLog, WhatFollowsIsIgnoredExceptSquidsTag) {
  const auto plain = record_of(in_combined("GET / HTTP/1.1") + " 0.003 MISS \"x\"");
  EXPECT_EQ(plain.status, 200);
  EXPECT_EQ(plain.result_tag, "");
  const std::string line = in_combined("GET http://a/ HTTP/1.1") + " TCP_MISS_ABORTED:HIER_DIRECT";
  EXPECT_TRUE(record_of(line).aborted);
}

TEST(CommonLog, DamageIsABadLine) {
  expect_bad("192.0.2.1 - - [05/02/2025 11:30:29] \"GET / HTTP/1.1\" 200 -");
  expect_bad("192.0.2.1 - - [05/Mar/2024:10:15:32 +0100] \"GET /cut");
  expect_bad("192.0.2.1 - - [05/Mar/2024:10:15:32 +0100] \"GET / HTTP/1.1\" 200");
  expect_bad("192.0.2.1 - - [05/Mar/2024:10:15:32 +0100] \"GET / HTTP/1.1\" 20 5");
  expect_bad(
      "192.0.2.1 - - [05/Mar/2024:10:15:32 +0100] \"GET / HTTP/1.1\" 200 99999999999999999999");
  expect_bad("second half HTTP/1.0\" 200 1204");
}

TEST(CommonLog, ManyQuotesAndBracketsTakeNoTimeToRefuse) {
  std::string hostile = "h - - [05/Mar/2024:10:15:32 +0100] \"";
  while (hostile.size() < 1000000) {
    hostile += "\" 20\\\" [";
  }
  expect_bad(hostile);
}

}  // namespace
