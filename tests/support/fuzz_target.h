// Functions that take any bytes and check what must hold whatever they are. The libFuzzer programs
// and the mutated seeds of every build run the same ones.
#pragma once

#include <span>
#include <string_view>
#include <vector>

namespace testing_support {

/// One function under fuzzing.
struct FuzzTarget {
  std::string_view name;
  /// Aborts with a message where a property does not hold.
  void (*run)(std::string_view input);
  /// Inputs to start from.
  std::vector<std::string_view> seeds;
};

/// All of a test program's; each program of fuzz/ has its own.
const std::vector<FuzzTarget>& fuzz_targets();

/// Stops the program, naming the property that does not hold.
void require(bool holds, const char* property);

/// Runs a target on its seeds and on a fixed set of mutations of them.
void run_mutated_seeds(const FuzzTarget& target);

}  // namespace testing_support
