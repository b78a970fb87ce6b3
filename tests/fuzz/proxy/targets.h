// Functions that take any bytes and check what must hold whatever they are. The libFuzzer programs
// and fuzz_test (mutated seeds, in every build) run the same ones.
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

/// All of them.
const std::vector<FuzzTarget>& fuzz_targets();

/// Stops the program, naming the property that does not hold.
void require(bool holds, const char* property);

// One subject a file, each with its seeds.
FuzzTarget stored_response_target();
FuzzTarget range_target();
FuzzTarget header_lists_target();
FuzzTarget http_date_target();
FuzzTarget request_target_target();

}  // namespace testing_support
