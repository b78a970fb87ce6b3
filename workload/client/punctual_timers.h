// Timers that fire when they are due.
#pragma once

namespace workload {

/// Asks the system to fire the timers of this thread as soon as they are due: Linux may be 50 us
/// late unless it is told not to be. Where nothing can be asked, starts may be that much later.
void make_timers_punctual();

}  // namespace workload
