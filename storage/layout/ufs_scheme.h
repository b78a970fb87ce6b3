// The scheme ufs: one file an object in two levels of folders, as Squid's ufs, on a blocking
// engine. The layout itself takes any IoEngine, so that a scheme with a thread pool or a helper
// process is the same layout on another engine. Formats: docs/formats-ufs.md.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string_view>

#include "storage/io/engine.h"
#include "storage/registry.h"

namespace storage {

/// Options of the layout, the same for every engine: `l1`, `l2`, `max-object`, `high-water`,
/// `low-water`.
std::span<const SchemeOption> ufs_options();

/// Makes a store in the folder `spec.path`, which must not exist yet, be empty, or hold a store
/// made with the same `l1` and `l2`. The folder is created, marked and locked here, so that a
/// wrong path or a store in use is told as one line; nothing else happens before start(). The lock
/// goes with stop() or with the scheme. The engine makes blocking calls on the executor.
SchemeOrError make_ufs(const SchemeSpec& spec, const SchemeEnvironment& environment);

/// Makes the engine of a store; `directory_fd` is the store's folder, against which the relative
/// paths of all calls are resolved. It stays open for as long as the engine lives.
using EngineFactory =
    std::function<std::unique_ptr<IoEngine>(int directory_fd, const SchemeEnvironment&)>;

/// make_ufs with another engine; `name` is the scheme's name in the registry.
SchemeOrError make_file_per_object(std::string_view name, const SchemeSpec& spec,
                                   const SchemeEnvironment& environment,
                                   const EngineFactory& make_engine);

}  // namespace storage
