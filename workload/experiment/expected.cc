#include "workload/experiment/expected.h"

#include <boost/throw_exception.hpp>
#include <stdexcept>

namespace workload {

void throw_exception_from_error(const Problem& problem, const boost::source_location& at) {
  boost::throw_exception(std::logic_error("unchecked result: " + problem.text), at);
}

}  // namespace workload
