// The errors of the storage layer, and the result types that carry them.
#pragma once

#include <boost/assert/source_location.hpp>
#include <boost/system/result.hpp>
#include <exception>
#include <string>

namespace storage {

/// What went wrong, as far as a caller has to act differently on it.
enum class Errc {
  kNone,          ///< No error; what `error()` of a successful result holds.
  kNotFound,      ///< No such object: a miss, never a failure.
  kOverloaded,    ///< Refused for now: a queue, a pool or a buffer is at its limit.
  kTooLarge,      ///< The object (or its metadata) is larger than the scheme can ever hold.
  kTooSmall,      ///< The object is smaller than the scheme was told to take, or might be.
  kNoSpace,       ///< No room, and none could be made by eviction.
  kKeepsNothing,  ///< The scheme stores no object, by design.
  kAborted,       ///< Given up by the caller or by its cancellation; nothing was kept.
  kCorrupt,       ///< Damage on disk was found; the object is gone and counted.
  kIo,            ///< The device or the filesystem failed; `system_errno` says how.
  kStopped,       ///< The store is stopping or was never started.
};

/// An error and, where the operating system gave one, its errno.
struct Error {
  Errc code = Errc::kNone;
  int system_errno = 0;

  Error() = default;
  Error(Errc code_in, int errno_in = 0) : code(code_in), system_errno(errno_in) {}
  friend bool operator==(const Error& left, const Error& right) = default;
};

/// Name of an error for logs and counters, e.g. `not_found`. Never null.
const char* name_of(Errc code);

/// One line for people: the name and, if there is one, the errno's text.
std::string to_string(const Error& error);

/// One line for people about an exception that ended a coroutine; `failure` must hold one.
std::string text_of(const std::exception_ptr& failure);

/// Called by boost::system::result when a value is demanded of an error: a programmer's mistake.
[[noreturn]] void throw_exception_from_error(const Error& error, const boost::source_location& at);

/// A value or an Error. An empty result is never used to mean "not found".
template <class T>
using Result = boost::system::result<T, Error>;

}  // namespace storage
