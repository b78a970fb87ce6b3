// Reading the head part of an object and verifying it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "storage/layout/rock_store.h"

namespace storage {

/// Verified bytes of a body.
struct RockSegment {
  uint64_t offset_bytes = 0;  ///< In the body.
  Piece bytes;
  RockSegment(uint64_t offset_bytes_in, Piece bytes_in)
      : offset_bytes(offset_bytes_in), bytes(std::move(bytes_in)) {}
};

/// The verified head part, and what else of the body came with its first read: for an object of
/// one slot that is all of it.
struct RockHead {
  RockVersion version;
  RockObject object;
  RockChain chain;
  Metadata metadata;
  std::vector<RockSegment> segments;  ///< In the order of the body, the first part of it first.
};

/// Reads and verifies the head part of the object of `key` that `version` is. kNotFound where it is
/// another key's, kCorrupt where anything is not as it was written. The caller pins the chain.
Task<RockHead> read_rock_head(std::shared_ptr<RockStore> store, const Key& key,
                              RockVersion version);

/// Reads slots of the body part from number `first` of it on, as many as lie side by side and a
/// buffer holds, at most `count_max`, and verifies them. kCorrupt where anything is not as it was
/// written. What it needs of `head`: version, object and chain.
Task<std::vector<RockSegment>> read_rock_body(std::shared_ptr<RockStore> store,
                                              const RockHead& head, uint32_t first,
                                              uint32_t count_max);

}  // namespace storage
