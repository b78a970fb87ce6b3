#include "workload/model/workload_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <string>
#include <vector>

#include "tests/support/temp_dir.h"

namespace workload {
namespace {

/// The error that reading `toml` as the file `w.toml` gives.
std::string error_of(const std::string& toml) {
  std::string error;
  EXPECT_FALSE(parse_workload(toml, "w.toml", error)) << toml;
  return error;
}

TEST(WorkloadFile, BuiltInWorkloadsAreSoundAndRoundTrip) {
  for (const char* name : {"polymix4", "simple", "cdn", "large"}) {
    const auto built_in = built_in_workload(name);
    ASSERT_TRUE(built_in) << name;
    EXPECT_EQ(check_workload(*built_in), "");
    std::string error;
    const auto read = parse_workload(workload_to_toml(*built_in), "w.toml", error);
    ASSERT_TRUE(read) << error << '\n' << workload_to_toml(*built_in);
    EXPECT_EQ(*read, *built_in) << workload_to_toml(*read);
  }
  EXPECT_FALSE(built_in_workload("polymix-5"));
}

TEST(WorkloadFile, EveryKeyIsReadAndWritten) {
  const std::string text = R"(name = "all \"keys\""

[content.image]
share_percent = 0
direct = false
size = "constant:2KB"
cachable_percent = 50.5
life_cycle = "constant:2d"
life_cycle_variance_percent = 10
embedded = "constant:0"

[content.download]
share_percent = 40
direct = true
size = "uniform:1KB,1MB"
cachable_percent = 99
life_cycle = "uniform:1d,2d"
life_cycle_variance_percent = 20
embedded = "zipf:3"

[content.video]
share_percent = 7
direct = true
size = "lognormal:2MB,1MB"
cachable_percent = 100
life_cycle = "constant:5d"
life_cycle_variance_percent = 0
embedded = "constant:0"

[requests]
recurrence_percent = 60
ims_200_percent = 1
ims_304_percent = 2
reload_percent = 3
etag_200_percent = 4
etag_304_percent = 5
range_percent = 6
range_size = "uniform:1KB,4KB"
post_percent = 4
head_percent = 5
post_body = "constant:1KB"
post_target = "repeat"

[popularity]
zipf_skew = 0
zipf_exponent = 0.8
zipf_order = "fixed"
hot_set_percent = 2
hot_set_share_percent = 20
byte_hit_discrimination_percent = 30
working_set_objects_max = 1000

[robot]
requests_per_second = 2.5
connections_max = 6
requests_per_connection = "constant:7"
abort_percent = 1.5

[server]
think = "constant:8ms"
requests_per_connection = "constant:9"
idle_timeout = "10s"
abort_percent = 0.1
)";
  std::string error;
  const auto workload = parse_workload(text, "w.toml", error);
  ASSERT_TRUE(workload) << error;
  std::string written = workload_to_toml(*workload);
  // The name's quoting is toml++'s choice; all other lines come back as they were.
  EXPECT_EQ(written.substr(written.find('\n')), text.substr(text.find('\n')));
  EXPECT_EQ(workload->name, "all \"keys\"");
  EXPECT_EQ(workload->requests.post_target, PostTarget::kRepeat);
  EXPECT_EQ(workload->server.idle_timeout, std::chrono::seconds(10));
  EXPECT_EQ(parse_workload(written, "w.toml", error), workload);
}

TEST(WorkloadFile, BaseGivesWhatTheFileLeavesOut) {
  std::string error;
  const auto workload = parse_workload(
      "base = \"polymix4\"\n[content.html]\nsize = \"constant:1KB\"\n[requests]\n"
      "recurrence_percent = 10\n",
      "w.toml", error);
  ASSERT_TRUE(workload) << error;
  Workload expected = polymix4_workload();
  expected.content[1].size = Distribution::constant(1024);
  expected.requests.recurrence_percent = 10;
  EXPECT_EQ(*workload, expected);
}

TEST(WorkloadFile, WithoutBaseTheContentIsWhatTheFileLists) {
  std::string error;
  const auto workload = parse_workload("[content.html]\n", "w.toml", error);
  ASSERT_TRUE(workload) << error;
  ASSERT_EQ(workload->content.size(), 1u);
  EXPECT_EQ(workload->content[0].type, ContentType::kHtml);
  EXPECT_EQ(parse_workload("", "w.toml", error), simple_workload());
}

TEST(WorkloadFile, ErrorsNameFileLineAndKey) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"nam = \"x\"", "w.toml:1: nam: unknown key"},
      {"name = 5", "w.toml:1: name: must be a text"},
      {"base = \"polymix9\"", "w.toml:1: base: must be"},
      {"requests = 5", "w.toml:1: requests: must be a table"},
      {"\n[requests]\nrecurence_percent = 5", "w.toml:3: requests.recurence_percent: unknown key"},
      {"[requests]\nrecurrence_percent = 101", "w.toml:2: requests.recurrence_percent: must"},
      {"[requests]\nrecurrence_percent = nan", "w.toml:2: requests.recurrence_percent: must"},
      {"[requests]\nrecurrence_percent = \"5\"", "w.toml:2: requests.recurrence_percent: must"},
      {"[requests]\npost_target = \"all\"", "w.toml:2: requests.post_target: must be \"own\""},
      {"[requests]\npost_body = \"zipf:5\"", "w.toml:2: requests.post_body: 'zipf:5': zipf"},
      {"[requests]\nims_200_percent = 50\nims_304_percent = 40\nreload_percent = 20",
       "w.toml:4: requests.reload_percent: "},
      {"[requests]\npost_percent = 100\nhead_percent = 1", "w.toml:3: requests.head_percent: "},
      {"[popularity]\nworking_set_objects_max = 1.5",
       "w.toml:2: popularity.working_set_objects_max: must be a whole number"},
      {"[popularity]\nworking_set_objects_max = -1",
       "w.toml:2: popularity.working_set_objects_max: must be a whole number"},
      {"[content.Video]\nsize = \"constant:1KB\"", "w.toml:1: content.Video: is no name of a type"},
      {"[content.\"a/b\"]", "w.toml:1: content.a/b: is no name of a type"},
      {"[content.a-name-of-16-cha]", "w.toml:1: content.a-name-of-16-cha: is no name of a type"},
      {"[content.video]\nlength = 5", "w.toml:2: content.video.length: unknown key"},
      {"[popularity]\nzipf_skew = 1\nzipf_exponent = 1", "w.toml:3: popularity.zipf_exponent: "},
      {"[popularity]\nzipf_order = \"oldest\"", "w.toml:2: popularity.zipf_order: must be"},
      {"[requests]\nrange_percent = 60\netag_304_percent = 50", "w.toml:1: requests.reload_perc"},
      {"[robot]\nabort_percent = 101", "w.toml:2: robot.abort_percent: must"},
      {"[server]\nabort_percent = -1", "w.toml:2: server.abort_percent: must"},
      {"[content.html]\nsize = 5", "w.toml:2: content.html.size: must be a text"},
      {"[content.html]\nembedded = \"zipf:13\"", "w.toml:2: content.html.embedded: "},
      {"[content.image]\nembedded = \"zipf:13\"", "w.toml:2: content.image.embedded: "},
      {"[content.html]\ndirect = false", "w.toml:1: content: no type has direct"},
      {"[robot]\nrequests_per_second = 0", "w.toml:2: robot.requests_per_second: must"},
      {"[robot]\nconnections_max = 0", "w.toml:2: robot.connections_max: must"},
      {"[robot]\nrequests_per_connection = \"constant:0\"",
       "w.toml:2: robot.requests_per_connection: must be at least 1"},
      {"[requests]\nrange_percent = 5\nrange_size = \"constant:0B\"",
       "w.toml:3: requests.range_size: must be above 0"},
      {"[popularity]\nhot_set_percent = 0\nhot_set_share_percent = 5",
       "w.toml:2: popularity.hot_set_percent: must be above 0"},
      {"[content.html]\nlife_cycle = \"constant:0s\"",
       "w.toml:2: content.html.life_cycle: must be above 0"},
      {"[server]\nidle_timeout = \"0s\"", "w.toml:2: server.idle_timeout: must"},
      {"[server]\nidle_timeout = 15", "w.toml:2: server.idle_timeout: must"},
      {"name = \"x\"\nname = \"y\"", "w.toml:2: "},
      {"\"a\\nb\" = 5", "w.toml:1: a?b: unknown key"},
      {"name = ", "w.toml:1: "}};
  for (const auto& [toml, start] : cases) {
    const std::string error = error_of(toml);
    EXPECT_EQ(error.substr(0, start.size()), start) << error;
    EXPECT_EQ(error.find('\n'), std::string::npos) << error;
  }
}

TEST(WorkloadFile, LoadsBuiltInNamesAndFiles) {
  std::string error;
  EXPECT_EQ(load_workload("polymix4", error), polymix4_workload());
  const testing_support::TempDir folder;
  const std::string path = (folder.path() / "mine.toml").string();
  std::ofstream(path) << workload_to_toml(polymix4_workload());
  EXPECT_EQ(load_workload(path, error), polymix4_workload()) << error;
  EXPECT_FALSE(load_workload("polymix5", error));
  EXPECT_NE(error.find("'polymix5'"), std::string::npos);
  EXPECT_FALSE(load_workload(folder.path().string(), error));
  // Nobody writes to it, and it is refused all the same.
  const std::string pipe = (folder.path() / "pipe").string();
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_FALSE(load_workload(pipe, error));
  EXPECT_NE(error.find("not a regular file"), std::string::npos) << error;
  std::ofstream(path) << std::string((1 << 20) + 1, '#');
  EXPECT_FALSE(load_workload(path, error));
  EXPECT_NE(error.find("1 MiB"), std::string::npos) << error;
}

}  // namespace
}  // namespace workload
