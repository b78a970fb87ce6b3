// The files of the pattern: their sizes and bytes, and who has which.
#include "workload/webproxy/file_set.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

namespace webproxy {
namespace {

std::vector<std::byte> copy_of(std::span<const std::byte> bytes) {
  return {bytes.begin(), bytes.end()};
}

TEST(FileContent, IsAFunctionOfSeedNumberAndVersion) {
  const FileContent content(7);
  const FileContent again(7);
  const FileContent other(8);
  const FileVersion file{3, 2};
  const auto bytes = copy_of(content.bytes(file));
  EXPECT_EQ(bytes.size(), content.size_bytes(file));
  EXPECT_TRUE(again.matches(file, bytes));
  EXPECT_FALSE(other.matches(file, bytes));
  EXPECT_FALSE(content.matches({3, 3}, bytes));
  EXPECT_FALSE(content.matches({4, 2}, bytes));
}

TEST(FileContent, OneByteMoreLessOrOtherIsWrong) {
  const FileContent content(1);
  const FileVersion file{0, 0};
  const auto right = copy_of(content.bytes(file));
  ASSERT_TRUE(content.matches(file, right));
  auto wrong = right;
  wrong.push_back(std::byte{0});
  EXPECT_FALSE(content.matches(file, wrong));
  wrong = right;
  wrong.pop_back();
  EXPECT_FALSE(content.matches(file, wrong));
  for (const size_t at : {size_t{0}, right.size() / 2, right.size() - 1}) {
    wrong = right;
    wrong[at] ^= std::byte{1};
    EXPECT_FALSE(content.matches(file, wrong)) << at;
  }
}

TEST(FileContent, SizesHaveTheMeanAndTheSpreadOfTheGammaDistribution) {
  const FileContent content(5);
  constexpr uint32_t kSamples = 200'000;
  double sum = 0;
  double squares = 0;
  for (uint32_t number = 0; number < kSamples; ++number) {
    const uint64_t size = content.size_bytes({number, 0});
    ASSERT_GE(size, 1U);
    ASSERT_LE(size, kFileSizeMax);
    sum += static_cast<double>(size);
    squares += static_cast<double>(size) * static_cast<double>(size);
  }
  const double mean = sum / kSamples;
  const double deviation = std::sqrt(squares / kSamples - mean * mean);
  const auto expected = static_cast<double>(kFileSizeMean);
  // Shape 1.5: the deviation is the mean over its root. Five standard errors are 1 %.
  EXPECT_NEAR(mean, expected, expected * 0.01);
  EXPECT_NEAR(deviation, expected / std::sqrt(1.5), expected * 0.015);
}

TEST(FileSet, AFileThatIsTakenIsNobodyElses) {
  FileSet files(10, 8);
  storage::Random dice(1);
  EXPECT_EQ(files.idle_present(), 8U);
  EXPECT_EQ(files.idle_absent(), 2U);
  std::set<uint32_t> taken;
  for (int i = 0; i < 8; ++i) EXPECT_TRUE(taken.insert(files.take_present(dice).number).second);
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(taken.insert(files.take_absent(dice).number).second);
  EXPECT_EQ(files.idle_present(), 0U);
  EXPECT_EQ(files.idle_absent(), 0U);
}

TEST(FileSet, ANameHasAnotherVersionAfterItsFileWasDeleted) {
  FileSet files(1, 1);
  storage::Random dice(1);
  const FileVersion first = files.take_present(dice);
  EXPECT_EQ(first, (FileVersion{0, 0}));
  files.give_absent(first);
  const FileVersion second = files.take_absent(dice);
  EXPECT_EQ(second, (FileVersion{0, 1}));
  files.give_present(second);
  EXPECT_EQ(files.take_present(dice), second);
}

TEST(FileSet, ChoicesAreAFunctionOfTheSeed) {
  const auto choices = [](uint64_t seed) {
    FileSet files(1000, 800);
    storage::Random dice(seed);
    std::vector<uint32_t> numbers;
    for (int i = 0; i < 50; ++i) numbers.push_back(files.take_present(dice).number);
    return numbers;
  };
  EXPECT_EQ(choices(1), choices(1));
  EXPECT_NE(choices(1), choices(2));
}

TEST(FileName, AllHaveTheSameLengthInOneFolder) {
  EXPECT_EQ(file_name({0, 3}), "00000000");
  EXPECT_EQ(file_name({4'999'999, 0}), "04999999");
}

}  // namespace
}  // namespace webproxy
