// The configurations that are written for other systems, and what may be changed in them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "storage/base/units.h"
#include "workload/experiment/options_file.h"
#include "workload/experiment/static_options.h"
#include "workload/system/directives.h"
#include "workload/system/registry.h"
#include "workload/system/set_ups.h"

namespace workload {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::IsSupersetOf;
using testing::Not;

SystemRun system_run(const std::string& scheme, size_t disks) {
  SystemRun run;
  run.cell.scheme = scheme;
  run.cell.disks = static_cast<unsigned>(disks);
  run.share_bytes = 256 * storage::kMiB;
  for (size_t i = 0; i < disks; ++i) run.cache_paths.push_back("/cache/" + std::to_string(i));
  run.program = "/usr/sbin/program";
  run.folder = "/run/folder";
  run.scratch = "/scratch";
  run.instance = "cacheoff1x2x3x";
  run.origin = {"127.0.0.1", 8080};
  run.listen = {"127.0.0.1", 3128};
  run.open_files_max = 20000;
  return run;
}

std::string setup_text(const SystemSetup& setup, const std::string& name) {
  for (const auto& file : setup.files) {
    if (file.name == name) return file.text;
  }
  ADD_FAILURE() << "no file " << name;
  return {};
}

TEST(SystemSetup, EachSystemListensWhereItIsToldAndKeepsItsFilesInTheRunsFolders) {
  for (const auto& kind : other_systems()) {
    const auto setup = kind.set_up(system_run(std::string(kind.scheme), kind.needs_path ? 1 : 0));
    std::string all;
    for (const auto& file : setup.files) all += file.text;
    for (const auto& word : setup.command) all += word + " ";
    // One that says its address itself chooses its port itself.
    const std::string port = kind.prints_address ? "127.0.0.1:0" : "3128";
    EXPECT_THAT(all, AllOf(HasSubstr(port), HasSubstr("127.0.0.1"))) << kind.scheme;
    EXPECT_THAT(all, Not(HasSubstr("/var/"))) << kind.scheme;
    if (kind.needs_path) {
      EXPECT_THAT(all, HasSubstr("/cache/0")) << kind.scheme;
    }
    EXPECT_EQ(setup.command.front(), "/usr/sbin/program");
    // A static server has nothing that could not be made equal.
    EXPECT_EQ(setup.notes.empty(), is_static_scheme(kind.scheme)) << kind.scheme;
  }
}

TEST(SystemSetup, SquidHasACacheDirForEachDiskOrAllOfItInMemory) {
  auto text = setup_text(set_up_squid(system_run("squid:diskd", 2)), "squid.conf");
  EXPECT_THAT(text, HasSubstr("cache_dir diskd /cache/0 256 16 256 Q1=64 Q2=72\n"
                              "cache_dir diskd /cache/1 256 16 256 Q1=64 Q2=72\n"));
  EXPECT_THAT(text, HasSubstr("cache_mem 0 MB\n"));
  // A cache_dir takes its limit from what stands before it.
  EXPECT_LT(text.find("maximum_object_size "), text.find("cache_dir "));
  text = setup_text(set_up_squid(system_run("squid:memory", 0)), "squid.conf");
  EXPECT_THAT(text, AllOf(HasSubstr("cache_mem 256 MB\n"), Not(HasSubstr("cache_dir "))));
  auto run = system_run("squid:ufs", 1);
  run.cell.scheme_options = "64 128";
  EXPECT_THAT(setup_text(set_up_squid(run), "squid.conf"),
              HasSubstr("cache_dir ufs /cache/0 256 64 128\n"));
}

TEST(SystemSetup, NginxSplitsItsClientsOverSeveralDisks) {
  const auto one = setup_text(set_up_nginx(system_run("nginx", 1)), "nginx.conf");
  EXPECT_THAT(one, AllOf(HasSubstr("proxy_cache disk1;"), Not(HasSubstr("split_clients")),
                         HasSubstr("max_size=256m"), HasSubstr("worker_processes 1;")));
  const auto three = setup_text(set_up_nginx(system_run("nginx", 3)), "nginx.conf");
  EXPECT_THAT(three, AllOf(HasSubstr("33% disk1;\n    33% disk2;\n    * disk3;"),
                           HasSubstr("proxy_cache $cacheoff_zone;"),
                           HasSubstr("proxy_cache_path /cache/2 keys_zone=disk3:")));
}

TEST(SystemSetup, VarnishChoosesAmongItsStorages) {
  const auto one = set_up_varnish(system_run("varnish:file", 1));
  EXPECT_THAT(one.command, Contains("disk1=file,/cache/0/store,268435456"));
  EXPECT_THAT(setup_text(one, "cache.vcl"), Not(HasSubstr("beresp.storage")));
  const auto two = set_up_varnish(system_run("varnish:file", 2));
  EXPECT_THAT(
      setup_text(two, "cache.vcl"),
      AllOf(HasSubstr("if (std.random(0, 2) < 1.0) { set beresp.storage = storage.disk1; }"),
            HasSubstr("else { set beresp.storage = storage.disk2; }")));
  EXPECT_THAT(set_up_varnish(system_run("varnish:malloc", 0)).command,
              Contains("memory=malloc,268435456"));
}

TEST(SystemSetup, TrafficServerHasALineOfStorageForEachDisk) {
  const auto setup = set_up_trafficserver(system_run("trafficserver", 2));
  EXPECT_EQ(setup_text(setup, "etc/storage.config"), "/cache/0 268435456\n/cache/1 268435456\n");
  EXPECT_THAT(
      setup_text(setup, "etc/records.config"),
      AllOf(HasSubstr("CONFIG proxy.config.exec_thread.limit INT 1\n"),
            HasSubstr("CONFIG proxy.config.http.server_ports STRING 3128:ip-in=127.0.0.1")));
}

TEST(SystemSetup, StaticNginxServesTheFolderOnOneWorker) {
  auto run = system_run("static:nginx", 1);
  const auto plain = set_up_static_nginx(run);
  const auto text = setup_text(plain, "nginx.conf");
  EXPECT_THAT(text, AllOf(HasSubstr("\nworker_processes 1;"), HasSubstr("    root /cache/0;\n"),
                          HasSubstr("    listen 127.0.0.1:3128 backlog"), HasSubstr("  gzip off;"),
                          HasSubstr("  access_log /run/folder/access.log common buffer=64k;"),
                          Not(HasSubstr("proxy_cache")), Not(HasSubstr("open_file_cache"))));
  EXPECT_EQ(plain.access_log, "access.log");
  run.asked_for_gzip = true;
  EXPECT_THAT(setup_text(set_up_static_nginx(run), "nginx.conf"),
              AllOf(HasSubstr("  gzip on;"), HasSubstr("  gzip_http_version 1.0;")));
  run.options = {{"gzip", "off"}, {"use", "select"}, {"worker_processes", "2"}, {"sendfile", ""}};
  EXPECT_THAT(setup_text(set_up_static_nginx(run), "nginx.conf"),
              AllOf(HasSubstr("  gzip off;"), HasSubstr("  use select;\n"),
                    HasSubstr("\nworker_processes 2;"), Not(HasSubstr("sendfile"))));
}

TEST(SystemSetup, StaticLighttpdServesTheFolderAndRemembersNoFile) {
  auto run = system_run("static:lighttpd", 1);
  const auto plain = set_up_static_lighttpd(run);
  EXPECT_THAT(plain.command,
              testing::ElementsAre("/usr/sbin/program", "-D", "-f", "/run/folder/lighttpd.conf"));
  EXPECT_THAT(
      setup_text(plain, "lighttpd.conf"),
      AllOf(HasSubstr("server.bind = \"127.0.0.1\"\nserver.port = 3128\n"),
            HasSubstr("server.document-root = \"/cache/0\"\n"),
            HasSubstr("server.stat-cache-engine = \"disable\"\n"),
            HasSubstr("accesslog.filename = \"/run/folder/access.log\"\n"),
            HasSubstr("server.modules = ( \"mod_accesslog\" )\n"), Not(HasSubstr("deflate"))));
  run.options = {{"gzip", "on"}, {"server.range-requests", "off"}, {"server.max-worker", "2"}};
  EXPECT_THAT(setup_text(set_up_static_lighttpd(run), "lighttpd.conf"),
              AllOf(HasSubstr("( \"mod_accesslog\", \"mod_deflate\" )\n"),
                    HasSubstr("deflate.allowed-encodings = ( \"gzip\" )\n"),
                    HasSubstr("server.range-requests = \"disable\"\n"),
                    HasSubstr("server.max-worker = 2\n"), Not(HasSubstr("\ngzip"))));
  run.options = {{"gzip", "off"}};
  run.asked_for_gzip = true;
  EXPECT_THAT(setup_text(set_up_static_lighttpd(run), "lighttpd.conf"), Not(HasSubstr("deflate")));
}

TEST(SystemSetup, StaticOriginIsOurOwnProgram) {
  auto run = system_run("static:origin", 1);
  run.options = {{"threads", "2"}, {"idle-timeout", ""}};
  EXPECT_THAT(set_up_static_origin(run).command,
              testing::ElementsAre("/usr/sbin/program", "origin", "--listen", "127.0.0.1:0",
                                   "--root", "/cache/0", "--access-log", "/run/folder/access.log",
                                   "--gzip=off", "--threads=2"));
  run.asked_for_gzip = true;
  EXPECT_THAT(set_up_static_origin(run).command, Contains("--gzip=on"));
}

TEST(SystemSetup, SingleOptionsReplaceWhatIsGeneratedOrAreAdded) {
  auto run = system_run("nginx", 1);
  run.options = {{"worker_processes", "2"},   {"use", "select"},          {"gzip", "on"},
                 {"access_log", "off"},       {"server_tokens", ""},      {"multi_accept", "on"},
                 {"upstream.keepalive", "8"}, {"keepalive_requests", "5"}};
  const auto text = setup_text(set_up_nginx(run), "nginx.conf");
  EXPECT_THAT(text, AllOf(HasSubstr("\nworker_processes 2;"), Not(HasSubstr("worker_processes 1")),
                          HasSubstr("  access_log off;"), Not(HasSubstr("access.log squid")),
                          Not(HasSubstr("server_tokens")), HasSubstr("  gzip on;"),
                          HasSubstr("    keepalive 8;"), HasSubstr("  keepalive_requests 5;"),
                          HasSubstr("    keepalive_requests 1000000000;")));
  const auto events =
      text.substr(text.find("events {"), text.find("http {") - text.find("events {"));
  EXPECT_THAT(events, AllOf(HasSubstr("use select;"), HasSubstr("multi_accept on;")));

  run = system_run("squid:ufs", 1);
  run.options = {{"cache_mem", "64 MB"}, {"read_ahead_gap", "64 KB"}};
  EXPECT_THAT(setup_text(set_up_squid(run), "squid.conf"),
              AllOf(HasSubstr("cache_mem 64 MB\n"), Not(HasSubstr("cache_mem 0 MB")),
                    HasSubstr("read_ahead_gap 64 KB\n")));
  run = system_run("varnish:malloc", 0);
  EXPECT_THAT(set_up_varnish(run).command, Contains("nuke_limit=1000000"));
  run.options = {{"thread_pools", "2"}, {"thread_pool_max", "100"}};
  EXPECT_THAT(set_up_varnish(run).command, IsSupersetOf({"thread_pools=2", "thread_pool_max=100"}));
  run = system_run("trafficserver", 1);
  run.options = {{"proxy.config.exec_thread.limit", "2"},
                 {"proxy.config.http.cache.heuristic_lm_factor", "0.5"}};
  EXPECT_THAT(setup_text(set_up_trafficserver(run), "etc/records.config"),
              AllOf(HasSubstr("exec_thread.limit INT 2\n"), Not(HasSubstr("limit INT 1\n")),
                    HasSubstr("heuristic_lm_factor FLOAT 0.5\n")));
}

TEST(SystemRegistry, NamesSchemesAsTheCommandLineDoes) {
  std::set<std::string> names;
  for (const auto& row : system_scheme_rows()) names.insert(row.name);
  EXPECT_EQ(names, (std::set<std::string>{"squid:ufs", "squid:aufs", "squid:diskd", "squid:rock",
                                          "squid:memory", "nginx", "varnish:malloc", "varnish:file",
                                          "trafficserver", "static:nginx", "static:lighttpd",
                                          "static:origin"}));
  EXPECT_EQ(system_of_scheme("squid:rock").system, "squid");
  EXPECT_EQ(system_of_scheme("rock").system, "cacheoff-proxy");
  EXPECT_FALSE(is_other_system("ufs"));
}

TEST(SystemRegistry, WhatKeepsObjectsInMemoryIsOneCellAndNoneTakesABareDevice) {
  ExperimentOptions options;
  options.schemes = {"squid:ufs", "squid:memory", "varnish:malloc"};
  options.filesystems = {"here", "ext4", "raw"};
  const auto plan =
      make_plan(options, system_scheme_rows(), [](const CellPlan&) { return std::string(); });
  ASSERT_TRUE(plan) << plan.error().text;
  std::vector<std::string> names;
  for (const auto& cell : plan->cells) names.push_back(cell.name);
  EXPECT_THAT(names, testing::ElementsAre("squid-ufs-here", "squid-ufs-ext4", "squid-memory",
                                          "varnish-malloc"));
  ASSERT_EQ(plan->skipped.size(), 1U);
  EXPECT_EQ(plan->skipped[0].name, "squid-ufs-raw");
  EXPECT_THAT(plan->skipped[0].reason, HasSubstr("block device"));
}

TEST(SystemRegistry, AMissingProgramIsTheReasonForASkippedCell) {
  EXPECT_EQ(why_no_system("ufs"), "");
  for (const auto& kind : other_systems()) {
    const auto reason = why_no_system(kind.scheme);
    if (reason.empty()) continue;
    EXPECT_THAT(reason, AllOf(HasSubstr("is not installed"), HasSubstr(std::string(kind.package))));
  }
}

TEST(SystemRegistry, OptionsComeFromTheFileAndAreChecked) {
  ExperimentOptions options;
  const auto read =
      apply_options_text(options,
                         "[system-options.nginx]\nworker_processes = 2\n"
                         "gzip = true\n[system-options.squid]\ncache_mem = \"1 MB\"\n",
                         "x.toml");
  ASSERT_TRUE(read) << read.error().text;
  EXPECT_EQ(options.system_options["nginx"],
            (std::map<std::string, std::string>{{"gzip", "on"}, {"worker_processes", "2"}}));
  EXPECT_TRUE(check_system_options(options));
  EXPECT_EQ(options_of_system(system_of_scheme("squid:ufs"), options).at("cache_mem"), "1 MB");
  const auto again = options_from_json(options_to_json(options));
  ASSERT_TRUE(again) << again.error().text;
  EXPECT_EQ(again->system_options, options.system_options);
  options.system_options["nginx"]["listen"] = "80";
  const auto taken = check_system_options(options);
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().text, "system-options.nginx.listen: the bench sets it");
  options.system_options = {{"apache", {{"a", "b"}}}};
  ASSERT_FALSE(check_system_options(options));
  EXPECT_THAT(check_system_options(options).error().text, HasSubstr("no such system"));
}

TEST(SystemRegistry, OfStaticServersTooAFullOneIsTheProxysCpu) {
  RunObservation seen;
  seen.helper_cpu_share = 0.95;
  blame_worker(system_of_scheme("static:nginx"), seen);
  EXPECT_EQ(judge_run(seen).limited_by, kLimitedByProxy);
  EXPECT_TRUE(serves_by_children(system_of_scheme("static:nginx")));
  seen = {};
  seen.proxy_loop_share = 0.95;
  blame_worker(system_of_scheme("static:lighttpd"), seen);
  EXPECT_EQ(judge_run(seen).limited_by, kLimitedByProxy);
  seen = {};
  seen.proxy_cpu_share = 0.95;
  blame_worker(system_of_scheme("static:origin"), seen);
  EXPECT_EQ(judge_run(seen).limited_by, kLimitedByProxy);
  for (const char* scheme : {"static:lighttpd", "static:origin", "squid:ufs", "trafficserver"}) {
    EXPECT_FALSE(serves_by_children(system_of_scheme(scheme))) << scheme;
  }
  ExperimentOptions options;
  options.system_options["static:nginx"]["root"] = "/etc";
  EXPECT_FALSE(check_system_options(options));
  options.system_options = {{"static:nginx", {{"sendfile", "off"}}}};
  EXPECT_TRUE(check_system_options(options));
  EXPECT_EQ(options_of_system(system_of_scheme("static:nginx"), options).size(), 1U);
  EXPECT_TRUE(options_of_system(system_of_scheme("nginx"), options).empty());
}

TEST(SystemRegistry, AFullWorkerIsTheProxysCpu) {
  RunObservation seen;
  seen.helper_cpu_share = 0.95;
  blame_worker(system_of_scheme("nginx"), seen);
  EXPECT_EQ(judge_run(seen).limited_by, kLimitedByProxy);
  seen = {};
  seen.proxy_cpu_share = 0.95;
  blame_worker(system_of_scheme("trafficserver"), seen);
  EXPECT_EQ(judge_run(seen).limited_by, kLimitedByProxy);
  seen = {};
  seen.helper_cpu_share = 1.5;
  blame_worker(system_of_scheme("varnish:malloc"), seen);
  EXPECT_EQ(judge_run(seen).limited_by, kLimitedByOffer);
  seen = {};
  seen.helper_cpu_share = 0.95;
  blame_worker(system_of_scheme("squid:diskd"), seen);
  EXPECT_EQ(judge_run(seen).limited_by, kLimitedByHelper);
}

}  // namespace
}  // namespace workload
