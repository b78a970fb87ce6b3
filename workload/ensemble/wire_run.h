// Pages, the state of a run and live counts as bytes, for messages between processes.
#pragma once

#include <vector>

#include "workload/client/page_source.h"
#include "workload/client/run_control.h"
#include "workload/ensemble/wire.h"

namespace workload {

/// Instants as nanoseconds of the writer's steady clock.
void put_time(WireWriter& writer, storage::SteadyTime time);
storage::SteadyTime get_time(WireReader& reader);
void put_time(WireWriter& writer, const std::optional<storage::SteadyTime>& time);
std::optional<storage::SteadyTime> get_optional_time(WireReader& reader);

void put_page(WireWriter& writer, const ScheduledPage& page);
/// Of a run of `phases` phases. Throws WireError where the page cannot be one; so do the next.
ScheduledPage get_page(WireReader& reader, size_t phases);

void put_state(WireWriter& writer, const RunState& state);
RunState get_state(WireReader& reader, size_t phases);

void put_counts(WireWriter& writer, const LiveCounts& counts);
LiveCounts get_counts(WireReader& reader);

void put_fills(WireWriter& writer, const std::vector<PhaseFill>& fills);
std::vector<PhaseFill> get_fills(WireReader& reader, size_t phases);

void put_grants(WireWriter& writer, const std::vector<Grant>& grants);
std::vector<Grant> get_grants(WireReader& reader, size_t phases);

/// Each count of `all` less that of `before`, which was the same earlier.
LiveCounts counts_since(const LiveCounts& all, const LiveCounts& before);

}  // namespace workload
