// A slowdown of a known size, for tests of what measures the proxy.
#pragma once

#include <chrono>
#include <string>

namespace proxy {

/// Keeps the calling thread computing until it has used that much more CPU time
/// (CLOCK_THREAD_CPUTIME_ID), so that being preempted meanwhile adds nothing. Returns at once for
/// 0.
void spend_cpu_time(std::chrono::nanoseconds time);

/// What /status, the log and the results of a bench say where --test-delay is on.
std::string test_delay_warning(std::chrono::nanoseconds time);

}  // namespace proxy
