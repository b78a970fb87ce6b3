#include "storage/check.h"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/support/pattern.h"
#include "tests/support/ufs_under_test.h"

namespace storage {
namespace {

using testing_support::pattern_body;
using testing_support::StoredObject;
using testing_support::UfsUnderTest;

class CheckStore : public ::testing::Test {
 protected:
  void fill(StopMode mode) {
    ASSERT_TRUE(store_.start().has_value());
    for (uint64_t i = 0; i < 5; ++i) {
      ASSERT_TRUE(store_.put(std::to_string(i), StoredObject("head", pattern_body(i, i * 40'000)))
                      .has_value());
    }
    ASSERT_TRUE(store_.stop(mode).has_value());
  }
  CheckReport check() {
    auto report = store_.run(check_store(store_.spec(), store_.environment()));
    return report.has_value() ? *report : CheckReport();
  }
  UfsUnderTest store_;
};

TEST_F(CheckStore, CountsWhatASoundStoreHolds) {
  fill(StopMode::kDrain);
  const CheckReport report = check();
  EXPECT_EQ(report.error, "");
  EXPECT_TRUE(report.sound());
  EXPECT_TRUE(report.clean);
  EXPECT_EQ(report.objects, 5u);
  EXPECT_EQ(report.body_bytes, 400'000u);
  EXPECT_EQ(report.size_bytes, store_.allocated_bytes());
  EXPECT_EQ(report.log_records, 5u);
  EXPECT_TRUE(report.findings.empty());
  const std::string text = describe(report);
  EXPECT_EQ(text.substr(0, text.find('\n')), "sound, last stop clean");
  EXPECT_NE(text.find("5 objects, every byte verified"), std::string::npos) << text;
}

TEST_F(CheckStore, WarnsOfASizeBeyondTheFilesystemAndTellsErrorsOfUsage) {
  fill(StopMode::kDrain);
  EXPECT_TRUE(check().warnings.empty());
  store_.spec().capacity_bytes = uint64_t{1} << 59;
  const CheckReport report = check();
  EXPECT_TRUE(report.sound());
  ASSERT_EQ(report.warnings.size(), 1u);
  EXPECT_NE(describe(report).find("warning: size asked is"), std::string::npos);

  store_.spec().options["nonsense"] = "1";
  EXPECT_TRUE(check().usage);
  store_.spec().options.erase("nonsense");
  store_.spec().path = store_.folder() / "absent";
  EXPECT_NE(check().error, "");
  EXPECT_FALSE(check().usage);
}

TEST_F(CheckStore, FindsDamageAndLeftoversAndChangesNothing) {
  fill(StopMode::kDrain);
  std::vector<std::filesystem::path> files = store_.files();
  std::ranges::sort(files);
  testing_support::flip_byte(files[3], 70'000);  // in the last block of a body
  testing_support::flip_byte(files[4], 3);
  std::filesystem::remove(files[1]);
  std::ofstream(files[0].parent_path() / "000000000050.tmp") << "unfinished";
  std::ofstream(files[0].parent_path() / "letter.txt") << "not ours";
  std::ofstream(store_.folder() / "swap.log", std::ios::app) << "rubbish";
  for (int round = 0; round < 2; ++round) {
    const CheckReport report = check();
    EXPECT_FALSE(report.sound());
    EXPECT_FALSE(report.clean);
    EXPECT_EQ(report.objects, 2u);
    EXPECT_EQ(report.damaged, 2u);
    EXPECT_EQ(report.missing, 1u);
    EXPECT_EQ(report.strays, 1u);
    EXPECT_EQ(report.foreign, 1u);
    EXPECT_EQ(report.log_damaged, 1u);
    EXPECT_EQ(report.findings.size(), 5u);
    const std::string text = describe(report);
    EXPECT_EQ(text.substr(0, text.find('\n')), "DAMAGED, last stop not clean");
    EXPECT_NE(text.find("000000000003 is damaged"), std::string::npos) << text;
  }
}

TEST_F(CheckStore, AStoreThatCrashedIsSound) {
  fill(StopMode::kAbandon);
  const CheckReport report = check();
  EXPECT_TRUE(report.sound());
  EXPECT_FALSE(report.clean);
  EXPECT_EQ(report.objects, 5u);
  EXPECT_EQ(report.unlisted, 5u) << "the records were still being gathered";
}

TEST_F(CheckStore, SaysWhyItCannotCheck) {
  EXPECT_NE(check().error.find("is no ufs store of cacheoff"), std::string::npos) << check().error;
  ASSERT_TRUE(store_.start().has_value());
  EXPECT_NE(check().error.find("in use"), std::string::npos);
  store_.spec().scheme = "memory";
  EXPECT_EQ(check().error, "scheme memory keeps nothing that could be checked");
  store_.spec().scheme = "mystery";
  EXPECT_TRUE(check().error.starts_with("unknown scheme 'mystery': known are none,"));
  EXPECT_EQ(describe(check()), check().error + "\n");
}

}  // namespace
}  // namespace storage
