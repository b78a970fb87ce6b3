#include "tests/fuzz/workload/targets.h"

namespace testing_support {

const std::vector<FuzzTarget>& fuzz_targets() {
  static const std::vector<FuzzTarget> targets = {object_path_target(),    workload_file_target(),
                                                  origin_request_target(), ab_response_target(),
                                                  ab_reports_target(),     file_request_target()};
  return targets;
}

}  // namespace testing_support
