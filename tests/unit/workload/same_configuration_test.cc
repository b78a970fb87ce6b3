// Whether two variants are in truth the same configuration, and why.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "storage/base/units.h"
#include "workload/experiment/cell_description.h"
#include "workload/experiment/effective_configuration.h"
#include "workload/experiment/proxy_options.h"
#include "workload/system/cell_configuration.h"
#include "workload/system/nginx_configuration.h"
#include "workload/system/nginx_defaults.h"
#include "workload/system/registry.h"

namespace workload {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

using OptionMap = std::map<std::string, std::string>;

ConfigurationGrounds grounds() {
  ConfigurationGrounds here;
  here.kernel = "Linux";
  here.cpus = 2;
  here.open_files_max = 20000;
  here.proxy_options = {{"memory-cache", "size", "0"},
                        {"header-timeout", "time", "30s"},
                        {"max-connections", "count", "20000"},
                        {"forwarded-for", "text", "on"},
                        {"via-name", "text", ""}};
  return here;
}

EffectiveConfiguration configured(const std::string& scheme, const OptionMap& variant,
                                  const std::string& scheme_options = {}) {
  CellPlan cell;
  cell.scheme = scheme;
  cell.needs_path = true;
  cell.disks = 1;
  cell.variant = "a variant";
  cell.variant_options = variant;
  cell.scheme_options = scheme_options;
  ExperimentOptions options;
  options.cache_size_bytes = 256 * storage::kMiB;
  return configuration_of_cell(cell, options, grounds());
}

/// Why a variant of nginx is as the base; `-` where it is not.
std::string nginx_same(const OptionMap& variant, const OptionMap& base = {}) {
  return why_same(configured("nginx", base), configured("nginx", variant)).value_or("-");
}

std::string proxy_same(const OptionMap& variant) {
  return why_same(configured("ufs", {}), configured("ufs", variant)).value_or("-");
}

const ConfigurationLine* line_of(const EffectiveConfiguration& configuration,
                                 const std::string& place, const std::string& name) {
  const auto found =
      std::find_if(configuration.begin(), configuration.end(),
                   [&](const auto& line) { return line.place == place && line.name == name; });
  return found == configuration.end() ? nullptr : &*found;
}

TEST(NginxConfiguration, IsReadWithItsSectionsQuotesAndComments) {
  const auto directives = parse_nginx(
      "a 1; # b 2;\nevents { use epoll; }\nhttp {\n  log_format x '$a;{}' \"it's \\\"\"\n 'b';\n"
      "  server { location = /x { r ${v}y; } location / { s t; } }\n  map $a $b { \"\" c; }\n}\n");
  std::vector<std::string> lines;
  for (const auto& one : directives) {
    std::string line = one.section + ":";
    for (const auto& word : one.words) line += " <" + word + ">";
    lines.push_back(line);
  }
  EXPECT_THAT(lines, ElementsAre(": <a> <1>", "events: <use> <epoll>",
                                 "http: <log_format> <x> <$a;{}> <it's \"> <b>",
                                 "http/server/location = /x: <r> <${v}y>",
                                 "http/server/location /: <s> <t>", "http/map $a $b: <> <c>"));
  // Whatever it is given, it ends.
  EXPECT_THAT(parse_nginx("}}} { ; 'a"), IsEmpty());
  EXPECT_THAT(parse_nginx("a ${b"), IsEmpty());
}

TEST(NginxConfiguration, DefaultsAreFilledInAndInnerSectionsGoFirst) {
  const auto read = nginx_configuration(
      "worker_processes auto; events { } http { sendfile on; keepalive_timeout 2m 10; server {"
      " location = /s { access_log off; } location / { sendfile off; } } upstream o { server x; } "
      "}",
      {"Linux", 3});
  const auto value = [&](const char* place, const char* name) {
    const auto* line = line_of(read, place, name);
    return line == nullptr ? std::string("-") : line->value + " < " + line->written;
  };
  EXPECT_EQ(value("", "worker_processes"), "3 < auto");
  EXPECT_EQ(value("events", "use"), "epoll < ");
  EXPECT_EQ(value("events", "worker_connections"), "512 < ");
  EXPECT_EQ(value("http", "sendfile"), "off < off");
  EXPECT_EQ(value("http", "tcp_nodelay"), "on < ");
  EXPECT_EQ(value("http", "keepalive_timeout"), "120000ms 10000ms < 2m 10");
  EXPECT_EQ(value("http/upstream o", "keepalive_timeout"), "60000ms < ");
  EXPECT_EQ(value("http/server/location = /s", "access_log"), "off < off");
  const auto unknown = nginx_configuration("", {"Plan9", 1});
  EXPECT_EQ(line_of(unknown, "events", "use"), nullptr);
  EXPECT_EQ(line_of(nginx_configuration("", {"FreeBSD", 1}), "events", "use")->value, "kqueue");
}

TEST(NginxConfiguration, EveryDefaultIsThereOnce) {
  const auto read = nginx_configuration("http { upstream o { server x; } }", {"Linux", 1});
  EXPECT_EQ(read.size(), nginx_defaults().size() + 2);
  for (const auto& row : nginx_defaults()) {
    const auto all = nginx_defaults();
    EXPECT_EQ(std::count_if(all.begin(), all.end(),
                            [&](const NginxDefault& other) {
                              return other.name == row.name && other.context == row.context;
                            }),
              1)
        << row.name;
  }
}

TEST(NginxConfiguration, TheLogSaysTheEventMethod) {
  EXPECT_EQ(said_by_nginx("2024/01/01 00:00:00 [notice] 1#1: using the \"epoll\" event method\n"
                          "2024/01/01 00:00:00 [notice] 1#1: nginx/1.22.1\n"),
            (OptionMap{{"events.use", "epoll"}}));
  EXPECT_TRUE(said_by_nginx("using the \"").empty());
  EXPECT_TRUE(said_by_nginx("").empty());
}

TEST(SameConfiguration, ADefaultThatIsNamedIsNoVariant) {
  EXPECT_EQ(nginx_same({{"use", "epoll"}}), "`use epoll` is the default here");
  EXPECT_EQ(nginx_same({{"multi_accept", "off"}}), "`multi_accept off` is the default here");
  EXPECT_EQ(nginx_same({{"gzip", "off"}, {"tcp_nodelay", "on"}}),
            "`gzip off` is the default here, `tcp_nodelay on` is the default here");
  EXPECT_EQ(nginx_same({{"worker_connections", "512"}}, {{"worker_connections", ""}}),
            "`worker_connections 512` is the default here");
  EXPECT_EQ(nginx_same({{"accept_mutex_delay", "500ms"}}),
            "`accept_mutex_delay 500ms` is the default here");
  EXPECT_EQ(nginx_same({{"send_timeout", "1m"}}), "`send_timeout 1m` is the default here");
}

TEST(SameConfiguration, OneValueInAnotherWritingIsNoVariant) {
  EXPECT_EQ(nginx_same({{"keepalive_timeout", "1h"}}), "`keepalive_timeout 1h` is `3600s`");
  EXPECT_EQ(nginx_same({{"worker_processes", "2"}}, {{"worker_processes", "auto"}}),
            "`worker_processes 2` is `auto`");
  // Written as it is generated anyway.
  EXPECT_EQ(nginx_same({{"worker_processes", "1"}}), "");
  EXPECT_EQ(nginx_same({{"location.sendfile", "on"}}), "");
}

TEST(SameConfiguration, WhatDiffersIsNotTheSame) {
  for (const auto& variant :
       {OptionMap{{"use", "select"}}, OptionMap{{"multi_accept", "on"}},
        OptionMap{{"worker_connections", "51200"}}, OptionMap{{"worker_processes", "2"}},
        OptionMap{{"access_log", "off"}}, OptionMap{{"sendfile", ""}}, OptionMap{{"gzip", "on"}},
        OptionMap{{"proxy_cache_valid", "1m"}}, OptionMap{{"use", "epoll"}, {"gzip", "on"}}}) {
    EXPECT_EQ(nginx_same(variant), "-") << variant.begin()->first;
  }
}

TEST(SameConfiguration, OurProxysDefaultsAreThoseThatItLists) {
  EXPECT_EQ(proxy_same({{"memory-cache", "0"}}), "`memory-cache 0` is the default here");
  EXPECT_EQ(proxy_same({{"header-timeout", "30000ms"}}),
            "`header-timeout 30000ms` is the default here");
  EXPECT_EQ(proxy_same({{"max-connections", "20000"}}),
            "`max-connections 20000` is the default here");
  EXPECT_EQ(proxy_same({{"memory-cache", "1M"}}), "-");
  EXPECT_EQ(proxy_same({{"via-name", "x"}}), "-");
  EXPECT_EQ(why_same(configured("ufs", {}, "l1=2,l2=4"), configured("ufs", {}, "l2=4,l1=2"))
                .value_or("-"),
            "`cache-dir scheme=ufs,path=/cache/1,size=268435456,l2=4,l1=2` is "
            "`scheme=ufs,path=/cache/1,size=268435456,l1=2,l2=4`");
  EXPECT_FALSE(why_same(configured("ufs", {}, "l1=2"), configured("ufs", {}, "l1=4")));
  const auto rows = parse_proxy_options("listen\ttext\t127.0.0.1:1\nvia-name\ttext\t\n");
  ASSERT_TRUE(rows);
  EXPECT_EQ(rows->at(0).default_text, "127.0.0.1:1");
  EXPECT_EQ(rows->at(1).default_text, "");
  EXPECT_FALSE(parse_proxy_options(""));
  EXPECT_THAT(parse_proxy_options("listen\n").error().text, HasSubstr("'listen'"));
}

TEST(SameConfiguration, OfOtherSystemsOnlyWhatIsWrittenAlikeIsTheSame) {
  for (const auto& kind : other_systems()) {
    const std::string scheme(kind.scheme);
    const auto base = configured(scheme, {});
    EXPECT_FALSE(base.empty()) << scheme;
    EXPECT_EQ(why_same(base, configured(scheme, {})).value_or("-"), "") << scheme;
    EXPECT_FALSE(why_same(base, configured(scheme, {{"a_new_option", "1"}}))) << scheme;
  }
  EXPECT_EQ(why_same(configured("squid:ufs", {}), configured("squid:ufs", {{"cache_mem", "0 MB"}}))
                .value_or("-"),
            "");
}

TEST(SameConfiguration, WhatTheSystemSaidGoesBeforeWhatIsThought) {
  auto base = configured("nginx", {});
  auto named = configured("nginx", {{"use", "epoll"}});
  keep_differences({&base, &named});
  ASSERT_EQ(base.size(), 1U);
  apply_said(base, {{"events.use", "epoll"}});
  apply_said(named, {{"events.use", "epoll"}});
  EXPECT_EQ(why_same(base, named).value_or("-"),
            "`use epoll` is what it takes here by itself, as its log says");
  apply_said(base, {{"events.use", "poll"}});
  EXPECT_FALSE(why_same(base, named));
}

TEST(SameConfiguration, OnlyWhatDiffersIsKeptAndComesBackFromJson) {
  auto base = configured("nginx", {});
  auto other = configured("nginx", {{"gzip", "on"}, {"new_one", "1"}});
  keep_differences({&base, &other});
  ASSERT_EQ(base.size(), 1U);
  EXPECT_EQ(base[0].name, "gzip");
  ASSERT_EQ(other.size(), 2U);
  const auto again = configuration_from_json(configuration_to_json(other));
  EXPECT_EQ(why_same(other, again).value_or("-"), "");
  EXPECT_FALSE(why_same(base, again));
  const auto nothing = configuration_from_json({1, boost::json::object{}});
  EXPECT_THAT(nothing, IsEmpty());
}

TEST(SameConfiguration, ADryRunSaysSo) {
  Plan plan;
  for (const auto& [name, options] : {std::pair<std::string, OptionMap>{"base", {}},
                                      {"use=epoll", {{"use", "epoll"}}},
                                      {"multi_accept=on", {{"multi_accept", "on"}}},
                                      {"both", {{"multi_accept", "on"}, {"gzip", "off"}}}}) {
    CellPlan cell;
    cell.scheme = "nginx";
    cell.needs_path = true;
    cell.disks = 1;
    cell.name = "nginx-" + name;
    cell.variant = name;
    cell.variant_of = name == "base" ? "" : "nginx-base";
    cell.variant_options = options;
    plan.cells.push_back(cell);
  }
  EXPECT_EQ(describe_variant(CellPlan{}, plan), "");
  configure_variants(plan, ExperimentOptions{}, grounds());
  EXPECT_EQ(describe_variant(plan.cells[0], plan), ", the base");
  EXPECT_EQ(describe_variant(plan.cells[1], plan),
            ", variant use=epoll (the same configuration as the base: `use epoll` is the default "
            "here)");
  EXPECT_EQ(describe_variant(plan.cells[2], plan), ", variant multi_accept=on");
  EXPECT_EQ(describe_variant(plan.cells[3], plan),
            ", variant both (the same configuration as variant multi_accept=on: `gzip off` is the "
            "default here)");
}

}  // namespace
}  // namespace workload
