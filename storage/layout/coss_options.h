// The options of a coss store, from what a user wrote.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "storage/registry.h"

namespace storage {

/// Parsed and checked against each other.
struct CossOptions {
  uint64_t capacity_bytes = 0;  ///< Of file or device, all that is not stripes included.
  uint32_t stripe_size_bytes = 0;
  uint32_t block_size_bytes = 0;
  uint32_t stripe_count = 0;
  unsigned membufs = 0;
  unsigned overwrite_percent = 0;
  uint64_t object_size_bytes_max = 0;  ///< Of a body.
};

/// Names, defaults and meanings.
std::span<const SchemeOption> coss_option_table();

/// Reads them from `spec`; on failure `error` is one line that names the option.
CossOptions parse_coss_options(const SchemeSpec& spec, std::string& error);

/// Largest record that a stripe of this size can hold.
uint64_t coss_record_size_max(uint32_t stripe_size_bytes);

}  // namespace storage
