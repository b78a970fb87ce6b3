#include "workload/measure/peak_report.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <string_view>

namespace workload {
namespace {

/// What a finder finds where each response time, in ms, comes of the load that it sets.
PeakFinder finder_after(std::initializer_list<double> response_times_ms, double max_rps = 100'000) {
  PeakFinderOptions options;
  options.start_rps = 100;
  options.max_rps = max_rps;
  PeakFinder finder(options);
  for (const double response_ms : response_times_ms) {
    PeakSample sample;
    sample.offered_rps = finder.rate_rps();
    sample.length_s = options.sample_s;
    sample.response_time_ms = response_ms;
    sample.error_ms = 5;
    sample.good = static_cast<uint64_t>(sample.offered_rps * sample.length_s);
    sample.unfinished = static_cast<uint64_t>(sample.offered_rps * response_ms / 1e3);
    sample.measured = true;
    finder.add(sample);
  }
  return finder;
}

bool says(const PeakFinder& finder, std::string_view part) {
  const std::string text = peak_sentence(finder, {});
  EXPECT_NE(text.find(part), std::string::npos) << text;
  return text.find(part) != std::string::npos;
}

TEST(PeakReport, SaysWhatSetTheLimit) {
  const PeakFinder found = finder_after({500, 2000, 2000, 1600, 1650});
  EXPECT_TRUE(says(found, "requests/s at a mean response time of 1625 ms"));
  EXPECT_TRUE(says(found, "The limit was the system under test"));
  EXPECT_TRUE(says(found, "Not settled"));
  const PeakFinder offered = finder_after({500, 500, 500}, 150);
  EXPECT_TRUE(says(offered, "more than 150.0 requests/s, the greatest load that was offered"));
  const PeakFinder base = finder_after({2500, 2500, 2500, 2500, 2500});
  EXPECT_TRUE(says(base, "none found: at no load does the response time fall into the window"));
  EXPECT_TRUE(says(base, "it is 2500 ms"));
  const PeakFinder early = finder_after({500, 500});
  EXPECT_TRUE(says(early, "none found: the run ended while the load was still searched for"));
}

TEST(PeakReport, HasAllKeysAndNullForWhatThereIsNot) {
  const auto json = peak_to_json(finder_after({500, 500}), {});
  for (const char* key :
       {"limit", "settled", "note", "window_ms", "target_ms", "sample_s", "start_rps", "max_rps",
        "step_percent", "load_rps", "failing", "overloads"}) {
    EXPECT_TRUE(json.contains(key)) << key;
  }
  EXPECT_TRUE(json.at("rate_at_target_rps").is_null());
  EXPECT_TRUE(json.at("base_response_time_ms").is_null());
  const auto& sample = json.at("samples").as_array().at(1).as_object();
  EXPECT_EQ(sample.at("load_rps").to_number<double>(), 200);
  EXPECT_EQ(sample.at("response_time_error_ms").to_number<double>(), 5);
  EXPECT_EQ(sample.at("measured").as_bool(), true);
}

}  // namespace
}  // namespace workload
