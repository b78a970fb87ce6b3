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
    throw po::validation_error(po::validation_error::invalid_option_value, "", text);
  }
  out = CountOption(*count);
}

}  // namespace workload
