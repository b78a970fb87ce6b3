// `cacheoff load` against a proxy, and what its run.json says.
#pragma once

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/support/stack.h"

namespace testing_support {

/// Runs robots through the proxy at `proxy` to the stack's origin, with run.json and the request
/// log `requests.log` in `out`. Returns run.json; a failed run is a failed test, and the result may
/// then be empty.
boost::json::object run_robots(const Stack& stack, const std::string& proxy,
                               const std::filesystem::path& out,
                               const std::vector<std::string>& options);

/// A count of run.json.
uint64_t count_in(const boost::json::value& value);

/// Fails the test where a run, or a phase of one, has an error of any kind.
void expect_no_errors(const boost::json::object& figures);

}  // namespace testing_support
