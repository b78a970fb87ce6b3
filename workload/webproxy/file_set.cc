#include "workload/webproxy/file_set.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <numbers>
#include <utility>

namespace webproxy {
namespace {

/// So many places at which a file can begin within the block: that two files are alike where they
/// begin is as rare as that.
constexpr size_t kBeginnings = 4 * 1024 * 1024;
constexpr double kShape = 1.5;

/// A number above 0 and up to 1, whose logarithm is finite.
double above_zero(storage::Random& dice) {
  return 1 - dice.uniform();
}

uint32_t take_from(std::vector<uint32_t>& numbers, storage::Random& dice) {
  const size_t at = dice.below(numbers.size());
  std::swap(numbers[at], numbers.back());
  const uint32_t number = numbers.back();
  numbers.pop_back();
  return number;
}

}  // namespace

FileContent::FileContent(uint64_t seed) : seed_(seed), block_(kBeginnings + kFileSizeMax) {
  storage::Random dice = storage::Random(seed_).fork(0);
  for (size_t at = 0; at < block_.size(); at += sizeof(uint64_t)) {
    const uint64_t word = dice();
    std::memcpy(block_.data() + at, &word, std::min(sizeof word, block_.size() - at));
  }
}

storage::Random FileContent::dice_of(FileVersion file) const {
  const uint64_t label = (static_cast<uint64_t>(file.version) << 32) | file.number;
  return storage::Random(seed_).fork(storage::mix64(label + 1));
}

uint64_t FileContent::size_bytes(FileVersion file) const {
  storage::Random dice = dice_of(file);
  // Gamma of shape 3/2 is one of shape 1 (exponential) and one of shape 1/2 (half the square of a
  // normal variate, here by Box and Muller) together.
  const double exponential = -std::log(above_zero(dice));
  const double length = -std::log(above_zero(dice));
  const double cosine = std::cos(2 * std::numbers::pi * dice.uniform());
  const double scale = static_cast<double>(kFileSizeMean) / kShape;
  const double size = scale * (exponential + length * cosine * cosine);
  return static_cast<uint64_t>(std::clamp(std::ceil(size), 1.0, static_cast<double>(kFileSizeMax)));
}

std::span<const std::byte> FileContent::bytes(FileVersion file) const {
  storage::Random dice = dice_of(file).fork(1);
  return {block_.data() + dice.below(kBeginnings), size_bytes(file)};
}

bool FileContent::matches(FileVersion file, std::span<const std::byte> read) const {
  const auto right = bytes(file);
  return read.size() == right.size() && std::memcmp(read.data(), right.data(), read.size()) == 0;
}

FileSet::FileSet(uint32_t names, uint32_t present) : versions_(names, 0) {
  present_.reserve(names);
  absent_.reserve(names);
  for (uint32_t number = 0; number < names; ++number) {
    (number < present ? present_ : absent_).push_back(number);
  }
}

FileVersion FileSet::take_present(storage::Random& dice) {
  const uint32_t number = take_from(present_, dice);
  return {number, versions_[number]};
}

FileVersion FileSet::take_absent(storage::Random& dice) {
  const uint32_t number = take_from(absent_, dice);
  return {number, versions_[number]};
}

void FileSet::give_present(FileVersion file) {
  present_.push_back(file.number);
}

void FileSet::give_absent(FileVersion file) {
  ++versions_[file.number];
  absent_.push_back(file.number);
}

std::string file_name(FileVersion file) {
  std::array<char, 16> text{};
  std::snprintf(text.data(), text.size(), "%08u", file.number);
  return text.data();
}

}  // namespace webproxy
