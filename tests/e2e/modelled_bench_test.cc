// Cells on modelled disks: that they are what was asked for, and that nothing of them is left in
// any kind of end.
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
#include "tests/support/bench_leftovers.h"
#include "tests/support/effort.h"
#include "tests/support/modelled_disk.h"
#include "tests/support/process.h"
#include "tests/support/seed.h"
#include "tests/support/stack.h"
#include "tests/support/temp_dir.h"

namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing_support::effort;
using testing_support::Process;
using testing_support::program_path;
using testing_support::read_file;
using testing_support::run_command;
namespace json = boost::json;

class ModelledBenchTest : public testing::Test {
 protected:
  void SetUp() override {
    // Programs that run as an ordinary user must get in.
    chmod(folder_.path().c_str(), 0755);
    // Others that are tested at the same time must not clear up before this does.
    setenv("CACHEOFF_STATE_DIR", (folder_ / "state").c_str(), 1);
  }
  void TearDown() override { unsetenv("CACHEOFF_STATE_DIR"); }

  /// Why there can be no modelled disks here; empty where there can.
  static std::string problem() {
    return testing_support::ModelledDisk({"--size", "4M", "--fast"}).problem();
  }

  std::vector<std::string> bench(const std::string& out, std::vector<std::string> more) const {
    std::vector<std::string> command{program_path("cacheoff"),
                                     "bench",
                                     "--out",
                                     (folder_ / out).string(),
                                     "--load",
                                     "best-effort=64",
                                     "--repeat",
                                     "1",
                                     "--cache-size",
                                     "16M",
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

TEST_F(ModelledBenchTest, DisksAreThoseOfTheProfileAndAreCounted) {
  if (const auto why = problem(); !why.empty()) GTEST_SKIP() << why;
  const auto ended =
      run_command(bench("out", {"--scheme", "none,ufs", "--filesystem", "ext2", "--mount",
                                "noatime", "--device", "scsi-2003", "--disks", "2", "--time-scale",
                                "8", "--dirty-limit", "256K", "--until", "requests=1500"}));
  ASSERT_EQ(ended.exit_status, 0) << ended.out << ended.err;
  const auto all = results("out");
  ASSERT_EQ(all.at("cells").as_array().size(), 2U);
  EXPECT_EQ(all.at("experiment").at("device"), "scsi-2003");
  EXPECT_EQ(all.at("cells").at(0).at("device"), "native");
  const auto& cell = all.at("cells").at(1);
  EXPECT_EQ(cell.at("device"), "scsi-2003");
  const auto& run = cell.at("runs").at(0);
  const auto& disk = run.at("disk");
  EXPECT_GT(disk.at("writes").to_number<uint64_t>(), 0U);
  EXPECT_GT(disk.at("write_bytes").to_number<uint64_t>(), 0U);
  EXPECT_GT(disk.at("busy_percent").to_number<double>(), 0);
  EXPECT_GT(disk.at("operations_per_request").to_number<double>(), 0);
  EXPECT_EQ(disk.at("counted_on"), "2 modelled disks scsi-2003");
  const auto& devices = run.at("devices").as_array();
  ASSERT_EQ(devices.size(), 2U);
  uint64_t writes = 0;
  for (const auto& device : devices) {
    EXPECT_EQ(device.at("kind"), "modelled");
    EXPECT_EQ(device.at("profile"), "scsi-2003");
    EXPECT_EQ(device.at("time_scale").to_number<double>(), 8);
    EXPECT_EQ(device.at("queue").at("rotational"), "1");
    EXPECT_EQ(device.at("queue").at("read_ahead_kb"), "128");
    EXPECT_TRUE(device.at("warning").is_null()) << json::serialize(device);
    const auto& counters = device.at("counters");
    EXPECT_GT(counters.at("seek_s").to_number<double>(), 0);
    EXPECT_GT(counters.at("queue_depth_mean").to_number<double>(), 0);
    EXPECT_LE(counters.at("busy_percent").to_number<double>(), 100.001);
    writes += counters.at("writes").to_number<uint64_t>();
  }
  EXPECT_EQ(disk.at("writes").to_number<uint64_t>(), writes);
  EXPECT_TRUE(run.at("cpu_s").as_object().contains("disk"));
  const auto cell_folder = folder_ / "out/cells/ufs-ext2-noatime-2disks";
  EXPECT_THAT(read_file(cell_folder / "configuration.json"), HasSubstr("rpm"));
  const std::string commands = read_file(cell_folder / "runs/1/commands.sh");
  EXPECT_THAT(commands, HasSubstr("cacheoff-disk --profile"));
  EXPECT_THAT(commands, HasSubstr("--time-scale 8"));
  EXPECT_THAT(leftovers(), IsEmpty());
}

TEST_F(ModelledBenchTest, AFastFillTakesNoTimeAndIsNotMeasured) {
  if (const auto why = problem(); !why.empty()) GTEST_SKIP() << why;
  const auto ended = run_command(
      bench("out", {"--scheme", "ufs", "--filesystem", "ext2", "--device", "scsi-2003",
                    "--time-scale", "20", "--fast-fill", "1.5", "--until", "requests=200"}),
      std::chrono::minutes(3));
  ASSERT_EQ(ended.exit_status, 0) << ended.out << ended.err;
  const auto all = results("out");
  const auto& run = all.at("cells").at(0).at("runs").at(0);
  EXPECT_EQ(run.at("requests").to_number<uint64_t>(), 200U);
  const auto& phases = run.at("phases").as_array();
  ASSERT_EQ(phases.size(), 3U);
  EXPECT_EQ(phases[0].at("name"), "fast_fill");
  EXPECT_EQ(phases[0].at("primary"), false);
  EXPECT_EQ(phases[2].at("primary"), true);
  EXPECT_GT(phases[0].at("requests").to_number<uint64_t>(), 200U);
  // The disk's own account of the measured part: nothing in it went without delay.
  for (const auto& warning : run.at("warnings").as_array()) {
    EXPECT_THAT(std::string(warning.as_string()), Not(HasSubstr("took no time")));
  }
  const auto& counters = run.at("devices").at(0).at("counters");
  EXPECT_GT(counters.at("elapsed_s").to_number<double>(), 0);
  EXPECT_THAT(leftovers(), IsEmpty());
}

TEST_F(ModelledBenchTest, ADryRunSaysWhatIsModelledAndWrongOnesAreRefused) {
  const auto unknown = run_command(bench("out", {"--filesystem", "ext2", "--device", "floppy"}));
  EXPECT_EQ(unknown.exit_status, 2);
  EXPECT_THAT(unknown.err, HasSubstr("--device 'floppy'"));
  if (const auto why = problem(); !why.empty()) GTEST_SKIP() << why;
  const auto planned = run_command(bench(
      "out", {"--filesystem", "ext2", "--scheme", "ufs", "--device", "sata-ssd", "--dry-run"}));
  EXPECT_EQ(planned.exit_status, 0) << planned.err;
  EXPECT_THAT(planned.out, HasSubstr("ext2 on a modelled sata-ssd of"));
  EXPECT_THAT(planned.out, AllOf(HasSubstr("FUSE"), Not(HasSubstr("not enough"))));
  const auto too_large = run_command({program_path("cacheoff"), "bench", "--filesystem", "ext2",
                                      "--scheme", "ufs", "--cache-size", "100P", "--dry-run"});
  EXPECT_THAT(too_large.out, HasSubstr("not enough, so that runs will fail"));
  const auto stranger = run_command(bench(
      "out", {"--filesystem", "ext2", "--scheme", "ufs", "--user", "nobody-here", "--dry-run"}));
  EXPECT_EQ(stranger.exit_status, 2);
  EXPECT_THAT(stranger.err, HasSubstr("--user 'nobody-here': there is no such user"));
  EXPECT_THAT(leftovers(), IsEmpty());
}

/// What happens to the runner, at some moment.
class ModelledBenchEndTest : public ModelledBenchTest, public testing::WithParamInterface<int> {};

TEST_P(ModelledBenchEndTest, NothingIsLeftWhenItComesAtAnyMoment) {
  if (const auto why = problem(); !why.empty()) GTEST_SKIP() << why;
  const uint64_t seed = testing_support::test_seed(static_cast<uint64_t>(GetParam()));
  SCOPED_TRACE(testing_support::seed_trace(seed));
  storage::Random dice(seed);
  const uint64_t rounds = effort(5, 2);
  for (uint64_t round = 0; round < rounds; ++round) {
    const std::string out = "out" + std::to_string(round);
    Process runner(
        bench(out, {"--scheme", "diskd", "--filesystem", "ext2", "--disks", "2", "--device",
                    "scsi-2003", "--time-scale", "100", "--until", "duration=2s"}),
        {{"TMPDIR", folder_.path().string()}});
    // Sooner in the first rounds: trials, making, mounting; then within runs.
    const auto moment = std::chrono::milliseconds(dice.below(700 * (round + 1)));
    std::this_thread::sleep_for(moment);
    runner.signal(GetParam());
    const auto ended = runner.wait();
    ASSERT_FALSE(ended.timed_out);
    if (GetParam() == SIGKILL) {
      const auto clean_up = run_command(
          {program_path("cacheoff"), "bench", "--clean-up", "--out", (folder_ / out).string()});
      EXPECT_EQ(clean_up.exit_status, 0) << clean_up.out << clean_up.err;
    }
    EXPECT_THAT(leftovers(), IsEmpty()) << "after " << moment.count() << " ms";
  }
}

INSTANTIATE_TEST_SUITE_P(Signals, ModelledBenchEndTest, testing::Values(SIGINT, SIGKILL),
                         [](const auto& signal) {
                           return signal.param == SIGKILL ? "Kill" : "Interrupt";
                         });

}  // namespace
