// The model in its own time against the closed formulas and the published figures.
#include "workload/disk/prediction.h"

#include <gtest/gtest.h>

#include "storage/base/units.h"

namespace workload::disk {
namespace {

LoadPattern pattern_of(bool write, bool sequential, uint64_t depth) {
  LoadPattern pattern;
  pattern.write = write;
  pattern.sequential = sequential;
  pattern.depth = depth;
  pattern.block_bytes = sequential ? 65'536 : 4096;
  return pattern;
}

double rate_of(const DiskProfile& disk, const LoadPattern& pattern) {
  return model_rate(disk, disk.size_bytes, pattern, DiskTime(0), 20'000, 1);
}

TEST(Prediction, TheDiskOf2003IsAsPublished) {
  const DiskProfile disk = *built_in_profile("scsi-2003");
  EXPECT_NEAR(rate_of(disk, pattern_of(false, false, 1)), 105, 105 * 0.02);
  EXPECT_NEAR(rate_of(disk, pattern_of(false, false, 16)), 190, 190 * 0.02);
  EXPECT_NEAR(rate_of(disk, pattern_of(false, true, 1)) * 65'536, 30e6, 30e6 * 0.01);
  EXPECT_NEAR(rate_of(disk, pattern_of(true, true, 16)) * 65'536, 30e6, 30e6 * 0.01);
}

struct Case {
  std::string profile;
  LoadPattern pattern;
};

class Formulas : public ::testing::TestWithParam<Case> {};

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const char* profile : {"scsi-2003", "sata-7200", "sata-ssd"}) {
    for (const bool write : {false, true}) {
      for (const bool sequential : {false, true}) {
        for (const uint64_t depth : {1, 16}) {
          cases.push_back({profile, pattern_of(write, sequential, depth)});
        }
      }
    }
  }
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Patterns, Formulas, ::testing::ValuesIn(all_cases()),
                         [](const auto& tested) {
                           std::string name = tested.param.profile + "_" +
                                              tested.param.pattern.fio_name() + "_" +
                                              std::to_string(tested.param.pattern.depth);
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST_P(Formulas, AgreeWithTheModel) {
  const auto& [name, pattern] = GetParam();
  const DiskProfile disk = *built_in_profile(name);
  for (const DiskTime host : {DiskTime(0), DiskTime(100'000)}) {
    const auto formula = formula_rate(disk, disk.size_bytes, pattern, host);
    ASSERT_TRUE(formula.has_value());
    const double model = model_rate(disk, disk.size_bytes, pattern, host, 20'000, 1);
    EXPECT_NEAR(*formula, model, model * 0.02);
  }
}

TEST(Prediction, FirstComeFirstServedCostsADeepQueueMuchOfItsRate) {
  DiskProfile disk = *built_in_profile("scsi-2003");
  const double elevator = rate_of(disk, pattern_of(false, false, 16));
  disk.scheduling = Scheduling::kFifo;
  EXPECT_LT(rate_of(disk, pattern_of(false, false, 16)), elevator * 0.67);
}

TEST(Prediction, TheSameSeedIsTheSameRun) {
  const DiskProfile disk = *built_in_profile("sata-7200");
  const LoadPattern pattern = pattern_of(true, false, 16);
  const auto rate = [&](uint64_t seed) {
    return model_rate(disk, disk.size_bytes, pattern, DiskTime(0), 500, seed);
  };
  EXPECT_EQ(rate(1), rate(1));
  EXPECT_NE(rate(1), rate(2));
}

}  // namespace
}  // namespace workload::disk
