#include "workload/cli/count_option.h"

#include <boost/program_options/errors.hpp>
#include <boost/program_options/value_semantic.hpp>

#include "storage/base/units.h"

namespace workload {

void validate(boost::any& out, const std::vector<std::string>& values, CountOption*, int) {
  namespace po = boost::program_options;
  po::validators::check_first_occurrence(out);
  const std::string& text = po::validators::get_single_string(values);
  const auto count = storage::parse_count(text);
  if (!count) {
    throw po::error_with_option_name("option '%canonical_option%': '" + text +
                                     "' is no whole number of 0 or more");
  }
  out = CountOption(*count);
}

}  // namespace workload
