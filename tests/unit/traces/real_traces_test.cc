// Logs of real servers, which do not come with the project: each test is skipped where its file is
// not there. The figures were derived with awk and sort alone, as the comments say.
#include <gtest/gtest.h>

#include <filesystem>
#include <optional>

#include "traces/replay_plan.h"

namespace {

using traces::ReplayPlan;
using traces::SkipReason;

std::string path_of(const std::string& name) {
  return std::string(CACHEOFF_SOURCE_DIR "/../shared/traces/") + name;
}

ReplayPlan plan_file(const std::string& name, const traces::PlanOptions& options = {}) {
  auto reader = traces::open_log(path_of(name));
  if (!reader) {
    ADD_FAILURE() << reader.error().text;
    return {};
  }
  return traces::plan_replay(**reader, options);
}

uint64_t skipped(const ReplayPlan& plan, SkipReason reason) {
  return plan.lines.skipped(reason).count;
}

#define SKIP_WITHOUT(name) \
  if (!std::filesystem::exists(path_of(name))) GTEST_SKIP() << path_of(name) << " is not there"

/// awk '$6=="GET"{n++; if(seen[$7]++)h++; else u++; if($7~/\?$/)s++; if($5>m[$7])m[$7]=$5;
///      k[$7]++} END{for(x in m){S+=m[x]; B+=m[x]*k[x]; H+=m[x]*(k[x]-1)}; print n,h,u,s,S,B,H}'
/// counts requests, hits, URLs, stripped ones and bytes (every line has status 200). Backward
/// steps, in whole milliseconds:
/// awk '{split($1,t,"."); a=t[1]*1000+t[2]-$2; if(NR>1&&a<p)n++; p=a} END{print n}'
/// Out of order: the same with the running maximum, 22.667 s at most.
TEST(RealTraces, SquidBrowsing) {
  SKIP_WITHOUT("squid-browsing.log");
  const auto plan = plan_file("squid-browsing.log");
  EXPECT_EQ(plan.lines.total(), 1247U);
  EXPECT_EQ(plan.lines.used(), 1086U);
  EXPECT_EQ(skipped(plan, SkipReason::kMethod), 115U);
  EXPECT_EQ(skipped(plan, SkipReason::kConnect), 46U);
  EXPECT_EQ(plan.objects.size(), 711U);
  EXPECT_EQ(plan.requests_of_stripped_urls, 722U);
  EXPECT_EQ(plan.urls_of_changing_size, 36U);
  EXPECT_EQ(plan.working_set_bytes(), 43688810U);
  EXPECT_EQ(plan.order.backward_steps, 294U);
  EXPECT_EQ(plan.order.out_of_order, 398U);
  EXPECT_EQ(plan.order.lateness_max, std::chrono::milliseconds(22667));
  const auto count = traces::plain_count(plan);
  EXPECT_EQ(count.hits, 375U);
  EXPECT_EQ(count.body_bytes, 51481280U);
  EXPECT_EQ(count.hit_body_bytes, 7792470U);
}

/// awk '$6=="GET"{printf "%.3f %d %s %d\n",$1-$2/1000,NR,$7,$5}' | sort -k1,1n -k2,2n |
/// awk '{if(!($3 in f))f[$3]=$4; l[$3]=$4} END{for(x in f){F+=f[x];L+=l[x]} print F,L}'
TEST(RealTraces, SquidBrowsingWithTheOtherSizePolicies) {
  SKIP_WITHOUT("squid-browsing.log");
  traces::PlanOptions options;
  options.size_policy = traces::SizePolicy::kFirst;
  EXPECT_EQ(plan_file("squid-browsing.log", options).working_set_bytes(), 42927505U);
  options.size_policy = traces::SizePolicy::kLast;
  EXPECT_EQ(plan_file("squid-browsing.log", options).working_set_bytes(), 43456412U);
}

/// Method, status and size split at quotes with awk -F'"'; GET and HEAD with 200, 206 or 304,
/// sorted by time (sort -s -k1,1n -k2,2n), then one pass: a line hits if a GET of its URL came
/// before.
TEST(RealTraces, CombinedChangingSizes) {
  SKIP_WITHOUT("combined-changing-sizes.log");
  const auto plan = plan_file("combined-changing-sizes.log");
  EXPECT_EQ(plan.lines.total(), 5000U);
  EXPECT_EQ(plan.lines.used(), 4474U);
  EXPECT_EQ(skipped(plan, SkipReason::kMethod), 417U);
  EXPECT_EQ(skipped(plan, SkipReason::kJunkRequest), 1U);
  EXPECT_EQ(skipped(plan, SkipReason::kRedirect), 1U);
  EXPECT_EQ(skipped(plan, SkipReason::kStatusError), 107U);
  EXPECT_EQ(plan.objects.size(), 261U);
  EXPECT_EQ(plan.urls_of_changing_size, 187U);
  EXPECT_EQ(plan.working_set_bytes(), 4238889U);
  EXPECT_EQ(plan.requests_spread_in_second, 2701U);
  EXPECT_EQ(plan.order.backward_steps, 26U);
  EXPECT_EQ(plan.order.out_of_order, 27U);
  EXPECT_EQ(plan.order.lateness_max, std::chrono::seconds(16));
  const auto count = traces::plain_count(plan);
  EXPECT_EQ(count.hits, 4212U);
  EXPECT_EQ(count.body_bytes, 64171121U);
  EXPECT_EQ(count.hit_body_bytes, 59932232U);
}

/// The same derivation.
TEST(RealTraces, Common1995) {
  SKIP_WITHOUT("common-1995.log");
  const auto plan = plan_file("common-1995.log");
  EXPECT_EQ(plan.lines.total(), 2794U);
  EXPECT_EQ(plan.lines.used(), 2631U);
  EXPECT_EQ(skipped(plan, SkipReason::kRedirect), 145U);
  EXPECT_EQ(skipped(plan, SkipReason::kStatusError), 17U);
  EXPECT_EQ(skipped(plan, SkipReason::kNoSizeKnown), 1U);
  EXPECT_EQ(plan.objects.size(), 438U);
  EXPECT_EQ(plan.order.out_of_order, 0U);
  const auto count = traces::plain_count(plan);
  EXPECT_EQ(count.hits, 2193U);
  EXPECT_EQ(count.body_bytes, 68980842U);
  EXPECT_EQ(count.hit_body_bytes, 47754496U);
}

/// awk -F'"' by method and status: 1511 GET 200; GET 301 2, 400 15, 401 1; OPTIONS 9; POST 8; `-`
/// 4; one empty request.
TEST(RealTraces, CombinedVhostPrefix) {
  SKIP_WITHOUT("combined-vhost-prefix.log");
  const auto plan = plan_file("combined-vhost-prefix.log");
  EXPECT_EQ(plan.lines.total(), 1551U);
  EXPECT_EQ(plan.lines.used(), 1511U);
  EXPECT_EQ(skipped(plan, SkipReason::kRedirect), 2U);
  EXPECT_EQ(skipped(plan, SkipReason::kStatusError), 16U);
  EXPECT_EQ(skipped(plan, SkipReason::kMethod), 17U);
  EXPECT_EQ(skipped(plan, SkipReason::kNoUrl), 5U);
  EXPECT_TRUE(plan.objects.at(0).url.starts_with("https://")) << plan.objects.at(0).url;
}

/// The same: 512 GET 200, 26 GET 304, 139 redirects, 224 + 1 errors, 44 POST, 5 empty, 6 junk.
TEST(RealTraces, CombinedTlsJunk) {
  SKIP_WITHOUT("combined-tls-junk.log");
  const auto plan = plan_file("combined-tls-junk.log");
  EXPECT_EQ(plan.lines.total(), 957U);
  EXPECT_EQ(plan.lines.used() + skipped(plan, SkipReason::kNoSizeKnown), 538U);
  EXPECT_EQ(skipped(plan, SkipReason::kRedirect), 139U);
  EXPECT_EQ(skipped(plan, SkipReason::kStatusError), 225U);
  EXPECT_EQ(skipped(plan, SkipReason::kMethod), 44U);
  EXPECT_EQ(skipped(plan, SkipReason::kNoUrl), 5U);
  EXPECT_EQ(skipped(plan, SkipReason::kJunkRequest), 6U);
}

/// awk '{print $4,$6}' | sort | uniq -c on each file.
TEST(RealTraces, SquidsOtherFiles) {
  SKIP_WITHOUT("squid-connect-heavy.log");
  const auto tunnels = plan_file("squid-connect-heavy.log");
  EXPECT_EQ(tunnels.lines.total(), 122U);
  EXPECT_EQ(tunnels.lines.used(), 3U);
  EXPECT_EQ(skipped(tunnels, SkipReason::kConnect), 116U);
  const auto probes = plan_file("squid-health-probes-ipv6.log");
  EXPECT_EQ(probes.lines.total(), 222U);
  EXPECT_EQ(probes.lines.used(), 4U);
  EXPECT_EQ(skipped(probes, SkipReason::kErrorUrl), 195U);
  EXPECT_EQ(skipped(probes, SkipReason::kStatusError), 8U);
  EXPECT_EQ(skipped(probes, SkipReason::kConnect), 12U);
  EXPECT_EQ(skipped(probes, SkipReason::kNoUrl), 3U);
  const auto old = plan_file("squid-old-names.log");
  EXPECT_EQ(old.lines.total(), 113U);
  EXPECT_EQ(old.lines.used(), 28U);
  EXPECT_EQ(skipped(old, SkipReason::kMethod), 78U);
  EXPECT_TRUE(old.last_line_without_end);
  const auto changes = plan_file("squid-format-changes.log");
  EXPECT_EQ(changes.lines.total(), 18U);
  EXPECT_EQ(changes.lines_by_format[static_cast<size_t>(traces::LogFormat::kSquidNative)], 3U);
  EXPECT_EQ(changes.lines_by_format[static_cast<size_t>(traces::LogFormat::kSquidLocalTime)], 15U);
  EXPECT_EQ(changes.lines.used(), 5U);
}

TEST(RealTraces, DamageAndUnknownFormatsAreCounted) {
  SKIP_WITHOUT("squid-damaged.log");
  const auto damaged = plan_file("squid-damaged.log");
  EXPECT_EQ(damaged.lines.total(), 8U);
  EXPECT_EQ(skipped(damaged, SkipReason::kBadLine), 5U);
  EXPECT_EQ(damaged.lines.used(), 2U);
  EXPECT_EQ(skipped(damaged, SkipReason::kNoSizeKnown), 1U);
  for (const char* name : {"squid-cdn-custom-columns.log", "w3c-iis.log", "cdn-video.csv",
                           "adaptsize.tr", "cloudphysics.csv", "cloudphysics.oracleGeneral.bin"}) {
    const auto plan = plan_file(name);
    EXPECT_EQ(plan.lines.used(), 0U) << name;
    EXPECT_GT(skipped(plan, SkipReason::kUnsupportedFormat), 0U) << name;
    EXPECT_EQ(skipped(plan, SkipReason::kUnsupportedFormat) + skipped(plan, SkipReason::kComment) +
                  skipped(plan, SkipReason::kBlank) + skipped(plan, SkipReason::kTooLong),
              plan.lines.total())
        << name;
  }
}

}  // namespace
