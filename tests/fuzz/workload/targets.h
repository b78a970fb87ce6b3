// What is fuzzed of the workload: one subject a file, each with its seeds.
#pragma once

#include "tests/support/fuzz_target.h"

namespace testing_support {

FuzzTarget object_path_target();
FuzzTarget workload_file_target();
FuzzTarget origin_request_target();
FuzzTarget ab_response_target();
FuzzTarget ab_reports_target();
FuzzTarget file_request_target();

}  // namespace testing_support
