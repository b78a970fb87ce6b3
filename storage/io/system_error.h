// What an errno means to a store.
#pragma once

#include "storage/base/error.h"

namespace storage {

/// ENOENT is kNotFound; ENOSPC and EDQUOT are kNoSpace; EMFILE, ENFILE, ENOMEM and EAGAIN are
/// kOverloaded; EFBIG is kTooLarge; ECANCELED is kAborted; everything else is kIo. The errno is
/// kept. `system_errno` must not be 0.
Error error_from_errno(int system_errno);

}  // namespace storage
