#include "workload/experiment/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "workload/experiment/options_file.h"

namespace workload {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string problem_of(std::string_view name, const std::vector<std::string>& values) {
  ExperimentOptions options;
  const auto done = set_option(options, name, values);
  if (done) return "";
  EXPECT_TRUE(done.error().usage);
  return done.error().text;
}

std::string file_problem(std::string_view text) {
  ExperimentOptions options;
  const auto done = apply_options_text(options, text, "e.toml");
  return done ? "" : done.error().text;
}

TEST(ExperimentOptions, ListsAreSplit) {
  ExperimentOptions options;
  ASSERT_TRUE(set_option(options, "scheme", {"ufs,none", "memory"}));
  EXPECT_THAT(options.schemes, ElementsAre("ufs", "none", "memory"));
  ASSERT_TRUE(set_option(options, "mount", {"default", "noatime,size=1G"}));
  EXPECT_THAT(options.mounts, ElementsAre("", "noatime,size=1G"));
  EXPECT_TRUE(options.was_given("mount"));
  EXPECT_FALSE(options.was_given("load"));
}

TEST(ExperimentOptions, WrongValuesNameOptionValueAndWhatIsRight) {
  EXPECT_THAT(problem_of("filesystem", {"ext9"}), HasSubstr("--filesystem 'ext9'"));
  EXPECT_THAT(problem_of("filesystem", {"ext9"}), HasSubstr("here tmpfs ext2 ext3 ext4 xfs"));
  EXPECT_THAT(problem_of("cache-size", {"huge"}), HasSubstr("--cache-size 'huge'"));
  EXPECT_THAT(problem_of("cache-size", {"10"}), HasSubstr("at least 1M"));
  EXPECT_THAT(problem_of("load", {"rate=fast"}), HasSubstr("--load"));
  EXPECT_THAT(problem_of("until", {"forever"}), HasSubstr("--until"));
  EXPECT_THAT(problem_of("repeat", {"0"}), HasSubstr("1 to 1000"));
  EXPECT_THAT(problem_of("time-scale", {"nan"}), HasSubstr("--time-scale 'nan'"));
  EXPECT_THAT(problem_of("order", {"best"}), HasSubstr("random or listed"));
  EXPECT_THAT(problem_of("seed", {"-1"}), HasSubstr("--seed '-1'"));
  EXPECT_THAT(problem_of("seed", {"1", "2"}), HasSubstr("twice"));
  EXPECT_THAT(problem_of("scheme", {"ufs,memory,ufs"}), HasSubstr("'ufs': is named twice"));
  EXPECT_THAT(problem_of("filesystem", {"here", "here"}), HasSubstr("is named twice"));
  EXPECT_THAT(problem_of("mount", {"a b"}), HasSubstr("without blanks"));
  EXPECT_THAT(problem_of("memory", {"little"}), HasSubstr("--memory 'little'"));
  EXPECT_THAT(problem_of("memory", {"1M"}), HasSubstr("at least 16M"));
  EXPECT_THAT(problem_of("memories", {"1G"}), HasSubstr("no such option"));
}

TEST(ExperimentOptions, EveryOptionHasAHelpAndAName) {
  std::set<std::string_view> names;
  for (const auto& row : option_table()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_FALSE(row.help.empty()) << row.name;
    EXPECT_NE(row.set, nullptr);
  }
  for (const auto* name :
       {"scheme", "filesystem", "mount",    "directory", "cache-size",  "workload",  "trace",
        "load",   "time-scale", "until",    "phases",    "repeat",      "seed",      "order",
        "quick",  "out",        "resume",   "dry-run",   "mkfs",        "disks",     "device-path",
        "yes",    "user",       "clean-up", "device",    "dirty-limit", "fast-fill", "memory"}) {
    EXPECT_EQ(names.count(name), 1U) << name;
  }
}

TEST(ExperimentOptions, WhereCachesLiveIsChecked) {
  ExperimentOptions options;
  ASSERT_TRUE(set_option(options, "filesystem", {"here,tmpfs,ext2,ext3,ext4", "xfs,btrfs,raw"}));
  EXPECT_EQ(options.filesystems.size(), 8U);
  ASSERT_TRUE(set_option(options, "mkfs", {"ext4=-O ^has_journal -b 1024"}));
  EXPECT_EQ(options.mkfs_options.at("ext4"), "-O ^has_journal -b 1024");
  for (const char* wrong : {"-b 1024", "tmpfs=-b 1024", "ext4=", "ext4", "ext4= ", "ext4=-L '"}) {
    EXPECT_THAT(problem_of("mkfs", {wrong}), HasSubstr("FILESYSTEM=OPTIONS")) << wrong;
  }
  EXPECT_THAT(problem_of("mkfs", {"xfs=-K", "xfs=-b size=1024"}), HasSubstr("twice"));
  ASSERT_TRUE(set_option(options, "disks", {"0,1,3"}));
  EXPECT_THAT(options.disks, ElementsAre(0U, 1U, 3U));
  for (const char* wrong : {"65", "-1", "two", "1.5"}) {
    EXPECT_THAT(problem_of("disks", {wrong}), HasSubstr("0 to 64")) << wrong;
  }
  EXPECT_THAT(problem_of("disks", {"1,01"}), HasSubstr("twice"));
  EXPECT_THAT(problem_of("device-path", {"sdb"}), HasSubstr("full path"));
}

TEST(ExperimentOptions, AFileCanSetOptionsOfTheProxy) {
  ExperimentOptions options;
  ASSERT_TRUE(apply_options_text(
      options, "[proxy-options]\ntest-delay = \"20us\"\nheuristic-percent = 5\n", "e.toml"));
  EXPECT_THAT(options.proxy_options,
              ElementsAre(std::pair("heuristic-percent", "5"), std::pair("test-delay", "20us")));
  const auto read = options_from_json(options_to_json(options));
  ASSERT_TRUE(read) << read.error().text;
  EXPECT_EQ(read->proxy_options, options.proxy_options);
  EXPECT_EQ(first_difference(options, ExperimentOptions{}), "proxy-options");
  EXPECT_THAT(file_problem("[proxy-options]\nlisten = \"127.0.0.1:1\"\n"),
              HasSubstr("e.toml:2: proxy-options.listen: the bench sets it"));
  EXPECT_THAT(file_problem("proxy-options = 1\n"), HasSubstr("must be a table"));
  EXPECT_THAT(file_problem("[proxy-options]\nseed = []\n"), HasSubstr("a string or a number"));
}

TEST(ExperimentOptions, RunLengthIsKnownForDurationsOnly) {
  ExperimentOptions options;
  ASSERT_TRUE(set_option(options, "until", {"duration=90s"}));
  EXPECT_DOUBLE_EQ(options.run_length_s().value_or(0), 90);
  ASSERT_TRUE(set_option(options, "until", {"requests=100"}));
  EXPECT_FALSE(options.run_length_s());
  // At most.
  ASSERT_TRUE(set_option(options, "until", {"fill=2.0,duration=70s"}));
  EXPECT_DOUBLE_EQ(options.run_length_s().value_or(0), 70);
}

TEST(ExperimentOptions, JsonGivesThemBack) {
  ExperimentOptions options = quick_options();
  options.scheme_options["ufs"] = "l1=2,l2=4";
  options.exclusions.push_back({"ufs", "here", ""});
  ASSERT_TRUE(set_option(options, "mount", {"default", "noatime"}));
  ASSERT_TRUE(set_option(options, "seed", {"18446744073709551615"}));
  ASSERT_TRUE(set_option(options, "mkfs", {"ext4=-g 2048", "xfs=-b size=1024"}));
  ASSERT_TRUE(set_option(options, "disks", {"0,2"}));
  ASSERT_TRUE(set_option(options, "device-path", {"/dev/a,/dev/b"}));
  ASSERT_TRUE(set_option(options, "user", {"someone"}));
  ASSERT_TRUE(set_option(options, "memory", {"64M"}));
  EXPECT_EQ(options.memory.limit_bytes, 64ULL << 20);
  const auto back = options_from_json(options_to_json(options));
  ASSERT_TRUE(back) << back.error().text;
  EXPECT_EQ(options_to_json(*back), options_to_json(options));
  EXPECT_EQ(first_difference(*back, options), "");
}

TEST(ExperimentOptions, OnlyWhatChangesTheWorkIsADifference) {
  ExperimentOptions left;
  ExperimentOptions right;
  right.repeat = 40;
  right.random_order = false;
  EXPECT_EQ(first_difference(left, right), "");
  right.cache_size_bytes *= 2;
  EXPECT_EQ(first_difference(left, right), "cache-size");
  right = left;
  right.trace = "x.log";
  EXPECT_EQ(first_difference(left, right), "trace");
  EXPECT_EQ(first_difference(right, left), "trace");
}

TEST(ExperimentOptions, ATraceTakesSomeOptionsOnly) {
  ExperimentOptions options;
  ASSERT_TRUE(set_option(options, "trace", {"x.log"}));
  EXPECT_TRUE(check_options(options));
  auto timed = options;
  ASSERT_TRUE(set_option(timed, "until", {"duration=5s"}));
  EXPECT_THAT(check_options(timed).error().text, HasSubstr("requests=N"));
  auto robots = options;
  ASSERT_TRUE(set_option(robots, "load", {"robots=5"}));
  EXPECT_THAT(check_options(robots).error().text, HasSubstr("best-effort=N"));
  ASSERT_TRUE(set_option(options, "load", {"best-effort=5"}));
  ASSERT_TRUE(set_option(options, "time-scale", {"5"}));
  EXPECT_THAT(check_options(options).error().text, HasSubstr("one of them"));
  EXPECT_FALSE(options_to_json(robots).contains("until"));
}

TEST(ExperimentFile, SaysAllThatOptionsCanAndMore) {
  ExperimentOptions options;
  const auto done = apply_options_text(options, R"(
scheme = ["none", "ufs"]
cache_size = "2G"
time-scale = 2.5
repeat = 7
order = "listed"
[scheme-options]
ufs = "l1=4"
[[exclude]]
scheme = "ufs"
filesystem = "here"
)",
                                       "e.toml");
  ASSERT_TRUE(done) << done.error().text;
  EXPECT_THAT(options.schemes, ElementsAre("none", "ufs"));
  EXPECT_EQ(options.cache_size_bytes, 2ULL << 30);
  EXPECT_DOUBLE_EQ(options.time_scale, 2.5);
  EXPECT_EQ(options.repeat, 7U);
  EXPECT_FALSE(options.random_order);
  EXPECT_EQ(options.scheme_options.at("ufs"), "l1=4");
  ASSERT_EQ(options.exclusions.size(), 1U);
  EXPECT_EQ(options.exclusions[0].scheme, "ufs");
}

TEST(ExperimentFile, ASchemeHasALoadAndAGoalOfItsOwn) {
  ExperimentOptions options;
  const auto done = apply_options_text(options, R"(
load = "peak"
[scheme-load]
none = "peak,window=3s..4s"
[scheme-until]
none = "duration=40s"
)",
                                       "e.toml");
  ASSERT_TRUE(done) << done.error().text;
  ASSERT_TRUE(check_options(options));
  const auto none = options_of_scheme(options, "none");
  EXPECT_EQ(none.load, "peak,window=3s..4s");
  EXPECT_EQ(none.goal(), "duration=40s");
  EXPECT_EQ(options_of_scheme(options, "ufs").goal(), "fill=2.0");
  const auto read = options_from_json(options_to_json(options));
  ASSERT_TRUE(read) << read.error().text;
  EXPECT_EQ(read->scheme_loads, options.scheme_loads);
  EXPECT_EQ(read->scheme_untils, options.scheme_untils);
  auto other = options;
  other.scheme_untils["none"] = "duration=50s";
  EXPECT_EQ(first_difference(options, other), "scheme-until");
  other.load = "best-effort=5";
  other.phases = "polymix4";
  EXPECT_THAT(check_options(other).error().text, HasSubstr("scheme-until.none: --until"));
  EXPECT_THAT(file_problem("scheme-until = 1\n"), HasSubstr("must be a table"));
  EXPECT_THAT(file_problem("[scheme-until]\nnone = 3\n"), HasSubstr("scheme-until.none: must be"));
  EXPECT_THAT(file_problem("[scheme-until]\nnone = \"forever\"\n"),
              HasSubstr("e.toml:2: scheme-until.none: 'forever' is no goal"));
}

TEST(ExperimentFile, ProblemsNameFileAndLine) {
  EXPECT_THAT(file_problem("scheme = \"ufs\"\ncolour = 1\n"), HasSubstr("e.toml:2: "));
  EXPECT_THAT(file_problem("scheme = \"ufs\"\ncolour = 1\n"), HasSubstr("colour"));
  EXPECT_THAT(file_problem("\nrepeat = \"x\"\n"), HasSubstr("e.toml:2: --repeat 'x'"));
  EXPECT_THAT(file_problem("scheme = \n"), HasSubstr("e.toml:1: "));
  EXPECT_THAT(file_problem("scheme = {a = 1}\n"), HasSubstr("scheme must be"));
  EXPECT_THAT(file_problem("[[exclude]]\nsize = \"1\"\n"), HasSubstr("exclude.size"));
  EXPECT_THAT(file_problem("[[exclude]]\n"), HasSubstr("excludes everything"));
  EXPECT_THAT(file_problem("[scheme-options]\nufs = 3\n"), HasSubstr("scheme-options.ufs"));
}

TEST(ExperimentOptions, ThePeakFinderRunsToTwiceTheCacheUnlessToldOtherwise) {
  ExperimentOptions options;
  ASSERT_TRUE(set_option(options, "load", {"peak,max=500"}));
  EXPECT_TRUE(options.finds_peak());
  EXPECT_EQ(options.goal(), "fill=2.0");
  EXPECT_FALSE(options.run_length_s());
  EXPECT_EQ(options_to_json(options).at("until").as_string(), "fill=2.0");
  ASSERT_TRUE(set_option(options, "until", {"duration=90s"}));
  EXPECT_EQ(options.run_length_s(), 90.0);
}

TEST(ExperimentOptions, PhasesStandInTheGoalsPlace) {
  ExperimentOptions options;
  EXPECT_FALSE(set_option(options, "phases", {"polymix5"}));
  ASSERT_TRUE(set_option(options, "phases", {"polymix4,plateau=1h"}));
  EXPECT_TRUE(check_options(options));
  EXPECT_FALSE(options.run_length_s());
  EXPECT_FALSE(options_to_json(options).contains("until"));
  const auto back = options_from_json(options_to_json(options));
  ASSERT_TRUE(back);
  EXPECT_EQ(back->phases, "polymix4,plateau=1h");
  EXPECT_EQ(first_difference(options, *back), "");
  ASSERT_TRUE(set_option(options, "until", {"duration=90s"}));
  EXPECT_FALSE(check_options(options));
}

TEST(ExperimentOptions, WhatIsForOneStartIsNotTakenFromResults) {
  for (const char* name : {"yes", "resume", "dry-run", "clean-up", "out", "short"}) {
    auto kept = options_to_json(ExperimentOptions());
    kept[name] = "true";
    const auto read = options_from_json(kept);
    ASSERT_FALSE(read) << name;
    EXPECT_THAT(read.error().text, HasSubstr(std::string("experiment.") + name));
  }
}

}  // namespace
}  // namespace workload
