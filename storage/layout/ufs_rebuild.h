// How a ufs store comes back: from a clean log at once, else by scanning its folders.
#pragma once

#include <cstdint>

#include "storage/base/buffer_pool.h"
#include "storage/base/task.h"
#include "storage/io/engine.h"
#include "storage/layout/ufs_directory.h"
#include "storage/layout/ufs_index.h"
#include "storage/layout/ufs_swap_log.h"
#include "storage/scheme.h"

namespace storage {

/// What the recovery found, and where file numbers go on.
struct UfsRecovery {
  RecoveryReport report;  ///< Without objects, size and duration.
  uint64_t next_sequence = 0;
};

/// Fills the empty `index`. A clean log is believed, once its promise has been taken back; files
/// that are not as it says are found when they are opened. Otherwise every file in the folders is
/// looked at: those that the log knows by their size, the others by their header; damaged files,
/// older versions and unfinished writes are removed; the log is written anew. Fails only where the
/// filesystem does.
Task<UfsRecovery> recover_ufs(IoEngine& engine, UfsDirectory& directory, BufferPool& buffers,
                              UfsIndex& index, UfsSwapLog& log);

}  // namespace storage
