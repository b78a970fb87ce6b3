#include "storage/types.h"

#include <xxhash.h>

namespace storage {

Key::Key(std::string text) : text_(std::move(text)) {
  const XXH128_hash_t hash = XXH3_128bits(text_.data(), text_.size());
  hash_ = KeyHash{hash.high64, hash.low64};
}

}  // namespace storage
