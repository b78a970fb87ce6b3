// Randomness, injected: everything random is a function of a stated seed.
#pragma once

#include <cstdint>
#include <limits>

namespace storage {

/// Mixes 64 bits into 64 bits (the finaliser of SplitMix64; Steele, Lea, Flood: "Fast splittable
/// pseudorandom number generators", OOPSLA 2014). A bijection, so distinct inputs stay distinct.
constexpr uint64_t mix64(uint64_t x) {
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9ULL;
  x ^= x >> 27;
  x *= 0x94d049bb133111ebULL;
  x ^= x >> 31;
  return x;
}

/// SplitMix64: small, fast, seedable with any value, good enough for workloads and tests (not for
/// secrets). Meets UniformRandomBitGenerator. One instance belongs to one thread.
class Random {
 public:
  using result_type = uint64_t;

  explicit Random(uint64_t seed) : state_(seed) {}

  static constexpr uint64_t min() { return 0; }
  static constexpr uint64_t max() { return std::numeric_limits<uint64_t>::max(); }
  uint64_t operator()() { return mix64(state_ += 0x9e3779b97f4a7c15ULL); }

  /// Uniform in [0, 1), 53 bits.
  double uniform() { return static_cast<double>((*this)() >> 11) * 0x1.0p-53; }

  /// Uniform in [0, bound); `bound` must not be 0.
  uint64_t below(uint64_t bound) {
    __extension__ using Wide = unsigned __int128;
    return static_cast<uint64_t>((static_cast<Wide>((*this)()) * bound) >> 64);
  }

  /// An independent stream for a sub-task; the same `label` gives the same stream.
  Random fork(uint64_t label) const { return Random(mix64(state_ ^ mix64(label))); }

 private:
  uint64_t state_;
};

}  // namespace storage
