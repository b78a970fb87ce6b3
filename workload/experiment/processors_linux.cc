#include <sched.h>

#include <cerrno>
#include <cstring>

#include "workload/experiment/processors.h"

namespace workload {

Expected<void> check_processors(const ProcessorList& processors) {
  cpu_set_t usable;
  CPU_ZERO(&usable);
  if (sched_getaffinity(0, sizeof usable, &usable) != 0) {
    return run_problem(std::string("can't tell which processors there are: ") +
                       std::strerror(errno));
  }
  for (const unsigned number : processors) {
    if (!CPU_ISSET(number, &usable)) {
      return usage_problem("processor " + std::to_string(number) +
                           " is none that this program may use");
    }
  }
  return {};
}

bool keep_to_processors(const ProcessorList& processors) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const unsigned number : processors) CPU_SET(number, &set);
  return sched_setaffinity(0, sizeof set, &set) == 0;
}

}  // namespace workload
