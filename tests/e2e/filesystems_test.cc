// Filesystems made for a run: that they come as asked for, and that nothing of them is left in any
// kind of end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <chrono>
#include <cstdlib>
#include <thread>

#include "storage/base/random.h"
#include "storage/base/units.h"
#include "tests/support/bench_leftovers.h"
#include "tests/support/effort.h"
#include "tests/support/loop_device.h"
#include "tests/support/process.h"
#include "tests/support/seed.h"
#include "tests/support/stack.h"
#include "tests/support/temp_dir.h"

namespace {

using testing::HasSubstr;
using testing_support::effort;
using testing_support::LoopDevice;
using testing_support::Process;
using testing_support::program_path;
using testing_support::read_file;
using testing_support::run_command;
namespace fs = std::filesystem;
namespace json = boost::json;

class FilesystemsTest : public testing::Test {
 protected:
  void SetUp() override {
    // Programs that run as an ordinary user must get in.
    chmod(folder_.path().c_str(), 0755);
    // Others that are tested at the same time must not clear up before this does.
    setenv("CACHEOFF_STATE_DIR", (folder_ / "state").c_str(), 1);
  }
  void TearDown() override { unsetenv("CACHEOFF_STATE_DIR"); }

  /// True where there are no loop devices for us; the test is skipped then.
  static bool has_none() { return geteuid() != 0 || LoopDevice(storage::kMiB).path().empty(); }

  /// A bench of short runs.
  std::vector<std::string> bench(const std::string& out, std::vector<std::string> more) const {
    std::vector<std::string> command{program_path("cacheoff"),
                                     "bench",
                                     "--out",
                                     (folder_ / out).string(),
                                     "--load",
                                     "best-effort=2",
                                     "--repeat",
                                     "1",
                                     "--time-scale",
                                     "1000",
                                     "--cache-size",
                                     "4M",
                                     "--order",
                                     "listed"};
    command.insert(command.end(), more.begin(), more.end());
    return command;
  }

  json::object results(const std::string& out) const {
    return json::parse(read_file(folder_ / out / "results.json")).as_object();
  }

  std::vector<std::string> leftovers() const {
    return testing_support::bench_leftovers(folder_.path());
  }

  testing_support::TempDir folder_;
};

TEST_F(FilesystemsTest, EachIsMadeAndMountedAsAskedFor) {
  if (has_none()) GTEST_SKIP() << "loop devices need root";
  const auto ended = run_command(
      bench("out", {"--scheme", "ufs", "--filesystem", "ext2,ext3,ext4,xfs,btrfs", "--mount",
                    "noatime,nodev", "--mkfs", "ext4=-m 0 -b 1024", "--until", "requests=40"}));
  ASSERT_EQ(ended.exit_status, 0) << ended.out << ended.err;
  const auto all = results("out");
  // The mkfs of one may not be installed.
  const auto& cells = all.at("cells").as_array();
  EXPECT_EQ(cells.size() + all.at("skipped").as_array().size(), 5U);
  ASSERT_FALSE(cells.empty());
  for (const auto& cell : cells) {
    SCOPED_TRACE(json::serialize(cell.at("name")));
    ASSERT_EQ(cell.at("runs").as_array().size(), 1U);
    const auto& run = cell.at("runs").as_array()[0];
    const std::string in_force(run.at("mount_options_in_force").as_string());
    EXPECT_THAT(in_force, HasSubstr("noatime"));
    for (const auto& outcome : run.at("mount_option_outcomes").as_array()) {
      EXPECT_EQ(outcome.at("outcome"), "effective");
    }
    ASSERT_EQ(run.at("devices").as_array().size(), 1U);
    EXPECT_EQ(run.at("devices").as_array()[0].at("kind"), "image");
    EXPECT_THAT(std::string(run.at("disk").at("counted_on").as_string()), HasSubstr("device loop"));
  }
  for (const auto& skipped : all.at("skipped").as_array()) {
    EXPECT_THAT(std::string(skipped.at("reason").as_string()), HasSubstr("package"));
  }
  const std::string commands =
      read_file(folder_ / "out/cells/ufs-ext4-noatime-nodev/runs/1/commands.sh");
  EXPECT_THAT(commands, HasSubstr("-m 0 -b 1024 /dev/loop"));
  EXPECT_THAT(leftovers(), testing::IsEmpty());
}

TEST_F(FilesystemsTest, BareDevicesAndSeveralDisksWork) {
  if (has_none()) GTEST_SKIP() << "loop devices need root";
  const auto ended = run_command(
      bench("out", {"--scheme", "rock,ufs", "--filesystem", "raw,ext2", "--disks", "0,2", "--mount",
                    "data=journal", "--mount", "default", "--until", "requests=40"}));
  ASSERT_EQ(ended.exit_status, 0) << ended.out << ended.err;
  const auto all = results("out");
  std::vector<std::string> names;
  for (const auto& cell : all.at("cells").as_array()) {
    names.emplace_back(cell.at("name").as_string());
    const auto& run = cell.at("runs").as_array().at(0);
    EXPECT_EQ(run.at("devices").as_array().size(), cell.at("disks").to_number<uint64_t>());
  }
  EXPECT_THAT(names, testing::ElementsAre("none", "rock-raw-2disks", "rock-ext2-2disks",
                                          "ufs-ext2-2disks"));
  // What ext2 refuses, and what ufs can't use.
  EXPECT_EQ(all.at("skipped").as_array().size(), 3U);
  EXPECT_THAT(leftovers(), testing::IsEmpty());
}

TEST_F(FilesystemsTest, ARealDeviceIsUsedOnlyWhereNothingIsLost) {
  const LoopDevice device(64 * storage::kMiB);
  if (geteuid() != 0 || device.path().empty()) GTEST_SKIP() << "loop devices need root";
  const std::vector<std::string> more{"--scheme", "ufs",           "--filesystem",
                                      "ext2",     "--device-path", device.path(),
                                      "--until",  "requests=40"};
  auto confirmed = more;
  confirmed.emplace_back("--yes");
  // One device under two names, and one that is too small.
  const auto alias = folder_ / "alias";
  std::filesystem::create_symlink(device.path(), alias);
  auto twice = confirmed;
  twice.insert(twice.end(), {"--device-path", alias.string(), "--disks", "2", "--dry-run"});
  const auto same = run_command(bench("same", twice));
  EXPECT_EQ(same.exit_status, 2);
  EXPECT_THAT(same.err, HasSubstr("is the same device as '" + device.path() + "'"));
  const LoopDevice small(4 * storage::kMiB);
  const auto cramped = run_command(bench("small", {"--scheme", "ufs", "--filesystem", "ext2",
                                                   "--device-path", small.path(), "--dry-run"}));
  EXPECT_EQ(cramped.exit_status, 2);
  EXPECT_THAT(cramped.err, HasSubstr("--device-path '" + small.path() + "': has 4.00 MiB where"));
  // A filesystem of somebody else.
  ASSERT_EQ(run_command({"/sbin/mkfs.ext2", "-q", "-F", device.path()}).exit_status, 0);
  const auto refused = run_command(bench("refused", confirmed));
  EXPECT_EQ(refused.exit_status, 2);
  EXPECT_THAT(refused.err, HasSubstr("ext2"));
  // Nothing that anybody knows: still it is asked first.
  ASSERT_EQ(run_command({"/sbin/wipefs", "-q", "-a", device.path()}).exit_status, 0);
  const auto unconfirmed = run_command(bench("unconfirmed", more));
  EXPECT_EQ(unconfirmed.exit_status, 2);
  EXPECT_THAT(unconfirmed.err, HasSubstr("--yes"));
  // The second time it holds what cacheoff made.
  for (const char* out : {"first", "second"}) {
    const auto ended = run_command(bench(out, confirmed));
    ASSERT_EQ(ended.exit_status, 0) << ended.out << ended.err;
    EXPECT_EQ(std::string(results(out).at("cells").as_array().at(0).at("device").as_string()),
              device.path());
  }
  EXPECT_THAT(leftovers(), testing::IsEmpty());
}

TEST_F(FilesystemsTest, AnOrdinaryUserRunsWhatNeedsNoRoot) {
  chmod(folder_.path().c_str(), 0777);
  auto command = bench(
      "out", {"--scheme", "none,ufs", "--filesystem", "here,ext4,raw", "--until", "requests=40"});
  if (geteuid() == 0) {
    const std::vector<std::string> as_nobody{"setpriv", "--reuid=65534", "--regid=65534",
                                             "--clear-groups"};
    command.insert(command.begin(), as_nobody.begin(), as_nobody.end());
    auto reach = as_nobody;
    reach.insert(reach.end(), {"test", "-x", program_path("cacheoff")});
    if (run_command(reach).exit_status != 0) GTEST_SKIP() << "nobody can't reach the programs";
  }
  const auto ended = run_command(command);
  ASSERT_EQ(ended.exit_status, 0) << ended.out << ended.err;
  const auto all = results("out");
  EXPECT_EQ(all.at("cells").as_array().size(), 2U);
  const auto& skipped = all.at("skipped").as_array();
  ASSERT_EQ(skipped.size(), 2U);
  EXPECT_EQ(skipped[0].at("name"), "ufs-ext4");
  EXPECT_THAT(std::string(skipped[0].at("reason").as_string()), HasSubstr("root"));
}

/// What happens to the runner, at some moment.
class FilesystemsEndTest : public FilesystemsTest, public testing::WithParamInterface<int> {};

TEST_P(FilesystemsEndTest, NothingIsLeftWhenItComesAtAnyMoment) {
  if (has_none()) GTEST_SKIP() << "loop devices need root";
  const uint64_t seed = testing_support::test_seed(static_cast<uint64_t>(GetParam()));
  SCOPED_TRACE(testing_support::seed_trace(seed));
  storage::Random dice(seed);
  const uint64_t rounds = effort(4, 2);
  for (uint64_t round = 0; round < rounds; ++round) {
    const std::string out = "out" + std::to_string(round);
    Process runner(bench(out, {"--scheme", "diskd", "--filesystem", "ext4,btrfs", "--disks", "2",
                               "--mount", "noatime", "--until", "duration=500ms"}),
                   {{"TMPDIR", folder_.path().string()}});
    // Sooner in the first rounds: trials, making, mounting; then within runs.
    const auto moment = std::chrono::milliseconds(dice.below(400 * (round + 1)));
    std::this_thread::sleep_for(moment);
    runner.signal(GetParam());
    const auto ended = runner.wait();
    ASSERT_FALSE(ended.timed_out);
    if (GetParam() == SIGKILL) {
      // A folder may hold the leftovers of an earlier round, which died in another result folder.
      const auto clean_up = run_command(
          {program_path("cacheoff"), "bench", "--clean-up", "--out", (folder_ / out).string()});
      EXPECT_EQ(clean_up.exit_status, 0) << clean_up.out << clean_up.err;
    }
    EXPECT_THAT(leftovers(), testing::IsEmpty()) << "after " << moment.count() << " ms";
  }
}

INSTANTIATE_TEST_SUITE_P(Signals, FilesystemsEndTest, testing::Values(SIGINT, SIGKILL),
                         [](const auto& signal) {
                           return signal.param == SIGKILL ? "Kill" : "Interrupt";
                         });

}  // namespace
