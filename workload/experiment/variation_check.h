// Whether what an experiment varies can be varied.
#pragma once

#include <cstdint>
#include <vector>

#include "workload/experiment/expected.h"
#include "workload/experiment/options.h"
#include "workload/experiment/proxy_options.h"

namespace workload {

/// The most variants that a cell may have beside its base.
inline constexpr uint64_t kVariantsMax = 500;

/// A Problem, which names table and key, where `[vary.SYSTEM]` or a `[[variant]]` names a system
/// that there is not or that no scheme of the experiment belongs to, an option that the bench sets
/// itself or that our own proxy (`proxy_options`) does not have, where two variants of a cell would
/// have one name, or where there are too many of them.
Expected<void> check_variation(const ExperimentOptions& options,
                               const std::vector<ProxyOptionRow>& proxy_options);

}  // namespace workload
