// The scheme that holds nothing: what a cache costs without a store.
#pragma once

#include "storage/registry.h"

namespace storage {

/// Every open() is a miss, every create() is declined as kKeepsNothing.
SchemeOrError make_none(const SchemeSpec& spec, const SchemeEnvironment& environment);

}  // namespace storage
