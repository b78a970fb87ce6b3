#include "tests/fuzz/proxy/targets.h"

namespace testing_support {

const std::vector<FuzzTarget>& fuzz_targets() {
  static const std::vector<FuzzTarget> targets = {stored_response_target(), range_target(),
                                                  header_lists_target(), http_date_target(),
                                                  request_target_target()};
  return targets;
}

}  // namespace testing_support
