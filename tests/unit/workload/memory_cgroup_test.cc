#include "workload/filesystem/memory_cgroup.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/support/temp_dir.h"
#include "workload/experiment/child_process.h"
#include "workload/report/json_text.h"

namespace workload {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

/// A folder that looks like a hierarchy. Its files take what is written and do nothing.
class MemoryCgroupTest : public testing::Test {
 protected:
  void put(const std::string& file, std::string_view text) {
    fs::create_directories((folder_ / file).parent_path());
    ASSERT_TRUE(write_file(folder_ / file, text));
  }
  std::string get(const std::string& file) { return *read_file(folder_ / file, 1 << 16); }

  /// As the kernel fills a group of version 1 that was just made.
  void put_version_1(const std::string& group) {
    put(group + "/memory.limit_in_bytes", "9223372036854771712\n");
    put(group + "/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 0\n");
    put(group + "/memory.usage_in_bytes", "50000\n");
    put(group + "/memory.max_usage_in_bytes", "60000\n");
    put(group + "/memory.kmem.usage_in_bytes", "700\n");
    put(group + "/memory.failcnt", "12\n");
    put(group + "/memory.stat", "cache 30000\nrss 9000\nrss_huge 1\nshmem 10000\ntotal_cache 1\n");
  }

  testing_support::TempDir folder_;
};

TEST_F(MemoryCgroupTest, TheHierarchyForMemoryIsTheOneThatIsUsed) {
  const auto root = (folder_ / "unified").string();
  put("unified/cgroup.controllers", "cpu io\n");
  std::vector<MountEntry> mounts{{"/sys/fs/cgroup/cpu", "cgroup", "cgroup", {"rw", "cpu"}},
                                 {"/sys/fs/cgroup/memory", "cgroup", "cgroup", {"rw", "memory"}},
                                 {root, "cgroup2", "cgroup2", {"rw"}}};
  auto found = find_memory_hierarchy(mounts);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->version, 1U);
  EXPECT_EQ(found->root, "/sys/fs/cgroup/memory");
  mounts.erase(mounts.begin() + 1);
  EXPECT_THAT(find_memory_hierarchy(mounts).error().text, HasSubstr("no cgroup hierarchy"));
  put("unified/cgroup.controllers", "cpu io memory pids\n");
  found = find_memory_hierarchy(mounts);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->version, 2U);
  EXPECT_EQ(found->root, root);
}

TEST_F(MemoryCgroupTest, NamesSayWhoseTheyAre) {
  const std::string name = cgroup_name();
  EXPECT_NE(name, cgroup_name());
  EXPECT_EQ(cgroup_owner(name), own_identity());
  for (const char* other : {"", "cacheoff-", "cacheoff-1", "cacheoff-1-2", "cacheoff-0-2-3",
                            "cacheoff-1-2-x", "system.slice", "cacheoff--1-2"}) {
    EXPECT_FALSE(cgroup_owner(other)) << other;
  }
}

TEST_F(MemoryCgroupTest, AFailureNamesTheFileAndLeavesNoGroup) {
  const auto no_such_root = MemoryCgroup::make({1, folder_ / "none"}, "cacheoff-1-2-3", 1 << 20);
  ASSERT_FALSE(no_such_root);
  EXPECT_THAT(no_such_root.error().text, HasSubstr("none/cacheoff-1-2-3"));
  // An ordinary folder has none of the files of a group.
  const auto no_files = MemoryCgroup::make({1, folder_.path()}, "cacheoff-1-2-3", 1 << 20);
  ASSERT_FALSE(no_files);
  EXPECT_THAT(no_files.error().text, HasSubstr("memory.oom_control"));
  EXPECT_FALSE(fs::exists(folder_ / "cacheoff-1-2-3"));
  // Where the controller can't be turned on for groups below.
  const auto no_control = MemoryCgroup::make({2, folder_.path()}, "cacheoff-1-2-3", 1 << 20);
  ASSERT_FALSE(no_control);
  EXPECT_THAT(no_control.error().text, HasSubstr("cgroup.subtree_control"));
}

TEST_F(MemoryCgroupTest, Version1IsReadAndWritten) {
  put_version_1("g");
  auto group = MemoryCgroup::make({1, folder_.path()}, "g", 64 << 20);
  ASSERT_TRUE(group) << group.error().text;
  EXPECT_EQ(get("g/memory.oom_control").substr(0, 1), "1") << "the killer is still on";
  EXPECT_EQ(group->entrance(), folder_ / "g/cgroup.procs");
  // The file takes the digits; what stood behind them stays, as in no kernel file.
  put("g/memory.limit_in_bytes", "");
  const auto in_force = group->set_limit(8192);
  ASSERT_TRUE(in_force);
  EXPECT_EQ(*in_force, 8192U);
  const auto use = group->look();
  ASSERT_TRUE(use);
  EXPECT_EQ(use->usage_bytes, 50000U);
  EXPECT_EQ(use->peak_bytes, 60000U);
  EXPECT_EQ(use->page_cache_bytes, 20000U) << "shared memory can't give way";
  EXPECT_EQ(use->process_bytes, 19000U);
  EXPECT_EQ(use->kernel_bytes, 700U);
  EXPECT_EQ(use->times_at_limit, 12U);
  EXPECT_FALSE(use->frozen);
  put("g/memory.oom_control", "oom_kill_disable 1\nunder_oom 1\n");
  EXPECT_TRUE(group->look()->frozen);
  put("g/memory.stat", "rss 9000\n");
  EXPECT_FALSE(group->look());
}

TEST_F(MemoryCgroupTest, Version2IsReadAndWritten) {
  put("cgroup.subtree_control", "");
  put("g/memory.high", "");
  put("g/memory.current", "50000\n");
  put("g/memory.stat",
      "anon 9000\nfile 30000\nkernel_stack 100\npagetables 20\nsock 3\nshmem 10000\nslab 4000\n");
  put("g/memory.events", "low 0\nhigh 7\nmax 0\noom 0\noom_kill 0\n");
  auto group = MemoryCgroup::make({2, folder_.path()}, "g", 8192);
  ASSERT_TRUE(group) << group.error().text;
  EXPECT_EQ(get("cgroup.subtree_control"), "+memory");
  EXPECT_EQ(get("g/memory.high"), "8192");
  const auto use = group->look();
  ASSERT_TRUE(use);
  EXPECT_EQ(use->usage_bytes, 50000U);
  EXPECT_EQ(use->peak_bytes, 0U) << "kernels before 5.19 keep no record";
  EXPECT_EQ(use->page_cache_bytes, 20000U);
  EXPECT_EQ(use->process_bytes, 19000U);
  EXPECT_EQ(use->kernel_bytes, 4123U);
  EXPECT_EQ(use->times_at_limit, 7U);
  put("g/memory.peak", "55000\n");
  put("g/memory.stat", "anon 9000\nfile 30000\nkernel 5000\nsock 3\nshmem 0\nslab 4000\n");
  EXPECT_EQ(group->look()->peak_bytes, 55000U);
  EXPECT_EQ(group->look()->kernel_bytes, 5003U);
}

TEST_F(MemoryCgroupTest, EmptyGroupsOfTheDeadGoAndOthersStay) {
  const std::string own = cgroup_name();
  for (const std::string& name :
       {own, std::string("cacheoff-999999999-1-1"), std::string("cacheoff-999999999-1-2"),
        std::string("system.slice")}) {
    fs::create_directories(folder_ / name);
  }
  put("cacheoff-999999999-1-2/in_use", "");  // Stands for a process: the folder can't be removed.
  EXPECT_EQ(remove_dead_cgroups({1, folder_.path()}), 1U);
  EXPECT_FALSE(fs::exists(folder_ / "cacheoff-999999999-1-1"));
  EXPECT_TRUE(fs::exists(folder_ / "cacheoff-999999999-1-2"));
  EXPECT_TRUE(fs::exists(folder_ / own));
  EXPECT_TRUE(fs::exists(folder_ / "system.slice"));
  EXPECT_TRUE(remove_cgroup(folder_ / "never_was"));
}

TEST_F(MemoryCgroupTest, AProcessIsInTheGroupFromItsBeginning) {
  const auto hierarchy = find_memory_hierarchy();
  if (geteuid() != 0 || !hierarchy) GTEST_SKIP() << "groups need root and a hierarchy";
  auto group = MemoryCgroup::make(*hierarchy, cgroup_name(), 64 << 20);
  if (!group) GTEST_SKIP() << group.error().text;
  const fs::path path = group->path();
  const std::string log = (folder_ / "log").string();
  {
    auto child =
        ChildProcess::start({{"/bin/sh", "-c", "cat /proc/self/cgroup; echo end; sleep 60"},
                             log,
                             log,
                             std::nullopt,
                             group->entrance().string()});
    ASSERT_TRUE(child) << child.error().text;
    ASSERT_TRUE(child->wait_ready("end", std::chrono::seconds(60)));
    EXPECT_THAT(*read_file(log, 1 << 16), HasSubstr("/" + path.filename().string() + "\n"));
    const auto use = group->look();
    ASSERT_TRUE(use);
    EXPECT_GT(use->usage_bytes, 0U);
    EXPECT_LE(use->usage_bytes, uint64_t{64} << 20);
  }
  group = run_problem("removed");
  EXPECT_FALSE(fs::exists(path));
}

}  // namespace
}  // namespace workload
