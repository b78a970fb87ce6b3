#include "workload/model/distributions.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <numbers>
#include <span>
#include <vector>

#include "storage/base/units.h"
#include "workload/model/object.h"

namespace workload {
namespace {

constexpr double kCountMax = 9007199254740992.0;          // 2^53
constexpr double kDurationMaxNs = 100.0 * 365 * 86400e9;  // A hundred years.
constexpr uint64_t kZipfMax = uint64_t{1} << 40;

/// std::lgamma() also sets a sign that all threads share.
double log_gamma(double value) {
  int sign = 0;
  return lgamma_r(value, &sign);
}

/// Uniform in (0, 1]: its logarithm is finite.
double positive_uniform(storage::Random& random) {
  return 1.0 - random.uniform();
}

/// Box and Muller, "A note on the generation of random normal deviates" (1958); within 8.6 standard
/// deviations always, as the uniform number has 53 bits.
double standard_normal(storage::Random& random) {
  const double radius = std::sqrt(-2.0 * std::log(positive_uniform(random)));
  return radius * std::cos(2.0 * std::numbers::pi * random.uniform());
}

struct Unit {
  std::string_view name;
  double value;
};
constexpr std::array<Unit, 4> kSizeUnits{
    {{"GB", 1073741824.0}, {"MB", 1048576.0}, {"KB", 1024.0}, {"B", 1.0}}};
constexpr std::array<Unit, 7> kDurationUnits{{{"d", 86400e9},
                                              {"h", 3600e9},
                                              {"m", 60e9},
                                              {"s", 1e9},
                                              {"ms", 1e6},
                                              {"us", 1e3},
                                              {"ns", 1.0}}};

std::optional<double> parse_quantity(std::string_view text, Quantity quantity) {
  switch (quantity) {
    case Quantity::kSizeBytes:
      if (const auto size = storage::parse_size_bytes(text)) return static_cast<double>(*size);
      return std::nullopt;
    case Quantity::kDuration:
      if (const auto time = storage::parse_duration(text))
        return static_cast<double>(time->count());
      return std::nullopt;
    case Quantity::kCount:
      break;
  }
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  if (!(value >= 0 && value <= kCountMax)) return std::nullopt;
  return value;
}

std::string shortest(double value) {
  std::array<char, 64> digits;
  const auto end =
      std::to_chars(digits.data(), digits.data() + digits.size(), value, std::chars_format::fixed)
          .ptr;
  return {digits.data(), end};
}

/// In the largest unit that says the value exactly in few digits, else in the smallest.
std::string quantity_text(double value, Quantity quantity) {
  if (quantity == Quantity::kCount) return shortest(value);
  const std::span<const Unit> units = quantity == Quantity::kSizeBytes
                                          ? std::span<const Unit>(kSizeUnits)
                                          : std::span<const Unit>(kDurationUnits);
  constexpr size_t kDigitsMax = 6;
  for (const auto& unit : units) {
    if (value < unit.value) continue;
    const std::string number = shortest(value / unit.value);
    if (number.size() > kDigitsMax) continue;
    const std::string text = number + std::string(unit.name);
    if (parse_quantity(text, quantity) == value) return text;
  }
  return shortest(value / units.back().value) + std::string(units.back().name);
}

struct KindInfo {
  std::string_view name;
  Distribution::Kind kind;
  size_t arguments;
};
constexpr std::array<KindInfo, 6> kKinds{{{"constant", Distribution::Kind::kConstant, 1},
                                          {"uniform", Distribution::Kind::kUniform, 2},
                                          {"exponential", Distribution::Kind::kExponential, 1},
                                          {"normal", Distribution::Kind::kNormal, 2},
                                          {"lognormal", Distribution::Kind::kLogNormal, 2},
                                          {"zipf", Distribution::Kind::kZipf, 1}}};

std::string_view example(Quantity quantity) {
  switch (quantity) {
    case Quantity::kSizeBytes:
      return "constant:4KB, uniform:0,8KB, exponential:4.5KB, normal:8KB,1KB or "
             "lognormal:300KB,300KB";
    case Quantity::kDuration:
      return "constant:10ms, uniform:0,1s, exponential:100ms, normal:2500ms,1000ms or "
             "lognormal:7d,1d";
    case Quantity::kCount:
      break;
  }
  return "constant:5, uniform:0,10, exponential:5, normal:5,1, lognormal:5,2 or zipf:64";
}

std::vector<std::string_view> split_at_commas(std::string_view text) {
  std::vector<std::string_view> parts;
  for (;;) {
    const auto comma = text.find(',');
    parts.push_back(text.substr(0, comma));
    if (comma == std::string_view::npos) return parts;
    text.remove_prefix(comma + 1);
  }
}

/// mu and sigma of the logarithm of a variate with this mean and standard deviation.
std::pair<double, double> log_normal_parameters(double mean, double deviation) {
  const double log_second_moment = std::log(deviation * deviation + mean * mean);
  const double log_mean = std::log(mean);
  const double variance = std::max(0.0, log_second_moment - 2 * log_mean);
  return {2 * log_mean - log_second_moment / 2, std::sqrt(variance)};
}

double clamp(double value, double max) {
  return std::clamp(value, 0.0, max);
}

}  // namespace

Distribution Distribution::constant(double value) {
  return {Kind::kConstant, value, 0};
}
Distribution Distribution::uniform(double low, double high) {
  return {Kind::kUniform, low, high};
}
Distribution Distribution::exponential(double mean) {
  return {Kind::kExponential, mean, 0};
}
Distribution Distribution::normal(double mean, double standard_deviation) {
  return {Kind::kNormal, mean, standard_deviation};
}
Distribution Distribution::log_normal(double mean, double standard_deviation) {
  return {Kind::kLogNormal, mean, standard_deviation};
}
Distribution Distribution::zipf(uint64_t n) {
  return {Kind::kZipf, static_cast<double>(n), 0};
}

double Distribution::sample(storage::Random& random) const {
  switch (kind_) {
    case Kind::kConstant:
      break;
    case Kind::kUniform:
      return first_ + (second_ - first_) * random.uniform();
    case Kind::kExponential:
      return -first_ * std::log(positive_uniform(random));
    case Kind::kNormal:
      return first_ + second_ * standard_normal(random);
    case Kind::kLogNormal: {
      const auto [mu, sigma] = log_normal_parameters(first_, second_);
      return std::exp(mu + sigma * standard_normal(random));
    }
    case Kind::kZipf:
      // Rounding in pow() may touch n + 1, which is no rank.
      return std::clamp(std::floor(std::pow(first_ + 1, random.uniform())), 1.0, first_);
  }
  return first_;
}

uint64_t Distribution::sample_size_bytes(storage::Random& random) const {
  return static_cast<uint64_t>(
      std::ceil(clamp(sample(random), static_cast<double>(kObjectSizeBytesMax))));
}

std::chrono::nanoseconds Distribution::sample_duration(storage::Random& random) const {
  return std::chrono::nanoseconds(static_cast<int64_t>(clamp(sample(random), kDurationMaxNs)));
}

uint64_t Distribution::sample_count(storage::Random& random) const {
  return static_cast<uint64_t>(clamp(sample(random), kCountMax));
}

double Distribution::mean() const {
  switch (kind_) {
    case Kind::kUniform:
      return (first_ + second_) / 2;
    case Kind::kZipf:
      return first_ - log_gamma(first_ + 1) / std::log(first_ + 1);
    case Kind::kConstant:
    case Kind::kExponential:
    case Kind::kNormal:
    case Kind::kLogNormal:
      break;
  }
  return first_;
}

std::string Distribution::text(Quantity quantity) const {
  for (const auto& info : kKinds) {
    if (info.kind != kind_) continue;
    std::string text = std::string(info.name) + ':' + quantity_text(first_, quantity);
    if (info.arguments == 2) text += ',' + quantity_text(second_, quantity);
    return text;
  }
  return {};
}

uint64_t zipf_rank(uint64_t n, double exponent, storage::Random& random) {
  const double end = static_cast<double>(n) + 1;
  const double place = random.uniform();
  const double power = 1 - exponent;
  // Near 1 the powers below differ by less than their rounding.
  const bool is_one = std::abs(power) < 1e-9;
  const double rank =
      is_one ? std::pow(end, place) : std::pow(1 + place * (std::pow(end, power) - 1), 1 / power);
  return static_cast<uint64_t>(std::clamp(std::floor(rank), 1.0, static_cast<double>(n)));
}

std::optional<Distribution> parse_distribution(std::string_view text, Quantity quantity,
                                               std::string& error) {
  const auto fail = [&](const std::string& what) {
    error = "'" + std::string(text) + "': " + what + "; right would be " +
            std::string(example(quantity));
    return std::nullopt;
  };
  const auto colon = text.find(':');
  const auto name = text.substr(0, colon);
  const auto info = std::find_if(kKinds.begin(), kKinds.end(),
                                 [&](const KindInfo& each) { return each.name == name; });
  if (info == kKinds.end() || colon == std::string_view::npos) return fail("no distribution");
  const auto parts = split_at_commas(text.substr(colon + 1));
  if (parts.size() != info->arguments) {
    return fail(std::string(name) + " takes " + std::to_string(info->arguments) +
                (info->arguments == 1 ? " value" : " values"));
  }
  std::array<double, 2> values{0, 0};
  for (size_t i = 0; i < parts.size(); ++i) {
    const auto value = parse_quantity(parts[i], quantity);
    if (!value) return fail("'" + std::string(parts[i]) + "' is no value");
    values[i] = *value;
  }
  switch (info->kind) {
    case Distribution::Kind::kConstant:
      return Distribution::constant(values[0]);
    case Distribution::Kind::kUniform:
      if (values[0] > values[1]) return fail("the lower bound is above the upper one");
      return Distribution::uniform(values[0], values[1]);
    case Distribution::Kind::kExponential:
      return Distribution::exponential(values[0]);
    case Distribution::Kind::kNormal:
      return Distribution::normal(values[0], values[1]);
    case Distribution::Kind::kLogNormal:
      if (values[0] <= 0) return fail("the mean must be above 0");
      return Distribution::log_normal(values[0], values[1]);
    case Distribution::Kind::kZipf:
      break;
  }
  if (quantity != Quantity::kCount) return fail("zipf is for counts");
  const double n = values[0];
  if (n < 1 || n != std::floor(n) || n > static_cast<double>(kZipfMax)) {
    return fail("zipf takes a whole number from 1 to 2^40");
  }
  return Distribution::zipf(static_cast<uint64_t>(n));
}

}  // namespace workload
