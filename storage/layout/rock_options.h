// The options of a rock store, from what a user wrote.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <string>

#include "storage/registry.h"
#include "storage/replacement/policies.h"

namespace storage {

/// Parsed and checked against each other.
struct RockOptions {
  uint64_t capacity_bytes = 0;  ///< Of file or device, all that is not slots included.
  uint32_t slot_size_bytes = 0;
  uint32_t slot_count = 0;
  uint64_t object_size_bytes_max = 0;  ///< Of a body.
  uint32_t free_slots = 0;  ///< So many are kept free, so that writers need not wait for eviction.
  bool direct = false;      ///< Past the page cache.
  uint64_t swap_rate_max = 0;                 ///< Reads and writes a second; 0: no limit.
  std::chrono::milliseconds swap_timeout{0};  ///< 0: nothing is declined for waiting too long.
  std::string policy{kDefaultPolicy};         ///< As make_policy() takes it.
};

/// Names, defaults and meanings.
std::span<const SchemeOption> rock_option_table();

/// Reads them from `spec`; on failure `error` is one line that names the option.
RockOptions parse_rock_options(const SchemeSpec& spec, std::string& error);

}  // namespace storage
