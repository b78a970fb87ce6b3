#include "workload/client/replay_objects.h"

#include <gtest/gtest.h>

#include <set>

#include "tests/support/text_source.h"
#include "workload/client/replay_report.h"
#include "workload/client/replay_timing.h"

namespace {

using namespace std::chrono_literals;
using testing_support::plan_text;
using traces::SkipReason;
using workload::content_type_of;
using workload::ContentType;
using workload::due_times;
using workload::make_replay_work;
using workload::parse_replay_timing;
using workload::ReplayStep;
using workload::ReplayTiming;
using workload::RequestMethod;

/// Squid lines of 1 KB objects by path and method, one a second.
std::string log_of(const std::vector<std::pair<std::string, std::string>>& requests) {
  std::string text;
  int second = 0;
  for (const auto& [method, path] : requests) {
    text += std::to_string(1700000000 + second++) + ".000 0 192.0.2.1 TCP_MISS/200 1024 " + method +
            " http://a" + path + " - HIER_DIRECT/192.0.2.2 -\n";
  }
  return text;
}

std::vector<ReplayStep> steps_due(const std::vector<std::chrono::nanoseconds>& due) {
  std::vector<ReplayStep> steps(due.size());
  for (size_t at = 0; at < due.size(); ++at) steps[at].due = due[at];
  return steps;
}

TEST(ReplayObjects, AreOnePerUrlAndStayTheSame) {
  const auto plan = plan_text(
      log_of({{"GET", "/x.gif"}, {"GET", "/y.html"}, {"GET", "/x.gif"}, {"HEAD", "/x.gif"}}));
  const auto work = make_replay_work(plan, 7);
  ASSERT_EQ(work.objects.size(), 2U);
  ASSERT_EQ(work.steps.size(), 4U);
  EXPECT_EQ(work.steps[0].object, work.steps[2].object);
  EXPECT_EQ(work.steps[3].method, RequestMethod::kHead);
  EXPECT_NE(work.objects[0].id, work.objects[1].id);
  EXPECT_EQ(work.objects[0].type, ContentType::kImage);
  EXPECT_EQ(work.objects[1].type, ContentType::kHtml);
  EXPECT_EQ(work.objects[0].size_bytes, 1024U);
  EXPECT_EQ(work.objects[0].seed, 7U);
  for (const auto& object : work.objects) {
    const auto back = workload::parse_object_path(workload::object_path(object));
    ASSERT_TRUE(back);
    EXPECT_EQ(*back, object);
  }
  EXPECT_EQ(make_replay_work(plan, 7).objects, work.objects)
      << "a function of the log and the seed";
}

TEST(ReplayObjects, IdealIsThePlainCount) {
  const auto plan = plan_text(log_of({{"HEAD", "/a"},
                                      {"GET", "/a"},
                                      {"HEAD", "/a"},
                                      {"GET", "/b"},
                                      {"GET", "/a"},
                                      {"GET", "/b"}}));
  const auto work = make_replay_work(plan, 1);
  const auto count = traces::plain_count(plan);
  EXPECT_EQ(count.hits, 3U);
  EXPECT_DOUBLE_EQ(*work.ideal_hit_ratio_percent, 50);
  EXPECT_DOUBLE_EQ(*work.ideal_byte_hit_ratio_percent, 50);
  const std::vector<bool> hits{false, false, true, false, true, true};
  for (size_t at = 0; at < hits.size(); ++at) EXPECT_EQ(work.steps[at].offered_hit, hits[at]) << at;
}

TEST(ReplayObjects, UncachableOnesNeverHit) {
  traces::PlanOptions options;
  options.stripped_query = traces::StrippedQuery::kUncachable;
  const auto plan = plan_text(log_of({{"GET", "/a?"}, {"GET", "/a?"}}), options);
  const auto work = make_replay_work(plan, 1);
  EXPECT_FALSE(work.objects.at(0).cachable);
  EXPECT_DOUBLE_EQ(*work.ideal_hit_ratio_percent, 0);
}

TEST(ReplayObjects, AnEmptyPlanHasNoShares) {
  const auto work = make_replay_work(plan_text(""), 1);
  EXPECT_FALSE(work.ideal_hit_ratio_percent);
  EXPECT_FALSE(work.ideal_byte_hit_ratio_percent);
}

TEST(ContentTypeOf, TrustsTheMediaTypeBeforeTheExtension) {
  EXPECT_EQ(content_type_of("image/png", "html"), ContentType::kImage);
  EXPECT_EQ(content_type_of("text/html; charset=utf-8", "gif"), ContentType::kHtml);
  EXPECT_EQ(content_type_of("video/mp4", ""), ContentType::kDownload);
  EXPECT_EQ(content_type_of("", "jpg"), ContentType::kImage);
  EXPECT_EQ(content_type_of("text/css", "css"), ContentType::kOther);
  EXPECT_EQ(content_type_of("", ""), ContentType::kOther);
}

TEST(ReplayTiming, IsReadAndPrinted) {
  for (const char* text : {"asap", "recorded", "scaled=10", "scaled=0.5"}) {
    const auto timing = parse_replay_timing(text);
    ASSERT_TRUE(timing) << text;
    EXPECT_EQ(workload::to_text(*timing), text);
  }
  for (const char* text : {"", "fast", "scaled", "scaled=", "scaled=0", "scaled=-1", "scaled=nan",
                           "scaled=inf", "scaled=1x", "scaled=10000000"}) {
    EXPECT_FALSE(parse_replay_timing(text)) << text;
  }
}

TEST(ReplayTiming, CutsGapsThenScales) {
  const auto steps = steps_due({0s, 1s, 1s, 11s, 12s});
  EXPECT_TRUE(due_times(steps, ReplayTiming()).empty());
  auto timing = *parse_replay_timing("recorded");
  EXPECT_EQ(due_times(steps, timing),
            (std::vector<std::chrono::nanoseconds>{0s, 1s, 1s, 11s, 12s}));
  timing = *parse_replay_timing("scaled=2");
  timing.gap_max = 4s;
  EXPECT_EQ(due_times(steps, timing),
            (std::vector<std::chrono::nanoseconds>{0s, 500ms, 500ms, 2500ms, 3s}));
}

TEST(ReplayTiming, NeverFallsAndNeverOverflows) {
  auto timing = *parse_replay_timing("scaled=0.000001");
  const auto slow =
      due_times(steps_due({0s, 3600s * 24 * 365 * 50, 3600s * 24 * 365 * 100}), timing);
  EXPECT_GE(slow[1], slow[0]);
  EXPECT_GE(slow[2], slow[1]);
  const auto back = due_times(steps_due({0s, 5s, 3s, 6s}), *parse_replay_timing("recorded"));
  for (size_t at = 1; at < back.size(); ++at) EXPECT_GE(back[at], back[at - 1]);
}

TEST(ReplayReport, NamesEveryReasonAndAddsUp) {
  const auto plan =
      plan_text(log_of({{"GET", "/a"}, {"POST", "/a"}, {"GET", "/a"}}) + "junk\n\x01");
  const auto json = workload::plan_to_json(plan, {});
  const auto& skipped = json.at("skipped").as_object();
  EXPECT_EQ(skipped.size(), traces::kSkipReasonCount);
  uint64_t sum = json.at("used").to_number<uint64_t>();
  for (const auto& [reason, count] : skipped) sum += count.to_number<uint64_t>();
  EXPECT_EQ(json.at("lines").to_number<uint64_t>(), 5U);
  EXPECT_EQ(sum, 5U);
  EXPECT_EQ(json.at("first_skipped").at("method").at("line").to_number<uint64_t>(), 2U);
  EXPECT_DOUBLE_EQ(json.at("plain_hit_ratio_percent").as_double(), 50);
  const std::string text = workload::account_to_text(plan);
  EXPECT_NE(text.find("unsupported_format"), std::string::npos) << text;
  EXPECT_EQ(text.find("connect"), std::string::npos) << "reasons without a line are left out";
}

TEST(ReplayReport, SaysNothingOfNothing) {
  const auto json = workload::plan_to_json(plan_text(""), {});
  EXPECT_TRUE(json.at("plain_hit_ratio_percent").is_null());
  EXPECT_TRUE(json.at("order").at("first").is_null());
  EXPECT_EQ(workload::plan_to_text(plan_text(""), {}).find("nan"), std::string::npos);
}

}  // namespace
