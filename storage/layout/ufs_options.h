// The options of a ufs store, from what a user wrote.
#pragma once

#include <span>
#include <string>

#include "storage/layout/ufs_store.h"
#include "storage/registry.h"

namespace storage {

/// Names, defaults and meanings.
std::span<const SchemeOption> ufs_option_table();

/// Reads them from `spec`; on failure `error` is one line that names the option.
UfsOptions parse_ufs_options(const SchemeSpec& spec, std::string& error);

}  // namespace storage
