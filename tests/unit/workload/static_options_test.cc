// Loads by `cacheoff ab` and the static servers that they belong to, as they are asked for.
#include "workload/experiment/static_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "workload/experiment/options_file.h"

namespace workload {
namespace {

using testing::AllOf;
using testing::HasSubstr;

/// Options of an experiment that is right.
ExperimentOptions static_options(const std::string& load = "ab=10,requests=100000") {
  ExperimentOptions options;
  EXPECT_TRUE(set_option(options, "scheme", {"static:nginx,static:origin"}));
  EXPECT_TRUE(set_option(options, "load", {load}));
  return options;
}

std::string refusal(const ExperimentOptions& options) {
  const auto checked = check_options(options);
  if (checked) return {};
  EXPECT_TRUE(checked.error().usage);
  return checked.error().text;
}

TEST(AbLoad, WordsAreReadInAnyOrderAndWrittenInOne) {
  const auto load = parse_ab_load("ab=100,gzip,threads=2,requests=5000,keep-alive");
  ASSERT_TRUE(load) << load.error().text;
  EXPECT_EQ(load->connections, 100U);
  EXPECT_EQ(load->requests, 5000U);
  EXPECT_TRUE(load->gzip);
  EXPECT_TRUE(load->keep_alive);
  EXPECT_EQ(load->threads, 2U);
  EXPECT_EQ(load->text(), "ab=100,requests=5000,keep-alive,gzip,threads=2");
  EXPECT_EQ(parse_ab_load("ab=1")->text(), "ab=1");
  ExperimentOptions options;
  ASSERT_TRUE(set_option(options, "load", {"ab=3,keep-alive,requests=9"}));
  EXPECT_EQ(options.load, "ab=3,requests=9,keep-alive");
}

TEST(AbLoad, WhatIsNoneIsRefusedWithWhatWouldBeRight) {
  for (const char* text :
       {"ab", "ab=", "ab=0", "ab=20001", "ab=x", "ab=1,", "ab=1,,gzip", "ab=1,requests=0",
        "ab=1,requests=", "ab=1,gzip,gzip", "ab=1,requests=5,requests=6", "ab=1,keepalive",
        "ab=1,threads=2", "ab=1 ,gzip", "ab=-1"}) {
    ExperimentOptions options;
    const auto set = set_option(options, "load", {text});
    ASSERT_FALSE(set) << text;
    EXPECT_TRUE(set.error().usage) << text;
    EXPECT_THAT(set.error().text, HasSubstr("right would be ab=CONNECTIONS")) << text;
  }
  EXPECT_FALSE(is_ab_load("abc=1"));
  EXPECT_FALSE(is_ab_load("best-effort=64"));
}

TEST(StaticOptions, StaticServersAndAbBelongTogether) {
  EXPECT_EQ(refusal(static_options()), "");
  EXPECT_THAT(refusal(static_options("best-effort=8")),
              AllOf(HasSubstr("static:nginx serves one file"), HasSubstr("ab=10")));
  ExperimentOptions options;
  ASSERT_TRUE(set_option(options, "load", {"ab=10"}));
  ASSERT_TRUE(set_option(options, "scheme", {"static:origin,ufs"}));
  EXPECT_THAT(refusal(options), AllOf(HasSubstr("ufs is none"), HasSubstr("static:lighttpd"),
                                      HasSubstr("best-effort=64 for ufs")));
}

TEST(StaticOptions, WhatMeansNothingToThemIsRefused) {
  const auto with = [](const char* name, const char* value) {
    ExperimentOptions options = static_options("ab=10");
    EXPECT_TRUE(set_option(options, name, {value})) << name;
    return refusal(options);
  };
  for (const auto& [name, value] : {std::pair("cache-size", "1G"), std::pair("workload", "simple"),
                                    std::pair("trace", "a.log"), std::pair("phases", "polymix4")}) {
    EXPECT_THAT(with(name, value), HasSubstr("means nothing to static servers")) << name;
  }
  EXPECT_THAT(with("disks", "2"), HasSubstr("one folder"));
  EXPECT_THAT(with("until", "fill=2.0"), HasSubstr("no cache to fill"));
  EXPECT_THAT(with("until", "requests=9"), HasSubstr("more than the 9 requests"));
  EXPECT_EQ(with("until", "duration=5s"), "");
  EXPECT_EQ(with("until", "requests=10"), "");
  EXPECT_EQ(with("file-size", "151"), "");
  ExperimentOptions both = static_options();
  ASSERT_TRUE(set_option(both, "until", {"duration=5s"}));
  EXPECT_THAT(refusal(both), HasSubstr("leave one of them out"));
  ExperimentOptions of_a_cache;
  ASSERT_TRUE(set_option(of_a_cache, "file-size", {"151"}));
  EXPECT_THAT(refusal(of_a_cache), HasSubstr("static servers"));
  ExperimentOptions stores = static_options();
  stores.scheme_options["static:nginx"] = "a=b";
  EXPECT_THAT(refusal(stores), HasSubstr("[system-options.\"static:nginx\"]"));
  for (const char* size : {"0", "257M", "x", ""}) {
    ExperimentOptions options;
    EXPECT_FALSE(set_option(options, "file-size", {size})) << size;
  }
}

TEST(StaticOptions, TheGoalIsTheLoadsOrTheExperiments) {
  EXPECT_EQ(static_options().goal(), "requests=100000");
  EXPECT_FALSE(static_options().run_length_s());
  ExperimentOptions timed = static_options("ab=10,keep-alive");
  ASSERT_TRUE(set_option(timed, "until", {"duration=20s"}));
  EXPECT_EQ(timed.goal(), "duration=20s");
  EXPECT_EQ(timed.run_length_s(), 20);
}

TEST(StaticOptions, AreKeptWithoutWhatTheyHaveNot) {
  ExperimentOptions options = static_options();
  ASSERT_TRUE(set_option(options, "file-size", {"151"}));
  const auto json = options_to_json(options);
  EXPECT_EQ(json.at("load"), "ab=10,requests=100000");
  EXPECT_EQ(json.at("file-size"), "151");
  for (const char* name : {"cache-size", "workload", "until"}) {
    EXPECT_FALSE(json.contains(name)) << name;
  }
  const auto again = options_from_json(json);
  ASSERT_TRUE(again) << again.error().text;
  EXPECT_EQ(refusal(*again), "");
  EXPECT_EQ(first_difference(options, *again), "");
  ExperimentOptions other = options;
  ASSERT_TRUE(set_option(other, "load", {"ab=10,requests=100000,keep-alive"}));
  EXPECT_EQ(first_difference(options, other), "load");
  other = options;
  ASSERT_TRUE(set_option(other, "file-size", {"152"}));
  EXPECT_EQ(first_difference(options, other), "file-size");
  EXPECT_FALSE(options_to_json(ExperimentOptions{}).contains("file-size"));
}

TEST(StaticOptions, TheirServersOptionsHaveATableOfTheirOwn) {
  ExperimentOptions options;
  const auto read = apply_options_text(options,
                                       "scheme = [\"static:nginx\"]\nload = \"ab=10\"\n"
                                       "[system-options.\"static:nginx\"]\ngzip = true\n",
                                       "x.toml");
  ASSERT_TRUE(read) << read.error().text;
  EXPECT_EQ(options.system_options["static:nginx"].at("gzip"), "on");
  // It takes the place of no load: that of the experiment is the only one.
  const auto own_load =
      apply_options_text(options, "[scheme-load]\n\"static:nginx\" = \"ab=5\"\n", "x.toml");
  EXPECT_FALSE(own_load);
}

}  // namespace
}  // namespace workload
