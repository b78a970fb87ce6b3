// What an experiment varies: read from its file, laid out as cells, refused where it can't be.
#include "workload/experiment/variation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "workload/experiment/options_file.h"
#include "workload/experiment/plan.h"
#include "workload/experiment/variation_check.h"
#include "workload/report/results.h"
#include "workload/system/registry.h"

namespace workload {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::vector<ProxyOptionRow> kProxyOptions{{"memory-cache", "size", "0"},
                                                {"test-delay", "time", "0s"}};

ExperimentOptions varied_options(std::string_view text, bool short_form = false) {
  ExperimentOptions options;
  options.short_form = short_form;
  const auto done = apply_options_text(options, text, "e.toml");
  EXPECT_TRUE(done) << done.error().text;
  return options;
}

std::string problem_of_file(std::string_view text) {
  ExperimentOptions options;
  const auto done = apply_options_text(options, text, "e.toml");
  if (done) return "";
  EXPECT_TRUE(done.error().usage);
  return done.error().text;
}

std::string problem_of_check(std::string_view text) {
  const auto done = check_variation(varied_options(text), kProxyOptions);
  if (done) return "";
  EXPECT_TRUE(done.error().usage);
  EXPECT_EQ(done.error().text.find('\n'), std::string::npos);
  return done.error().text;
}

std::vector<std::string> variant_names(const ExperimentOptions& options,
                                       const std::string& scheme) {
  std::vector<std::string> names;
  for (const auto& variant : variants_of(options.variation, system_in_variation(scheme), scheme)) {
    names.push_back(variant.name);
  }
  return names;
}

constexpr std::string_view kNginx =
    "scheme = \"nginx\"\n[vary.nginx]\nworker_processes = [1, 2]\nmulti_accept = true\n";

TEST(Variation, IsReadFromAFileAndComesBackFromJson) {
  auto options = varied_options(std::string(kNginx) +
                                "[[variant]]\nname = \"epoll named\"\nsystem = \"nginx\"\n"
                                "options = { use = \"epoll\", \"upstream.keepalive\" = 64 }\n");
  ASSERT_EQ(options.variation.options.size(), 2U);
  EXPECT_EQ(options.variation.options[0].of, "nginx");
  EXPECT_EQ(options.variation.options[0].option, "multi_accept");
  EXPECT_THAT(options.variation.options[0].values, ElementsAre("on"));
  EXPECT_THAT(options.variation.options[1].values, ElementsAre("1", "2"));
  ASSERT_EQ(options.variation.variants.size(), 1U);
  EXPECT_EQ(options.variation.variants[0].options.at("upstream.keepalive"), "64");
  ASSERT_TRUE(set_option(options, "vary-mode", {"crossed"}));
  const auto again = options_from_json(options_to_json(options));
  ASSERT_TRUE(again) << again.error().text;
  EXPECT_TRUE(again->variation.crossed);
  EXPECT_EQ(variant_names(*again, "nginx"), variant_names(options, "nginx"));
  EXPECT_EQ(first_difference(options, *again), "");
  EXPECT_EQ(first_difference(options, varied_options(kNginx)), "vary-mode");
  EXPECT_FALSE(options_to_json(ExperimentOptions{}).contains("vary"));
}

TEST(Variation, OneOptionAtATimeOrEveryCombination) {
  auto options = varied_options(kNginx);
  EXPECT_THAT(variant_names(options, "nginx"),
              ElementsAre("multi_accept=on", "worker_processes=1", "worker_processes=2"));
  EXPECT_EQ(count_variants(options.variation, "nginx", "nginx"), 3U);
  options.variation.crossed = true;
  EXPECT_THAT(
      variant_names(options, "nginx"),
      ElementsAre("worker_processes=1", "worker_processes=2", "multi_accept=on",
                  "multi_accept=on, worker_processes=1", "multi_accept=on, worker_processes=2"));
  EXPECT_EQ(count_variants(options.variation, "nginx", "nginx"), 5U);
  EXPECT_THAT(variant_names(options, "ufs"), ElementsAre());
  const auto variants = variants_of(options.variation, "nginx", "nginx");
  EXPECT_EQ(variants[4].options, (std::map<std::string, std::string>{{"multi_accept", "on"},
                                                                     {"worker_processes", "2"}}));
}

TEST(Variation, TheShortFormHasVariantsOfItsOwn) {
  const std::string text = std::string(kNginx) + "[short.vary.nginx]\nworker_processes = 4\n";
  EXPECT_THAT(variant_names(varied_options(text, true), "nginx"),
              ElementsAre("worker_processes=4"));
  EXPECT_EQ(variant_names(varied_options(text), "nginx").size(), 3U);
}

TEST(Variation, VariantsAreCellsBehindTheirBase) {
  auto options = varied_options(
      "scheme = [\"none\", \"ufs\", \"nginx\"]\n[vary.proxy]\nmemory-cache = [\"1M\"]\n"
      "[vary.scheme]\nufs = [\"l1=4,l2=8\"]\n[vary.nginx]\nserver_tokens = \"\"\n"
      "[scheme-options]\nufs = \"l1=2\"\n");
  std::vector<SchemeRow> schemes{{"none", false, false, false, "nothing"},
                                 {"ufs", true, true, false, "files"}};
  const auto others = system_scheme_rows();
  schemes.insert(schemes.end(), others.begin(), others.end());
  const auto plan = make_plan(options, schemes, [](const CellPlan&) { return std::string(); });
  ASSERT_TRUE(plan) << plan.error().text;
  std::vector<std::string> names;
  for (const auto& cell : plan->cells) {
    names.push_back(cell.name);
    EXPECT_TRUE(is_cell_name(cell.name)) << cell.name;
  }
  EXPECT_THAT(names,
              ElementsAre("none", "none-memory-cache=1M", "ufs-here", "ufs-here-memory-cache=1M",
                          "ufs-here-l1=4-l2=8", "nginx-here", "nginx-here-server-tokens-removed"));
  EXPECT_EQ(plan->cells[2].variant, kBaseVariant);
  EXPECT_EQ(plan->cells[2].variant_of, "");
  EXPECT_EQ(plan->cells[2].scheme_options, "l1=2");
  EXPECT_EQ(plan->cells[3].variant_of, "ufs-here");
  EXPECT_EQ(plan->cells[3].scheme_options, "l1=2");
  EXPECT_EQ(options_of_cell(plan->cells[3], options).at("memory-cache"), "1M");
  EXPECT_EQ(plan->cells[4].scheme_options, "l1=4,l2=8");
  EXPECT_EQ(plan->cells[6].variant_options.at("server_tokens"), "");
  // Each round has every variant once.
  EXPECT_EQ(plan->order.size(), plan->cells.size() * options.repeat);
}

TEST(Variation, LongNamesStayNamesOfCells) {
  auto options = varied_options("scheme = \"nginx\"\n[vary.nginx]\naa = \"" +
                                std::string(200, 'x') + "\"\nbb = [\"" + std::string(190, 'x') +
                                "/\", \"" + std::string(190, 'x') + ":\"]\n");
  options.variation.crossed = true;
  const auto plan =
      make_plan(options, system_scheme_rows(), [](const CellPlan&) { return std::string(); });
  ASSERT_TRUE(plan);
  std::set<std::string> names;
  for (const auto& cell : plan->cells) {
    EXPECT_TRUE(is_cell_name(cell.name)) << cell.name;
    EXPECT_TRUE(names.insert(cell.name).second) << cell.name;
  }
}

TEST(Variation, WhatIsWrongInTheFileNamesTableAndKey) {
  EXPECT_EQ(problem_of_file("[vary.nginx]\nuse = []\n"),
            "e.toml:2: vary.nginx.use must list at least one value");
  EXPECT_EQ(problem_of_file("[vary.nginx]\nuse = [\"a\", \"a\"]\n"),
            "e.toml:2: vary.nginx.use: 'a' is listed twice");
  EXPECT_THAT(problem_of_file("[vary.nginx]\nuse = [[1]]\n"),
              HasSubstr("e.toml:2: vary.nginx.use must list strings, numbers"));
  EXPECT_THAT(problem_of_file("[vary]\nnginx = 1\n"),
              HasSubstr("e.toml:2: vary.nginx must be a table of options"));
  EXPECT_THAT(problem_of_file("vary = 1\n"), HasSubstr("write vary as [vary.nginx]"));
  EXPECT_THAT(problem_of_file("variant = 1\n"),
              HasSubstr("variant must be written as [[variant]]"));
  const std::string one = "[[variant]]\nname = \"a\"\nsystem = \"nginx\"\noptions = { b = 1 }\n";
  EXPECT_EQ(problem_of_file(one), "");
  EXPECT_EQ(problem_of_file(one + one), "e.toml:5: variant 'a': is there twice for nginx");
  EXPECT_THAT(problem_of_file("[[variant]]\nname = \"base\"\n"), HasSubstr("variant.name 'base'"));
  EXPECT_THAT(problem_of_file("[[variant]]\nname = \"a\"\n"),
              HasSubstr("variant 'a': needs system and options"));
  EXPECT_THAT(problem_of_file("[[variant]]\nname = \"a\"\noptions = {}\n"),
              HasSubstr("variant.options must be a table"));
  EXPECT_THAT(problem_of_file("[[variant]]\nnames = \"a\"\n"),
              HasSubstr("variant.names: name and system may stand here"));
  EXPECT_THAT(problem_of_file("vary-mode = \"all\"\n"), HasSubstr("one-at-a-time or crossed"));
}

TEST(Variation, WhatCanNotBeVariedIsRefused) {
  EXPECT_EQ(problem_of_check(kNginx), "");
  EXPECT_THAT(problem_of_check("scheme = \"nginx\"\n[vary.apache]\na = 1\n"),
              HasSubstr("vary.apache: no such system: 'apache'; there are proxy, scheme, squid, "
                        "nginx"));
  EXPECT_EQ(problem_of_check("scheme = \"nginx\"\n[vary.nginx]\nlisten = 80\n"),
            "vary.nginx.listen: the bench sets it");
  EXPECT_EQ(problem_of_check("scheme = \"nginx\"\n[vary.nginx]\n\"location.proxy_pass\" = \"x\"\n"),
            "vary.nginx.location.proxy_pass: the bench sets it");
  EXPECT_EQ(problem_of_check("scheme = \"nginx\"\n[[variant]]\nname = \"a\"\nsystem = \"nginx\"\n"
                             "options = { pid = \"x\" }\n"),
            "variant 'a', options.pid: the bench sets it");
  EXPECT_EQ(problem_of_check("scheme = \"memory\"\n[vary.proxy]\nlisten = \"x\"\n"),
            "vary.proxy.listen: the bench sets it");
  EXPECT_EQ(problem_of_check("scheme = \"memory\"\n[vary.proxy]\nmemory = \"1M\"\n"),
            "vary.proxy.memory: cacheoff-proxy has no such option");
  EXPECT_EQ(problem_of_check("scheme = \"memory\"\n[vary.nginx]\nuse = \"epoll\"\n"),
            "vary.nginx: the experiment has no scheme of nginx");
  EXPECT_EQ(problem_of_check("scheme = \"nginx\"\n[vary.proxy]\ntest-delay = \"1us\"\n"),
            "vary.proxy: the experiment has no scheme of proxy");
  EXPECT_EQ(problem_of_check("scheme = \"memory\"\n[vary.scheme]\nufs = \"l1=2\"\n"),
            "vary.scheme.ufs: the experiment has no scheme of that name");
  EXPECT_EQ(problem_of_check("scheme = \"nginx\"\n[vary.nginx]\na = 1\n[[variant]]\n"
                             "name = \"a=1\"\nsystem = \"nginx\"\noptions = { b = 1 }\n"),
            "variant 'a=1': two variants of nginx have that name");
  std::string many = "scheme = \"nginx\"\nvary-mode = \"crossed\"\n[vary.nginx]\n";
  for (char name = 'a'; name <= 'z'; ++name) many += std::string(1, name) + " = [1, 2, 3, 4]\n";
  EXPECT_THAT(problem_of_check(many), HasSubstr("vary.nginx: more than 500 variants of nginx"));
}

}  // namespace
}  // namespace workload
