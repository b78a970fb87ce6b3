// Objects of a coss store that are written again: with other metadata, or to stay longer.
#pragma once

#include <memory>

#include "storage/layout/coss_reader.h"
#include "storage/layout/coss_store.h"

namespace storage {

/// StorageScheme::update of this layout: the object with its new metadata goes to the stripe that
/// is being filled.
Task<void> update_coss_object(std::shared_ptr<CossStore> store, Key key, Metadata metadata);

/// Moves the object forward if it lies in the part of the log that `overwrite-percent` names and
/// there is room at once; a long one in the background.
void relocate_coss_object(std::shared_ptr<CossStore> store, Key key, const CossReader& reader);

}  // namespace storage
