#include "traces/replay_plan.h"

#include <gtest/gtest.h>

#include <map>

#include "tests/support/text_source.h"

namespace {

using testing_support::plan_text;
using traces::PlanOptions;
using traces::ReplayMethod;
using traces::ReplayPlan;
using traces::SizePolicy;
using traces::SkipReason;
using traces::StrippedQuery;

/// A Squid line that ended `end_ms` after a fixed second.
std::string squid(int end_ms, int elapsed_ms, const std::string& result, const std::string& size,
                  const std::string& url, const std::string& method = "GET") {
  const int ms = end_ms % 1000;
  const std::string fraction = (ms < 10 ? "00" : ms < 100 ? "0" : "") + std::to_string(ms);
  return std::to_string(1700000000 + end_ms / 1000) + "." + fraction + " " +
         std::to_string(elapsed_ms) + " 192.0.2.1 " + result + " " + size + " " + method + " " +
         url + " - HIER_DIRECT/192.0.2.2 text/plain\n";
}

std::string apache(const std::string& second, const std::string& request,
                   const std::string& outcome) {
  return "192.0.2.1 - - [05/Mar/2024:10:00:" + second + " +0000] \"" + request + "\" " + outcome +
         "\n";
}

std::vector<std::string> urls_in_order(const ReplayPlan& plan) {
  std::vector<std::string> urls;
  for (const auto& request : plan.requests) urls.push_back(plan.objects[request.object].url);
  return urls;
}

uint64_t size_of_only(const std::string& text, SizePolicy policy) {
  PlanOptions options;
  options.size_policy = policy;
  const auto plan = plan_text(text, options);
  EXPECT_EQ(plan.objects.size(), 1U);
  return plan.objects.at(0).size_bytes;
}

TEST(ReplayPlan, OrdersByArrivalNotByLine) {
  const auto plan = plan_text(squid(9000, 10, "TCP_MISS/200", "5", "http://a/fast") +
                              squid(10000, 9500, "TCP_MISS/200", "5", "http://a/slow") +
                              squid(10100, 100, "TCP_MISS/200", "5", "http://a/last"));
  EXPECT_EQ(urls_in_order(plan),
            (std::vector<std::string>{"http://a/slow", "http://a/fast", "http://a/last"}));
  EXPECT_EQ(plan.requests[0].offset.count(), 0);
  EXPECT_EQ(plan.requests[1].offset, std::chrono::milliseconds(8490));
  EXPECT_EQ(plan.requests[2].offset, std::chrono::milliseconds(9500));
  EXPECT_EQ(plan.order.out_of_order, 1U);
  EXPECT_EQ(plan.order.backward_steps, 1U);
  EXPECT_EQ(plan.order.lateness_max, std::chrono::milliseconds(8490));
}

TEST(ReplayPlan, SpreadsTheRequestsOfOneSecondAndKeepsTheirOrder) {
  const auto plan = plan_text(
      apache("00", "GET /1 HTTP/1.1", "200 1") + apache("02", "GET /4 HTTP/1.1", "200 1") +
      apache("00", "GET /2 HTTP/1.1", "200 1") + apache("00", "GET /3 HTTP/1.1", "200 1") +
      apache("00", "GET /1 HTTP/1.1", "200 1"));
  EXPECT_EQ(urls_in_order(plan),
            (std::vector<std::string>{"http://log.invalid/1", "http://log.invalid/2",
                                      "http://log.invalid/3", "http://log.invalid/1",
                                      "http://log.invalid/4"}));
  EXPECT_EQ(plan.requests[1].offset, std::chrono::milliseconds(250));
  EXPECT_EQ(plan.requests[3].offset, std::chrono::milliseconds(750));
  EXPECT_EQ(plan.requests[4].offset, std::chrono::seconds(2));
  EXPECT_EQ(plan.requests_spread_in_second, 3U);
}

TEST(ReplayPlan, GapsAreNeverNegativeWhereFormatsMix) {
  std::string text;
  for (int line = 0; line < 4; ++line) text += apache("00", "GET /a HTTP/1.1", "200 1");
  text += "1709632800.100 0 h TCP_HIT/200 1 GET http://b/ - NONE/- -\n";  // the same second
  const auto plan = plan_text(text);
  ASSERT_EQ(plan.requests.size(), 5U);
  for (size_t at = 1; at < plan.requests.size(); ++at) {
    EXPECT_GE(plan.requests[at].offset, plan.requests[at - 1].offset);
  }
}

TEST(ReplayPlan, OnlyWhole200sTellTheSize) {
  const std::string others = squid(1000, 1, "TCP_MISS/206", "9001", "http://a/") +
                             squid(2000, 1, "TCP_HIT/304", "9002", "http://a/") +
                             squid(3000, 1, "TCP_MISS_ABORTED/200", "9003", "http://a/") +
                             squid(4000, 1, "TCP_MISS/200", "9004", "http://a/", "HEAD") +
                             squid(5000, 1, "TCP_MISS/200", "-1", "http://a/");
  const std::string sizes = squid(6000, 1, "TCP_MISS/200", "20", "http://a/") +
                            squid(7000, 1, "TCP_MISS/200", "30", "http://a/") +
                            squid(8000, 1, "TCP_MISS/200", "10", "http://a/");
  EXPECT_EQ(size_of_only(others + sizes, SizePolicy::kMax), 30U);
  EXPECT_EQ(size_of_only(others + sizes, SizePolicy::kFirst), 20U);
  EXPECT_EQ(size_of_only(others + sizes, SizePolicy::kLast), 10U);
  const auto plan = plan_text(others + sizes);
  EXPECT_EQ(plan.lines.used(), 8U);
  EXPECT_EQ(plan.urls_of_changing_size, 1U);
  EXPECT_EQ(plan.requests[3].method, ReplayMethod::kHead);
}

TEST(ReplayPlan, WithoutAnySizeLinesAreSkippedOrGivenTheDefault) {
  const std::string text = squid(1000, 1, "TCP_HIT/304", "240", "http://a/") +
                           squid(2000, 1, "TCP_MISS/206", "10", "http://a/") +
                           squid(3000, 1, "TCP_MISS/200", "7", "http://b/");
  const auto plan = plan_text(text);
  EXPECT_EQ(plan.lines.used(), 1U);
  EXPECT_EQ(plan.lines.skipped(SkipReason::kNoSizeKnown).count, 2U);
  EXPECT_EQ(plan.lines.skipped(SkipReason::kNoSizeKnown).first_line, 1U);
  EXPECT_EQ(plan.lines.skipped(SkipReason::kNoSizeKnown).first_text, "GET http://a/");
  PlanOptions options;
  options.default_size_bytes = 4096;
  const auto whole = plan_text(text, options);
  EXPECT_EQ(whole.lines.used(), 3U);
  EXPECT_EQ(whole.requests_of_default_size, 2U);
  EXPECT_EQ(whole.objects[0].size_bytes, 4096U);
}

TEST(ReplayPlan, StrippedQueriesAreOneObjectOrManyOrUncachable) {
  const std::string text = squid(1000, 1, "TCP_MISS/200", "10", "http://a/s?") +
                           squid(2000, 1, "TCP_MISS/200", "20", "http://a/s?") +
                           squid(3000, 1, "TCP_MISS/304", "200", "http://a/s?") +
                           squid(4000, 1, "TCP_MISS/200", "30", "http://a/t?q=1") +
                           squid(5000, 1, "TCP_MISS/200", "30", "http://a/t?q=1");
  const auto as_is = plan_text(text);
  EXPECT_EQ(as_is.objects.size(), 2U);
  EXPECT_EQ(as_is.requests_of_stripped_urls, 3U);
  EXPECT_EQ(traces::plain_count(as_is).hits, 3U);
  EXPECT_EQ(traces::plain_count(as_is).hit_body_bytes, 20U + 20U + 30U);

  PlanOptions options;
  options.stripped_query = StrippedQuery::kUnique;
  const auto unique = plan_text(text, options);
  ASSERT_EQ(unique.objects.size(), 4U);
  EXPECT_EQ(unique.objects[0].size_bytes, 10U);
  EXPECT_EQ(unique.objects[1].size_bytes, 20U);
  EXPECT_EQ(unique.objects[2].size_bytes, 20U) << "a 304 knows only what its URL's others say";
  EXPECT_EQ(traces::plain_count(unique).hits, 1U);

  options.stripped_query = StrippedQuery::kUncachable;
  const auto uncachable = plan_text(text, options);
  EXPECT_EQ(uncachable.objects.size(), 2U);
  EXPECT_FALSE(uncachable.objects[0].cachable);
  EXPECT_EQ(traces::plain_count(uncachable).hits, 1U);
}

TEST(ReplayPlan, OnlySquidStripsQueries) {
  const auto plan = plan_text(apache("00", "GET /a? HTTP/1.1", "200 1"));
  EXPECT_EQ(plan.requests_of_stripped_urls, 0U);
}

TEST(ReplayPlan, EachReasonHasItsLines) {
  const std::map<SkipReason, std::string> lines{
      {SkipReason::kBlank, "\n"},
      {SkipReason::kComment, "#Fields: x\n"},
      {SkipReason::kTooLong, std::string(traces::kLineBytesMax + 1, 'x') + "\n"},
      {SkipReason::kUnsupportedFormat, "1 2 3\n"},
      {SkipReason::kBadLine, "1700000000.000 x\n"},
      {SkipReason::kErrorUrl, squid(0, 0, "NONE/000", "0", "error:invalid-request", "NONE")},
      {SkipReason::kConnect, squid(0, 0, "TCP_TUNNEL/200", "39", "a:443", "CONNECT")},
      {SkipReason::kManager, squid(0, 0, "TCP_MISS/200", "9", "cache_object://localhost/info")},
      {SkipReason::kJunkRequest, apache("00", "\\x16\\x03\\x01", "400 0")},
      {SkipReason::kNoUrl, apache("00", "-", "408 -")},
      {SkipReason::kMethod, squid(0, 0, "TCP_MISS/200", "9", "http://a/", "POST")},
      {SkipReason::kStatusError, squid(0, 0, "TCP_MISS/404", "9", "http://a/")},
      {SkipReason::kRedirect, squid(0, 0, "TCP_MISS/301", "9", "http://a/")},
      {SkipReason::kStatusOther, squid(0, 0, "TCP_MISS/204", "9", "http://a/")},
      {SkipReason::kNoSizeKnown, squid(0, 0, "TCP_HIT/304", "9", "http://nowhere/")},
      {SkipReason::kTooLarge, squid(0, 0, "TCP_MISS/200", "1099511627777", "http://huge/")},
      {SkipReason::kOverLimit, squid(2000, 0, "TCP_MISS/200", "9", "http://b/")},
  };
  ASSERT_EQ(lines.size(), traces::kSkipReasonCount);
  std::string text = squid(1000, 0, "TCP_MISS/200", "9", "http://a/");
  for (const auto& [reason, line] : lines) text += line;
  PlanOptions options;
  options.requests_max = 1;
  const auto plan = plan_text(text, options);
  uint64_t number = 1;
  for (const auto& [reason, line] : lines) {
    ++number;
    const auto& skipped = plan.lines.skipped(reason);
    EXPECT_EQ(skipped.count, 1U) << traces::name_of(reason);
    EXPECT_EQ(skipped.first_line, number) << traces::name_of(reason);
    EXPECT_LE(skipped.first_text.size(), 130U);
  }
  EXPECT_EQ(plan.lines.used(), 1U);
  EXPECT_EQ(plan.lines.total(), number);
}

TEST(ReplayPlan, AHeadIsAnsweredFromTheCacheButFillsNone) {
  const auto plan = plan_text(squid(1000, 0, "TCP_MISS/200", "0", "http://a/", "HEAD") +
                              squid(2000, 0, "TCP_MISS/200", "9", "http://a/") +
                              squid(3000, 0, "TCP_HIT/200", "0", "http://a/", "HEAD") +
                              squid(4000, 0, "TCP_HIT/200", "9", "http://a/"));
  const auto count = traces::plain_count(plan);
  EXPECT_EQ(count.requests, 4U);
  EXPECT_EQ(count.hits, 2U);
  EXPECT_EQ(count.body_bytes, 18U);
  EXPECT_EQ(count.hit_body_bytes, 9U);
}

TEST(ReplayPlan, VirtualHostsKeepPathsApart) {
  const std::string rest = " 192.0.2.1 - - [05/Mar/2024:10:00:00 +0000] \"GET / HTTP/1.1\" 200 5\n";
  PlanOptions options;
  options.host = "stated.example.org";
  const auto plan =
      plan_text("a.example.org:80" + rest + "A.example.org:80" + rest + "b.example.org:443" + rest +
                    apache("01", "GET / HTTP/1.1", "200 5"),
                options);
  EXPECT_EQ(urls_in_order(plan),
            (std::vector<std::string>{"http://a.example.org/", "http://a.example.org/",
                                      "https://b.example.org/", "http://stated.example.org/"}));
}

TEST(ReplayPlan, NothingGivesAnEmptyPlan) {
  const auto plan = plan_text("");
  EXPECT_TRUE(plan.requests.empty());
  EXPECT_EQ(plan.lines.total(), 0U);
  EXPECT_EQ(traces::plain_count(plan).requests, 0U);
  EXPECT_FALSE(plan.order.first);
}

TEST(ReplayPlan, AReadErrorKeepsWhatWasRead) {
  traces::LineReader reader(std::make_unique<testing_support::TextSource>(
      squid(1000, 0, "TCP_MISS/200", "9", "http://a/") + "1700", 7, "cut off"));
  const auto plan = traces::plan_replay(reader, {});
  EXPECT_EQ(plan.lines.used(), 1U);
  EXPECT_EQ(plan.lines.total(), 2U);
  ASSERT_TRUE(plan.read_error);
  EXPECT_EQ(plan.read_error->text, "cut off at line 2; what lies before was read");
  EXPECT_TRUE(plan.last_line_without_end);
}

TEST(ReplayPlan, SumsOfHugeSizesStopAtTheTop) {
  ReplayPlan plan;
  plan.objects.resize(3);
  for (auto& object : plan.objects) object.size_bytes = UINT64_MAX / 2;
  EXPECT_EQ(plan.working_set_bytes(), UINT64_MAX);
}

}  // namespace
