// Shared memory and message queues of other people's programs, which the kernel keeps when a
// program is killed: named so, or known by such numbers, that they can be removed.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "workload/filesystem/run_journal.h"

namespace workload {

/// A name that nobody else on this machine has, of letters and digits: the calling process's
/// number and start time, and a number of its own. What begins with it in /dev/shm is this
/// process's. Thread-safe.
std::string shared_memory_name();

/// Who made such a name; nothing for any other.
std::optional<ProcessIdentity> shared_memory_owner(std::string_view name);

/// Removes what begins with such a name in /dev/shm; returns how much that was. Its users must be
/// gone.
size_t remove_shared_memory(std::string_view name) noexcept;

/// Removes the System V message queues and segments that a proxy of this number, ours or a Squid,
/// made for its diskd helpers, which it finds by keys that hold the number; returns how many. It
/// must be gone.
size_t remove_diskd_queues(pid_t proxy) noexcept;

}  // namespace workload
