// Opening what lies below a folder, and nothing else.
#pragma once

#include <string>

namespace workload {

/// Opens `path` (relative, without `..`; empty: the folder itself) for reading, without waiting for
/// the other end of a pipe. Links are followed as long as they stay below the folder. Returns the
/// descriptor, or minus the errno: EXDEV for what leads out, ELOOP for a link that is not followed.
/// Any thread.
int open_beneath(int folder_fd, const std::string& path);

/// The same name by name, for kernels that have no call for it: no link at all is followed, which
/// is ELOOP or ENOTDIR.
int open_beneath_by_names(int folder_fd, const std::string& path);

}  // namespace workload
