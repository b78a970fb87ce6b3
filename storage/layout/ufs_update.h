// New metadata for an object that stays.
#pragma once

#include <memory>

#include "storage/layout/ufs_store.h"

namespace storage {

/// StorageScheme::update of this layout. Writes the metadata slot that is not in use, one write
/// after which the higher generation counts; a torn one fails its checksum and leaves the old
/// metadata. Where the new metadata does not fit, or another update of the object is under way,
/// the whole object is written anew and takes the place of the old one by a rename.
Task<void> update_ufs_object(std::shared_ptr<UfsStore> store, Key key, Metadata metadata);

}  // namespace storage
