// A whole number on the command line, for Boost.Program_options.
#pragma once

#include <boost/any.hpp>
#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

namespace workload {

/// The value of an option that takes a whole number of 0 or more. The library's own reading of an
/// unsigned type takes `-1` for a huge number.
struct CountOption {
  uint64_t value = 0;

  CountOption() = default;
  CountOption(uint64_t value_in) : value(value_in) {}
};

/// How the library shows a default.
inline std::ostream& operator<<(std::ostream& out, const CountOption& option) {
  return out << option.value;
}

/// How the library reads one; throws its error, which names the option, where `values` is no such
/// number. Found by the library through its argument's namespace.
void validate(boost::any& out, const std::vector<std::string>& values, CountOption*, int);

}  // namespace workload
