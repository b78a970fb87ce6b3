// Bounds on the sizes of the objects that a scheme takes, set from outside.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>

#include "storage/registry.h"
#include "storage/scheme.h"

namespace storage {

/// Sizes of bodies, both ends included.
struct SizeBounds {
  uint64_t min_bytes = 0;
  uint64_t max_bytes = std::numeric_limits<uint64_t>::max();
  bool takes_any_size() const {
    return min_bytes == 0 && max_bytes == std::numeric_limits<uint64_t>::max();
  }
};

/// The options that set them, for every scheme that needs a path.
inline constexpr std::array<SchemeOption, 2> kSizeBoundOptions = {{
    {"min-size", "0", "smallest body that goes into this directory, e.g. 64K"},
    {"max-size", "none", "largest body that goes into this directory, e.g. 1M"},
}};

/// Takes the options out of `spec`; on failure `error` is one line that names the option.
SizeBounds take_size_bounds(SchemeSpec& spec, std::string& error);

/// Declines new objects whose size is outside, with kTooSmall or kTooLarge. One of unknown size is
/// declined (kTooSmall) where there is a lower bound; without one it is taken, and given up when it
/// outgrows the upper bound (append() is kTooLarge). Objects that are in the scheme already stay.
/// Gives `inner` back where the bounds exclude nothing.
std::unique_ptr<StorageScheme> make_size_bounded(std::unique_ptr<StorageScheme> inner,
                                                 SizeBounds bounds);

}  // namespace storage
