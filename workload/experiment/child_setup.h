// What a child does for itself before it becomes a program, and how its end is noticed: where
// systems differ.
#pragma once

#include <sys/types.h>

#include <chrono>

namespace workload {

/// Gives the calling process mounts of its own. False, with errno, where that can't be.
/// Async-signal-safe.
bool leave_mounts_behind();

/// Has the system kill the calling process when its parent ends; nothing where it can't.
/// Async-signal-safe.
void die_with_parent();

/// A descriptor that is readable once the process, a child that is not reaped, has ended. -1 with
/// errno 0 where there are no such descriptors, and with an errno otherwise.
int open_process(pid_t pid);

/// How long one may wait for anything without looking at the children: where their ends make
/// nothing readable they must be looked for.
std::chrono::milliseconds unwatched_wait_max();

}  // namespace workload
