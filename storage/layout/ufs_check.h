// The offline check of a ufs store.
#pragma once

#include "storage/check.h"

namespace storage {

/// check_store() for this layout, whatever engine the store is used with.
Task<CheckReport> check_ufs(SchemeSpec spec, SchemeEnvironment environment);

}  // namespace storage
