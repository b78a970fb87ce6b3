// The table of replacement policies.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "storage/replacement/policy.h"

namespace storage {

/// One policy. A new one is one row of the table in policies.cc.
struct PolicyRow {
  std::string_view name;
  std::string_view summary;
  std::unique_ptr<ReplacementPolicy> (*make)(uint64_t capacity_bytes);
};

/// All rows, in the order in which they are shown.
std::span<const PolicyRow> policies();

/// What a store uses where nothing else is asked for.
inline constexpr std::string_view kDefaultPolicy = "lru";

/// For the option `policy` of a scheme: all names.
inline constexpr std::string_view kPolicyMeaning =
    "what goes when room is needed: lru, heap-gdsf, heap-lfuda, sieve, s3-fifo, w-tinylfu";

/// Makes the policy of that name for a store of `capacity_bytes`, of which some policies take
/// shares (the store decides when room is needed all the same). Null where there is none of that
/// name: `error` is then one line that lists those that there are.
std::unique_ptr<ReplacementPolicy> make_policy(std::string_view name, uint64_t capacity_bytes,
                                               std::string& error);

}  // namespace storage
