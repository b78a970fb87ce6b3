// Opening files that may only lie below a folder.
#pragma once

#include <string>

#include "storage/io/file_calls.h"

namespace storage {

/// Opens a file by a relative path that must not lead out of the folder, be it by `..` or by a
/// link. `flags` as open() takes them; a new file gets the mode 0640. The value is the descriptor;
/// EXDEV or ELOOP for what leads out. Any thread.
CallOutcome open_below(int folder_fd, const std::string& path, int flags);

/// The same for a folder, which is opened only in order to name what is in it.
CallOutcome open_folder_below(int folder_fd, const std::string& path);

}  // namespace storage
