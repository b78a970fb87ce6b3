// What a process has measured as bytes: nothing is rounded on the way.
#pragma once

#include "workload/client/run_part.h"
#include "workload/ensemble/wire.h"

namespace workload {

void put_histogram(WireWriter& writer, const Histogram& histogram);
/// Throws WireError where it cannot be one; so does the next.
Histogram get_histogram(WireReader& reader);

/// Instants are of the writer's steady clock.
void put_part(WireWriter& writer, const RunPart& part);
/// Reads a part into `part`, which is empty but of the same interval and phases.
void get_part(WireReader& reader, RunPart& part);

}  // namespace workload
