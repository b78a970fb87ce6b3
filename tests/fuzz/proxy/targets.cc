#include "tests/fuzz/proxy/targets.h"

#include <cstdio>
#include <cstdlib>

namespace testing_support {

const std::vector<FuzzTarget>& fuzz_targets() {
  static const std::vector<FuzzTarget> targets = {stored_response_target(), range_target(),
                                                  header_lists_target(), http_date_target(),
                                                  request_target_target()};
  return targets;
}

void require(bool holds, const char* property) {
  if (holds) return;
  std::fprintf(stderr, "fuzzing: does not hold: %s\n", property);
  std::abort();
}

}  // namespace testing_support
