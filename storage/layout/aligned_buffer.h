// Pieces of the heap for transfers past the page cache.
#pragma once

#include <cstddef>

#include "storage/types.h"

namespace storage {

/// A buffer of zeros whose address is a multiple of 4096.
Space make_aligned_buffer(size_t size_bytes);

}  // namespace storage
