// The offline check of a coss store.
#pragma once

#include "storage/check.h"

namespace storage {

/// check_store() for this layout, whatever engine the store is used with. Reads all stripes that
/// count, one after the other, and verifies their directories and every object in them.
Task<CheckReport> check_coss(SchemeSpec spec, SchemeEnvironment environment);

}  // namespace storage
