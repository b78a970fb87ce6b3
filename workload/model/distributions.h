// Random sizes, times and counts, as workloads state them: `exponential:4.5KB`.
//
// One type serves all three quantities; what a number stands for is said when it is read
// (parse_distribution) and when a sample is taken.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "storage/base/random.h"

namespace workload {

/// What the numbers of a distribution stand for.
enum class Quantity {
  kCount,      ///< Plain numbers, no unit.
  kSizeBytes,  ///< Bytes; read and printed as `4.5KB`.
  kDuration,   ///< Nanoseconds; read and printed as `2500ms`.
};

/// A distribution of non-negative quantities (a normal one may dip below zero before it is
/// clamped). A value type; sampling is const and a function of the random source alone.
class Distribution {
 public:
  enum class Kind { kConstant, kUniform, kExponential, kNormal, kLogNormal, kZipf };

  /// Always 0.
  Distribution() = default;
  static Distribution constant(double value);
  /// Uniform in [low, high).
  static Distribution uniform(double low, double high);
  static Distribution exponential(double mean);
  static Distribution normal(double mean, double standard_deviation);
  /// Mean and standard deviation are those of the variate itself, not of its logarithm.
  static Distribution log_normal(double mean, double standard_deviation);
  /// floor((n + 1)^U): 1 to `n`, where k has the probability ln((k + 1) / k) / ln(n + 1).
  static Distribution zipf(uint64_t n);

  /// A raw sample: finite always, negative only for kNormal. Takes one number of the random source
  /// (two for kNormal and kLogNormal, none for kConstant).
  double sample(storage::Random& random) const;
  /// Rounded up, so that only a sample of 0 is empty; 0 to kObjectSizeBytesMax of object.h.
  uint64_t sample_size_bytes(storage::Random& random) const;
  /// At least 0 (a negative normal sample is none at all), at most a hundred years.
  std::chrono::nanoseconds sample_duration(storage::Random& random) const;
  /// Rounded down, at least 0, at most 2^53.
  uint64_t sample_count(storage::Random& random) const;

  /// Mean of the raw samples.
  double mean() const;
  Kind kind() const { return kind_; }
  /// Whether every sample is 0.
  bool always_zero() const { return kind_ == Kind::kConstant && first_ == 0; }

  /// As parse_distribution() reads it; reading it back gives an equal distribution wherever this
  /// one was itself read from text.
  std::string text(Quantity quantity) const;

  friend bool operator==(const Distribution& left, const Distribution& right) = default;

 private:
  Distribution(Kind kind, double first, double second)
      : kind_(kind), first_(first), second_(second) {}

  Kind kind_ = Kind::kConstant;
  double first_ = 0;   ///< Value, low, mean or n.
  double second_ = 0;  ///< High or standard deviation.
};

/// A rank from 1 to `n` (at least 1), k with the probability
/// ((k + 1)^(1 - a) - k^(1 - a)) / ((n + 1)^(1 - a) - 1), for `exponent` a; in the limit a = 1 that
/// is Distribution::zipf(n). About k^-a, so Zipf's law, with an inverse that costs the same for any
/// n. Takes one number of the random source.
uint64_t zipf_rank(uint64_t n, double exponent, storage::Random& random);

/// Reads `constant:5`, `uniform:0,8KB`, `exponential:4.5KB`, `normal:2500ms,1000ms`,
/// `lognormal:300KB,300KB` or `zipf:64` (counts only). Nothing for anything else, with `error` set
/// to a phrase that says what is wrong and what would be right.
std::optional<Distribution> parse_distribution(std::string_view text, Quantity quantity,
                                               std::string& error);

}  // namespace workload
