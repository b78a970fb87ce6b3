// What the helper process does for its safety before it serves: where systems differ.
#pragma once

namespace storage {

/// Closes all descriptors from `first_fd` on.
void close_from(int first_fd);

/// Gives up what it will never need, and has a stopped helper go on when its parent ends, where the
/// system can do that.
void take_precautions();

}  // namespace storage
