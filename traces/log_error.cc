#include "traces/log_error.h"

#include <stdexcept>

namespace traces {

void throw_exception_from_error(const LogError& error, const boost::source_location& at) {
  throw std::logic_error(std::string(at.file_name()) + ": value taken of an error: " + error.text);
}

}  // namespace traces
