// Replacing the metadata of an object of a rock store.
#pragma once

#include <memory>

#include "storage/layout/rock_store.h"

namespace storage {

/// StorageScheme::update of this layout: writes a new head part, of a higher generation, for the
/// same body part.
Task<void> update_rock_object(std::shared_ptr<RockStore> store, Key key, Metadata metadata);

}  // namespace storage
