// The samples that come with the project: invented logs with the quirks of real ones. Each figure
// below was counted by hand from the file.
#include <gtest/gtest.h>

#include <map>

#include "traces/replay_plan.h"

namespace {

using traces::LogFormat;
using traces::PlanOptions;
using traces::ReplayPlan;
using traces::SkipReason;

ReplayPlan plan_sample(const std::string& name, const PlanOptions& options = {}) {
  auto reader = traces::open_log(std::string(CACHEOFF_SOURCE_DIR "/traces/samples/") + name);
  if (!reader) {
    ADD_FAILURE() << reader.error().text;
    return {};
  }
  return traces::plan_replay(**reader, options);
}

void expect_skipped(const ReplayPlan& plan, const std::map<SkipReason, uint64_t>& expected) {
  for (size_t at = 0; at < traces::kSkipReasonCount; ++at) {
    const auto reason = static_cast<SkipReason>(at);
    const auto found = expected.find(reason);
    EXPECT_EQ(plan.lines.skipped(reason).count, found == expected.end() ? 0 : found->second)
        << traces::name_of(reason);
  }
}

uint64_t lines_of(const ReplayPlan& plan, LogFormat format) {
  return plan.lines_by_format[static_cast<size_t>(format)];
}

TEST(Samples, SquidQuirks) {
  const auto plan = plan_sample("squid-quirks.log");
  EXPECT_EQ(plan.lines.total(), 33U);
  EXPECT_EQ(plan.lines.used(), 16U);
  expect_skipped(plan, {{SkipReason::kConnect, 1},
                        {SkipReason::kErrorUrl, 2},
                        {SkipReason::kNoSizeKnown, 1},
                        {SkipReason::kRedirect, 1},
                        {SkipReason::kStatusError, 1},
                        {SkipReason::kStatusOther, 1},
                        {SkipReason::kMethod, 2},
                        {SkipReason::kManager, 2},
                        {SkipReason::kBadLine, 4},
                        {SkipReason::kBlank, 1},
                        {SkipReason::kUnsupportedFormat, 1}});
  EXPECT_EQ(plan.lines.skipped(SkipReason::kBadLine).first_line, 26U);
  EXPECT_EQ(plan.lines.skipped(SkipReason::kBadLine).first_text,
            "1700000015.000     15 192.0.2.15 TCP_MISS/200 44");
  EXPECT_EQ(lines_of(plan, LogFormat::kSquidNative), 26U);
  EXPECT_EQ(lines_of(plan, LogFormat::kSquidLocalTime), 1U);
  EXPECT_TRUE(plan.last_line_without_end);
  EXPECT_EQ(plan.order.out_of_order, 2U);
  EXPECT_EQ(plan.order.lateness_max, std::chrono::milliseconds(238790));
  EXPECT_EQ(plan.requests_of_stripped_urls, 2U);
  EXPECT_EQ(plan.urls_of_changing_size, 1U);
  EXPECT_EQ(plan.objects.size(), 6U);
  EXPECT_EQ(plan.working_set_bytes(), 900300U + 5300 + 1800 + 7400 + 3300 + 700);
  EXPECT_EQ(plan.objects.at(0).url, "http://www.example.org/film.mp4") << "it began first";
  EXPECT_EQ(traces::plain_count(plan).hits, 10U);
}

TEST(Samples, CombinedQuirks) {
  const auto plan = plan_sample("combined-quirks.log");
  EXPECT_EQ(plan.lines.total(), 31U);
  EXPECT_EQ(plan.lines.used(), 17U);
  expect_skipped(plan, {{SkipReason::kNoSizeKnown, 2},
                        {SkipReason::kJunkRequest, 2},
                        {SkipReason::kNoUrl, 3},
                        {SkipReason::kMethod, 2},
                        {SkipReason::kRedirect, 1},
                        {SkipReason::kStatusError, 1},
                        {SkipReason::kBadLine, 3}});
  EXPECT_EQ(plan.lines.skipped(SkipReason::kJunkRequest).first_line, 16U);
  EXPECT_EQ(plan.order.out_of_order, 1U);
  EXPECT_EQ(plan.order.lateness_max, std::chrono::seconds(3));
  EXPECT_EQ(plan.requests_spread_in_second, 6U);
  EXPECT_EQ(lines_of(plan, LogFormat::kCommon), 1U);
  EXPECT_EQ(lines_of(plan, LogFormat::kCombined), 27U);
  EXPECT_EQ(plan.objects.size(), 10U);
  EXPECT_EQ(traces::plain_count(plan).hits, 7U);
}

TEST(Samples, SizePolicyDecidesTheChangingObject) {
  const std::map<traces::SizePolicy, uint64_t> expected{{traces::SizePolicy::kMax, 900},
                                                        {traces::SizePolicy::kFirst, 900},
                                                        {traces::SizePolicy::kLast, 850}};
  for (const auto& [policy, size_bytes] : expected) {
    PlanOptions options;
    options.size_policy = policy;
    const auto plan = plan_sample("combined-quirks.log", options);
    for (const auto& object : plan.objects) {
      if (object.url != "http://log.invalid/list") continue;
      EXPECT_EQ(object.size_bytes, size_bytes);
    }
    EXPECT_EQ(plan.urls_of_changing_size, 1U);
  }
}

}  // namespace
