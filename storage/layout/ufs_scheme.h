// The schemes ufs, aufs and diskd: one file an object in two levels of folders, as Squid's, on a
// blocking engine, on a thread pool, and on a helper process. Formats: docs/formats-ufs.md.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "storage/io/engine.h"
#include "storage/io/engine_factory.h"
#include "storage/registry.h"

namespace storage {

/// Options of the layout, the same for every engine: `l1`, `l2`, `max-object`, `high-water`,
/// `low-water`, `policy`.
std::span<const SchemeOption> ufs_options();

/// The layout's options, and `engine` with those of the engines.
std::span<const SchemeOption> ufs_scheme_options();
std::span<const SchemeOption> aufs_scheme_options();
/// The layout's options, and those of the engine helper.
std::span<const SchemeOption> diskd_scheme_options();

/// Makes a store in the folder `spec.path`, which must not exist yet, be empty, or hold a store
/// made with the same `l1` and `l2`. The folder is created, marked and locked here, so that a
/// wrong path or a store in use is told as one line; nothing else happens before start(). The lock
/// goes with stop() or with the scheme. The engine, if not chosen by `engine=`, makes blocking
/// calls on the executor.
SchemeOrError make_ufs(const SchemeSpec& spec, const SchemeEnvironment& environment);

/// The largest body that a store of this specification takes, for any engine; touches no disk. On
/// failure `error` is one line.
uint64_t ufs_largest_object(const SchemeSpec& spec, std::string& error);

/// The same on a pool of threads: no call blocks the executor, and while too many wait new objects
/// are declined with kOverloaded.
SchemeOrError make_aufs(const SchemeSpec& spec, const SchemeEnvironment& environment);

/// The same with a helper process that makes the calls: see storage/io/diskd/helper_queue.h.
SchemeOrError make_diskd(const SchemeSpec& spec, const SchemeEnvironment& environment);

/// Makes the engine of a store; `directory_fd` is the store's folder, against which the relative
/// paths of all calls are resolved. It stays open for as long as the engine lives. Where it
/// fails, so does making the store, with its error.
using EngineFactory = std::function<EngineOrError(int directory_fd, const SchemeEnvironment&)>;

/// make_ufs with another engine; `name` is the scheme's name in the registry.
SchemeOrError make_file_per_object(std::string_view name, const SchemeSpec& spec,
                                   const SchemeEnvironment& environment,
                                   const EngineFactory& make_engine);

}  // namespace storage
