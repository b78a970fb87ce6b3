// The memory scheme: objects on the heap, lent as they lie there.
#pragma once

#include <memory>
#include <span>

#include "storage/layout/memory_store.h"
#include "storage/registry.h"
#include "storage/scheme.h"

namespace storage {

/// A Reader of `object`, whose pieces are its own pages. After `store` is closed read() is
/// kStopped. `store` must outlive it.
std::unique_ptr<Reader> make_memory_reader(const MemoryStore& store,
                                           std::shared_ptr<const MemoryObject> object);

/// The options of the memory scheme.
std::span<const SchemeOption> memory_options();

/// Makes a memory scheme of `spec.capacity_bytes`, all overheads and unfinished writes included.
/// No call of it ever waits: reserve() makes room by eviction or is kNoSpace.
SchemeOrError make_memory(const SchemeSpec& spec, const SchemeEnvironment& environment);

}  // namespace storage
