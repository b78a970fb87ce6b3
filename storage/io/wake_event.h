// How an event loop is told, from outside of it, that operations have ended.
#pragma once

#include "storage/io/diskd/owned_fd.h"

namespace storage {

/// Makes a descriptor that becomes readable when 8 bytes are written to it, which count as a number
/// of ends, at least 1. Where `write_end` stays empty they are written to `read_end` itself. Both
/// never block. An errno, or 0.
int open_wake_event(OwnedFd& read_end, OwnedFd& write_end);

}  // namespace storage
