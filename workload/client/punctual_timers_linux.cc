#include <sys/prctl.h>

#include "workload/client/punctual_timers.h"

namespace workload {

void make_timers_punctual() {
  prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
}

}  // namespace workload
