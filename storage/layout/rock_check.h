// The offline check of a rock store.
#pragma once

#include "storage/check.h"

namespace storage {

/// check_store() for rock.
Task<CheckReport> check_rock(SchemeSpec spec, SchemeEnvironment environment);

}  // namespace storage
