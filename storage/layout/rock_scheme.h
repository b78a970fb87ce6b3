// The scheme rock: slots of one size in one file or on one raw device, an object is a chain of
// them, as in Squid's rock store (its wiki page Features/RockStore and the documentation of
// cache_dir rock), on any engine. Formats: docs/formats-rock.md.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "storage/layout/ufs_scheme.h"
#include "storage/registry.h"

namespace storage {

/// Options: those of rock_option_table() and those of the engine.
std::span<const SchemeOption> rock_options();

/// Makes a store in the file, device or folder `spec.path`. It is created, sized, marked and
/// locked here, so that a wrong path, a full filesystem or a store in use is told as one line;
/// nothing else happens before start(). The lock goes with stop() or with the scheme.
///
/// An object, an update or a removal that has been reported as done stays done when the process
/// ends in any way. When the machine does, what the kernel had not yet written is lost, whole
/// objects or the latest version of one, and nothing torn or mixed is ever served.
SchemeOrError make_rock(const SchemeSpec& spec, const SchemeEnvironment& environment);

/// The largest body that a store of this specification takes; touches no disk. On failure `error`
/// is one line.
uint64_t rock_largest_object(const SchemeSpec& spec, std::string& error);

/// make_rock with a given engine; `directory_fd` is the folder that the file lies in.
SchemeOrError make_chained_slots(const SchemeSpec& spec, const SchemeEnvironment& environment,
                                 const EngineFactory& make_engine_for);

}  // namespace storage
