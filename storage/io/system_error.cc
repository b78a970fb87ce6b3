#include "storage/io/system_error.h"

#include <cerrno>

namespace storage {

Error error_from_errno(int system_errno) {
  switch (system_errno) {
    case ENOENT:
      return Error(Errc::kNotFound, system_errno);
    case ENOSPC:
    case EDQUOT:
      return Error(Errc::kNoSpace, system_errno);
    case EMFILE:
    case ENFILE:
    case ENOMEM:
    case EAGAIN:
      return Error(Errc::kOverloaded, system_errno);
    case EFBIG:
      return Error(Errc::kTooLarge, system_errno);
    case ECANCELED:
      return Error(Errc::kAborted, system_errno);
    default:
      return Error(Errc::kIo, system_errno);
  }
}

}  // namespace storage
