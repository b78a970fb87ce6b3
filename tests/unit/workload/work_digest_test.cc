#include "workload/experiment/work_digest.h"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/support/temp_dir.h"
#include "workload/experiment/software_versions.h"
#include "workload/report/json_text.h"

namespace workload {
namespace {

TEST(WorkDigest, IsOfTheContentAndNotOfTheName) {
  ExperimentOptions options;
  const Workload simple = *built_in_workload("simple");
  Workload renamed = simple;
  renamed.name = "another name";
  const auto digest = [&](const Workload& workload) {
    const auto work = describe_work(options, workload);
    return work ? text_at(*work, "workload_digest") : work.error().text;
  };
  EXPECT_EQ(digest(simple).rfind("xxh3-128:", 0), 0U) << digest(simple);
  EXPECT_EQ(digest(simple), digest(renamed));
  EXPECT_NE(digest(simple), digest(*built_in_workload("polymix4")));
}

TEST(WorkDigest, OfAStaticServerItIsTheFileAndTheLoad) {
  ExperimentOptions options;
  options.load = "ab=10,requests=1000,keep-alive";
  options.file_size_bytes = 151;
  const auto work = describe_work(options, *built_in_workload("simple"));
  ASSERT_TRUE(work) << work.error().text;
  EXPECT_TRUE(work->at("workload_digest").is_null());
  EXPECT_EQ(text_at(*work, "file_digest").rfind("xxh3-128:", 0), 0U);
  EXPECT_EQ(count_at(*work, "file_size_bytes"), 151U);
  EXPECT_EQ(count_at(*work, "connections"), 10U);
  EXPECT_EQ(count_at(*work, "requests"), 1000U);
  EXPECT_TRUE(work->at("keep_alive").as_bool());
  EXPECT_FALSE(work->at("gzip").as_bool());
  options.file_size_bytes = 152;
  options.load = "ab=10";
  const auto other = describe_work(options, *built_in_workload("simple"));
  EXPECT_NE(text_at(*other, "file_digest"), text_at(*work, "file_digest"));
  EXPECT_TRUE(other->at("requests").is_null());
}

TEST(WorkDigest, ATraceIsReadToItsEnd) {
  const testing_support::TempDir folder;
  std::string text(3 << 20, 'x');
  std::ofstream(folder / "trace") << text;
  ExperimentOptions options;
  options.trace = folder / "trace";
  auto work = describe_work(options, *built_in_workload("simple"));
  ASSERT_TRUE(work) << work.error().text;
  EXPECT_EQ(text_at(*work, "trace_digest"), digest_of_text(text));
  EXPECT_TRUE(work->at("workload_digest").is_null());
  text.back() = 'y';
  std::ofstream(folder / "trace") << text;
  EXPECT_NE(text_at(*describe_work(options, *built_in_workload("simple")), "trace_digest"),
            text_at(*work, "trace_digest"));
  options.trace = folder / "absent";
  EXPECT_FALSE(describe_work(options, *built_in_workload("simple")));
}

TEST(SoftwareVersions, AreReadOutOfWhatToolsSay) {
  EXPECT_EQ(parse_tool_version("mke2fs 1.47.0 (5-Feb-2023)\n\tUsing EXT2FS 1.46\n"), "1.47.0");
  EXPECT_EQ(parse_tool_version("mkfs.xfs version 6.1.0"), "6.1.0");
  EXPECT_EQ(parse_tool_version("mkfs.btrfs, part of btrfs-progs v6.2"), "6.2");
  EXPECT_EQ(parse_tool_version(""), "");
  EXPECT_EQ(parse_os_name("NAME=x\nPRETTY_NAME=\"Debian GNU/Linux 12\"\n", "Linux 6"),
            "Debian GNU/Linux 12");
  EXPECT_EQ(parse_os_name("NAME=x\n", "Linux 6"), "Linux 6");
  EXPECT_EQ(software_versions().size(), 5U);
}

}  // namespace
}  // namespace workload
