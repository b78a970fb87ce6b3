#include "workload/model/phases.h"

#include <gtest/gtest.h>

#include <numeric>
#include <sstream>

#include "workload/client/run_phases.h"
#include "workload/model/workload_file.h"

namespace workload {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

std::vector<std::string> names_of(const std::vector<Phase>& phases) {
  std::vector<std::string> names;
  for (const Phase& phase : phases) names.push_back(phase.name);
  return names;
}

const Phase& named(const std::vector<Phase>& phases, std::string_view name) {
  for (const Phase& phase : phases) {
    if (phase.name == name) return phase;
  }
  ADD_FAILURE() << "no phase " << name;
  return phases.front();
}

TEST(Phases, PolymixHasItsTen) {
  PolymixPhaseOptions options;
  options.robot_factor = 0.001;
  options.fill_factor = 0.5;
  const auto phases = polymix4_phases(options);
  EXPECT_EQ(names_of(phases), (std::vector<std::string>{"framp", "fill", "fexit", "inc1", "top1",
                                                        "dec1", "idle", "inc2", "top2", "dec2"}));
  EXPECT_EQ(check_phases(phases), "");
  EXPECT_EQ(named(phases, "framp").goal.duration, minutes(20));
  EXPECT_EQ(named(phases, "framp").robots, (PhaseFactor{0.001, 0.5}));
  EXPECT_NEAR(named(phases, "framp").recurrence.begin, 5.0 / 55.0, 1e-12);
  const Phase& fill = named(phases, "fill");
  EXPECT_FALSE(fill.goal.duration);
  EXPECT_EQ(fill.goal.fill, 2.0);
  EXPECT_TRUE(fill.goal.working_set_frozen);
  EXPECT_NEAR(named(phases, "fexit").recurrence.at(0.5), (5.0 / 55.0 + 1) / 2, 1e-12);
  EXPECT_EQ(named(phases, "fexit").special, (PhaseFactor{0.1, 1}));
  EXPECT_EQ(named(phases, "top1").goal.duration, hours(4));
  EXPECT_EQ(named(phases, "idle").robots, (PhaseFactor{0.1, 0.1}));
  EXPECT_EQ(named(phases, "dec2").robots, (PhaseFactor{1, 0}));
  for (const Phase& phase : phases) {
    EXPECT_EQ(phase.primary, phase.name == "top1" || phase.name == "top2") << phase.name;
  }
}

TEST(Phases, TheTimeScaleDividesAllDurations) {
  std::string error;
  auto options = parse_polymix_phases("polymix4,plateau=2h,fill=1.5,fill-rate=50", error);
  ASSERT_TRUE(options) << error;
  options->time_scale = 60;
  const auto phases = polymix4_phases(*options);
  EXPECT_EQ(named(phases, "top2").goal.duration, minutes(2));
  EXPECT_EQ(named(phases, "inc1").goal.duration, seconds(10));
  EXPECT_EQ(named(phases, "fill").goal.fill, 1.5);
  EXPECT_EQ(named(phases, "fill").robots.end, 0.5);
  for (const char* wrong : {"", "polymix", "polymix4,plateau", "polymix4,plateau=0",
                            "polymix4,fill=x", "polymix4,fill-rate=101", "polymix4,more=1"}) {
    EXPECT_FALSE(parse_polymix_phases(wrong, error)) << wrong;
    EXPECT_NE(error.find("plateau=4h"), std::string::npos);
  }
}

TEST(Phases, TheCapOfTheWorkingSetIsTheReferences) {
  // 1000/s over four hours: 5,184,000 objects.
  EXPECT_EQ(polymix4_working_set_cap(1000, hours(4)), 5'184'000U);
  LoadOptions options;
  options.workload = polymix4_workload();
  options.load.kind = LoadShape::Kind::kRate;
  options.load.rate_rps = 4000;
  options.time_scale = 4;
  options.cache_size_bytes = 1 << 30;
  EXPECT_EQ(set_phases(options, "polymix4"), "");
  EXPECT_EQ(options.workload.popularity.working_set_objects_max, 5'184'000U);
  // One robot of 1.6/s.
  EXPECT_NEAR(options.phases.front().robots.begin, 0.0004, 1e-9);
  LoadOptions given = options;
  given.workload.popularity.working_set_objects_max = 7;
  EXPECT_EQ(set_phases(given, "polymix4"), "");
  EXPECT_EQ(given.workload.popularity.working_set_objects_max, 7U);
}

TEST(Phases, SayWhatTheyNeed) {
  LoadOptions options;
  options.workload = polymix4_workload();
  options.load.robots = 10;
  EXPECT_NE(set_phases(options, "polymix4").find("--cache-size"), std::string::npos);
  EXPECT_NE(set_phases(options, "file").find("no [[phases]]"), std::string::npos);
  options.load.kind = LoadShape::Kind::kPeak;
  EXPECT_NE(set_phases(options, "polymix4").find("peak"), std::string::npos);
}

TEST(Phases, AreReadFromAWorkloadFileAndWritten) {
  std::string error;
  const auto workload = parse_workload(R"(base = "simple"
[[phases]]
name = "ramp"
duration = "10m"
robots = [0.1, 1]
recurrence = 0.5
primary = false
[[phases]]
name = "plateau"
requests = 1000
fill = 2
working_set_frozen = true
special = [0, 1]
)",
                                       "w.toml", error);
  ASSERT_TRUE(workload) << error;
  ASSERT_EQ(workload->phases.size(), 2U);
  EXPECT_EQ(workload->phases[0].robots, (PhaseFactor{0.1, 1}));
  EXPECT_FALSE(workload->phases[0].primary);
  // Factors stay where the phase before left them.
  EXPECT_EQ(workload->phases[1].robots, (PhaseFactor{1, 1}));
  EXPECT_EQ(workload->phases[1].recurrence, (PhaseFactor{0.5, 0.5}));
  EXPECT_EQ(workload->phases[1].special, (PhaseFactor{0, 1}));
  EXPECT_EQ(workload->phases[1].goal.fill, 2.0);
  EXPECT_TRUE(workload->phases[1].goal.working_set_frozen);
  const auto again = parse_workload(workload_to_toml(*workload), "w.toml", error);
  ASSERT_TRUE(again) << error;
  EXPECT_EQ(again->phases, workload->phases);
}

TEST(Phases, GoalsCountFromAnEarlierPhase) {
  const std::string begin =
      "base = \"simple\"\n[[phases]]\nname = \"first\"\nfill = 1.0\n"
      "[[phases]]\nname = \"second\"\nduration = \"60s\"\n"
      "[[phases]]\nname = \"third\"\nfill_since = \"first\"\nsince = \"second\"\n";
  std::string error;
  const auto workload = parse_workload(begin + "fill = 1.5\nduration = \"90s\"\n", "w", error);
  ASSERT_TRUE(workload) << error;
  EXPECT_EQ(own_goal(workload->phases, 2).fill, 0.5);
  EXPECT_EQ(own_goal(workload->phases, 2).duration, std::chrono::seconds(30));
  const auto again = parse_workload(workload_to_toml(*workload), "w", error);
  ASSERT_TRUE(again) << error;
  EXPECT_EQ(again->phases, workload->phases);
  EXPECT_FALSE(parse_workload(begin + "fill = 1.0\n", "w", error));
  EXPECT_NE(error.find("phases[2].goal: is reached by the phases before"), std::string::npos);
  EXPECT_FALSE(parse_workload(
      "base = \"simple\"\n[[phases]]\nname = \"a\"\nfill = 1.0\nfill_since = \"b\"\n", "w", error));
  EXPECT_NE(error.find("phases[0].fill_since: 'b' is no earlier phase"), std::string::npos);
}

TEST(Phases, AWrongPhaseIsNamedWithItsLine) {
  const auto error_of = [](const std::string& phase) {
    std::string error;
    EXPECT_FALSE(parse_workload("base = \"simple\"\n[[phases]]\n" + phase, "w.toml", error))
        << phase;
    return error;
  };
  EXPECT_EQ(error_of("name = \"a\"\n"),
            "w.toml:2: phases[0].goal: duration, requests or fill is missing");
  EXPECT_NE(error_of("name = \"a\"\nduration = 5\n").find("w.toml:4: phases[0].duration"),
            std::string::npos);
  EXPECT_NE(error_of("name = \"a\"\nduration = \"5s\"\nrobots = 2\n").find("phases[0].robots"),
            std::string::npos);
  EXPECT_NE(error_of("name = \"a b\"\nduration = \"5s\"\n").find("phases[0].name"),
            std::string::npos);
  EXPECT_NE(error_of("name = \"a\"\nduration = \"5s\"\nprimary = false\n").find("primary"),
            std::string::npos);
  EXPECT_NE(error_of("name = \"a\"\nlength = \"5s\"\n").find("unknown key"), std::string::npos);
  EXPECT_NE(error_of("name = \"a\"\nrequests = 5\nrobots = 0\n").find("phases[0].robots: is 0"),
            std::string::npos);
}

}  // namespace
}  // namespace workload
