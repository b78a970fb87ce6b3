// The scheme coss: a cyclic log of stripes in one file or on one raw device, as Squid's COSS, on
// any engine. Objects are collected in a stripe in memory, which goes to the disk in one write when
// it is full; the oldest stripe is overwritten. Formats: docs/formats-coss.md.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "storage/layout/ufs_scheme.h"
#include "storage/registry.h"

namespace storage {

/// Options: `stripe-size`, `membufs`, `overwrite-percent`, `max-object`, `block-size` and those of
/// the engine.
std::span<const SchemeOption> coss_options();

/// Makes a store in the file, device or folder `spec.path`. It is created, sized, marked and
/// locked here, so that a wrong path, a full filesystem or a store in use is told as one line;
/// nothing else happens before start(). The lock goes with stop() or with the scheme.
///
/// When what was done is on disk: an object, an update or a removal is durable once the stripe
/// that it was entered into is on disk, which is when the stripe is full or the store is stopped.
/// What a crash takes before that is undone: an object is missing or its older version is there,
/// and a removed object may be there again. What is durable stays done, whatever happens later.
SchemeOrError make_coss(const SchemeSpec& spec, const SchemeEnvironment& environment);

/// The largest body that a store of this specification takes; touches no disk. On failure `error`
/// is one line.
uint64_t coss_largest_object(const SchemeSpec& spec, std::string& error);

/// make_coss with a given engine; `directory_fd` is the folder that the file lies in.
SchemeOrError make_log_of_stripes(const SchemeSpec& spec, const SchemeEnvironment& environment,
                                  const EngineFactory& make_engine_for);

}  // namespace storage
