// What a log holds and what became of its lines, as text and as JSON.
#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <vector>

#include "traces/replay_plan.h"

namespace workload {

/// The accounting of a plan, as `replay.json` holds it: `lines` read, `used`, `skipped` by reason
/// (every reason, so that `lines` = `used` + their sum), the first line of each reason, formats,
/// order, objects, and what an infinite cache would give. docs/traces.md says what each key is.
boost::json::object plan_to_json(const traces::ReplayPlan& plan,
                                 const traces::PlanOptions& options);

/// The lines by fate: used, and skipped with reason, count and the first such line.
std::string account_to_text(const traces::ReplayPlan& plan);

/// Formats, order, sizes and the plain count of the requests.
std::string plan_to_text(const traces::ReplayPlan& plan, const traces::PlanOptions& options);

/// What was assumed where the log does not say, one sentence each: about sizes, stamps, hosts.
std::vector<std::string> assumptions_of(const traces::ReplayPlan& plan,
                                        const traces::PlanOptions& options);

/// Names as on the command line: `max`, `first`, `last`; `as-is`, `unique`, `uncachable`.
std::string_view name_of(traces::SizePolicy policy);
std::string_view name_of(traces::StrippedQuery stripped);

}  // namespace workload
