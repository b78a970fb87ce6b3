// A value, or the one line that tells a user what is wrong and what would be right.
#pragma once

#include <boost/assert/source_location.hpp>
#include <boost/system/result.hpp>
#include <string>
#include <utility>

namespace workload {

/// What went wrong, for people: names the option, file, line or program, and what would be right.
struct Problem {
  std::string text;
  /// The user's input is wrong (exit status 2), rather than a run that failed (exit status 1).
  bool usage = false;

  Problem() = default;
  /// Both are needed: were a text alone enough, an Expected<std::string> could not tell which of
  /// its two sides a text is for.
  Problem(std::string text_in, bool usage_in) : text(std::move(text_in)), usage(usage_in) {}
};

/// Called by boost::system::result when a value is demanded of a Problem: a programmer's mistake.
[[noreturn]] void throw_exception_from_error(const Problem& problem,
                                             const boost::source_location& at);

/// A value of type T or a Problem.
template <class T>
using Expected = boost::system::result<T, Problem>;

/// A Problem whose cause is what the user gave.
inline Problem usage_problem(std::string text) {
  return {std::move(text), true};
}

/// A Problem of the run or of the machine.
inline Problem run_problem(std::string text) {
  return {std::move(text), false};
}

}  // namespace workload
