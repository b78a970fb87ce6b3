#include "storage/layout/coss_check.h"

#include <gtest/gtest.h>

#include "tests/support/coss_under_test.h"
#include "tests/support/pattern.h"

namespace testing_support {
namespace {

using storage::CheckReport;
using storage::StopMode;

class CheckCoss : public ::testing::Test {
 protected:
  // Twenty objects in four stripes, the first in the third place of its stripe replaced.
  void fill(StopMode mode) {
    ASSERT_TRUE(store_.start().has_value());
    for (uint64_t i = 0; i < 20; ++i) {
      ASSERT_TRUE(
          store_.put("key " + std::to_string(i % 19), StoredObject("h", pattern_body(i, 12'000)))
              .has_value());
      store_.run_the_rest();
    }
    ASSERT_TRUE(store_.stop(mode).has_value());
  }
  CheckReport check() {
    auto report = store_.run(storage::check_store(store_.spec(), store_.environment()));
    return report.has_value() ? *report : CheckReport();
  }
  CossUnderTest store_;
};

TEST_F(CheckCoss, CountsWhatASoundStoreHolds) {
  fill(StopMode::kDrain);
  const CheckReport report = check();
  EXPECT_EQ(report.error, "");
  EXPECT_TRUE(report.sound()) << storage::describe(report);
  EXPECT_TRUE(report.clean);
  EXPECT_EQ(report.objects, 19u);
  EXPECT_EQ(report.body_bytes, 19u * 12'000);
  EXPECT_EQ(report.log_records, 20u);
  EXPECT_TRUE(report.findings.empty());
}

TEST_F(CheckCoss, AfterACrashTellsTheSameFromTheStripesAlone) {
  fill(StopMode::kAbandon);
  const CheckReport report = check();
  EXPECT_TRUE(report.sound()) << storage::describe(report);
  EXPECT_FALSE(report.clean);
  EXPECT_EQ(report.objects, 15u) << "the last stripe was still in memory";
}

TEST_F(CheckCoss, FindsDamageAndChangesNothing) {
  fill(StopMode::kDrain);
  store_.flip_byte(CossUnderTest::stripe_offset(1) + 5000);  // in a body
  store_.flip_byte(CossUnderTest::stripe_offset(2) + 3);     // in a head
  store_.flip_byte(CossUnderTest::stripe_offset(3) - 10);    // in a trailer
  for (int round = 0; round < 2; ++round) {
    const CheckReport report = check();
    EXPECT_FALSE(report.sound());
    EXPECT_TRUE(report.clean);
    EXPECT_EQ(report.objects, 17u) << storage::describe(report);
    EXPECT_EQ(report.damaged, 2u);
    EXPECT_EQ(report.log_damaged, 1u);
    ASSERT_EQ(report.findings.size(), 3u);
    EXPECT_NE(report.findings[0].what.find("stripe 1: the object at byte 0 is damaged"),
              std::string::npos)
        << report.findings[0].what;
  }
  store_.flip_byte(4096 + 20);  // in the state
  const CheckReport report = check();
  EXPECT_FALSE(report.clean);
  EXPECT_EQ(report.log_damaged, 2u) << storage::describe(report);
  EXPECT_EQ(report.objects, 13u) << "without the index, a stripe is lost with its directory";
}

TEST_F(CheckCoss, AFileThatWasCutIsReadAsFarAsItGoes) {
  fill(StopMode::kDrain);
  std::filesystem::resize_file(store_.file(), CossUnderTest::stripe_offset(2) + 30'000);
  const CheckReport report = check();
  EXPECT_EQ(report.error, "");
  EXPECT_EQ(report.objects, 10u) << storage::describe(report);
}

TEST_F(CheckCoss, SaysWhyItCannotCheck) {
  EXPECT_NE(check().error.find("cannot open it"), std::string::npos) << "and makes nothing";
  EXPECT_FALSE(std::filesystem::exists(store_.file()));
  std::ofstream(store_.file()) << "something else";
  EXPECT_NE(check().error.find("holds something else than a coss store"), std::string::npos);
  std::filesystem::remove(store_.file());
  ASSERT_TRUE(store_.start().has_value());
  EXPECT_NE(check().error.find("in use"), std::string::npos);
}

}  // namespace
}  // namespace testing_support
