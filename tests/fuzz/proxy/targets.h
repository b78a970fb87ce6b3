// What is fuzzed of the proxy: one subject a file, each with its seeds.
#pragma once

#include "tests/support/fuzz_target.h"

namespace testing_support {

FuzzTarget stored_response_target();
FuzzTarget range_target();
FuzzTarget header_lists_target();
FuzzTarget http_date_target();
FuzzTarget request_target_target();

}  // namespace testing_support
