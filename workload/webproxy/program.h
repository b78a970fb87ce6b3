// The program cacheoff-webproxy.
#pragma once

namespace webproxy {

/// Does what the arguments of main() say; the result is the exit status: 0, 1 for a run that
/// failed, 2 for a wrong command line. Throws nothing.
int run_program(int count, const char* const* texts);

}  // namespace webproxy
