#include "storage/base/error.h"

#include <stdexcept>
#include <system_error>

namespace storage {

const char* name_of(Errc code) {
  switch (code) {
    case Errc::kNone:
      return "none";
    case Errc::kNotFound:
      return "not_found";
    case Errc::kOverloaded:
      return "overloaded";
    case Errc::kTooLarge:
      return "too_large";
    case Errc::kTooSmall:
      return "too_small";
    case Errc::kNoSpace:
      return "no_space";
    case Errc::kKeepsNothing:
      return "keeps_nothing";
    case Errc::kAborted:
      return "aborted";
    case Errc::kCorrupt:
      return "corrupt";
    case Errc::kIo:
      return "io";
    case Errc::kStopped:
      return "stopped";
  }
  return "unknown";
}

std::string to_string(const Error& error) {
  std::string text = name_of(error.code);
  if (error.system_errno != 0) {
    text += ": " + std::generic_category().message(error.system_errno);
  }
  return text;
}

std::string text_of(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const std::exception& error) {
    return error.what();
  } catch (...) {
    return "unknown exception";
  }
}

void throw_exception_from_error(const Error& error, const boost::source_location& at) {
  throw std::logic_error("value demanded of a failed result (" + to_string(error) + ") at " +
                         at.to_string());
}

}  // namespace storage
