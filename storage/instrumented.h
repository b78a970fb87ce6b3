// The one place where operations of every scheme are timed and counted, so that all are measured
// alike.
#pragma once

#include <memory>

#include "storage/base/clock.h"
#include "storage/scheme.h"

namespace storage {

/// Wraps `inner`; behaves as it does and adds these counters to its own:
///
/// | name | label | what |
/// |---|---|---|
/// | `opens_total` | `result="hit"`, `"miss"`, `"error"` | open() |
/// | `creates_total` | `result="accepted"`, `"declined"` | create() |
/// | `declines_total` | `reason=` the error's name | why create() declined |
/// | `commits_total` | `result="published"`, `"failed"` | commit() |
/// | `aborts_total` | | Writers destroyed before a commit() succeeded |
/// | `updates_total` | `result="done"`, `"miss"`, `"error"` | update() |
/// | `removes_total` | `result="done"`, `"error"` | remove() |
/// | `failures_total` | `operation=`, `reason=` | errors but misses and declines; none: left out |
/// | `bytes_read_total`, `bytes_written_total` | | body bytes lent by read(), taken by append() |
/// | `operations_total`, `operation_time_ns_total` | `operation=` | calls that ended, their time |
/// | `operations_in_flight`, `readers_open`, `writers_open` | | levels |
///
/// Times run from the call to its end on `clock`, waiting included. `clock` must outlive it. Same
/// executor as `inner`.
std::unique_ptr<StorageScheme> make_instrumented(std::unique_ptr<StorageScheme> inner,
                                                 const Clock& clock);

}  // namespace storage
