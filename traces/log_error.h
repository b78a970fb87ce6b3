// Why a log can't be read, in words for its owner.
#pragma once

#include <boost/assert/source_location.hpp>
#include <boost/system/result.hpp>
#include <string>

namespace traces {

/// One line that names the file or the place in it, what is wrong and what would be right.
struct LogError {
  std::string text;
};

/// Called by boost::system::result when a value is demanded of an error: a programmer's mistake.
[[noreturn]] void throw_exception_from_error(const LogError& error,
                                             const boost::source_location& at);

/// A value or a LogError.
template <class T>
using LogResult = boost::system::result<T, LogError>;

}  // namespace traces
