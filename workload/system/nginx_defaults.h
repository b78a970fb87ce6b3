// What nginx takes for a directive that its configuration does not have, as its documentation says.
#pragma once

#include <span>
#include <string_view>

namespace workload {

/// Where a directive stands.
enum class NginxContext {
  kMain,
  kEvents,
  kHttp,      ///< `http`, and what a `server` or `location` in it says otherwise.
  kUpstream,  ///< Each `upstream` by itself.
};

/// How values that mean the same are known to be.
enum class NginxKind {
  kText,
  kSize,  ///< Words such as `4`, `8k`.
  kTime,  ///< Words such as `75s`, `1m30s`; a number alone is seconds.
};

/// A directive with a default that is the same on every machine.
struct NginxDefault {
  NginxContext context;
  std::string_view name;
  NginxKind kind;
  std::string_view value;
};

/// The directives of nginx's documentation (as of 1.22) of which that can be said; not `use`, whose
/// default is the kernel's best.
std::span<const NginxDefault> nginx_defaults();

}  // namespace workload
