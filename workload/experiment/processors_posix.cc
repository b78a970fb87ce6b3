#include <cerrno>

#include "workload/experiment/processors.h"

namespace workload {

Expected<void> check_processors(const ProcessorList& processors) {
  if (processors.empty()) return {};
  return usage_problem("cacheoff is built without the means to keep programs to some processors");
}

bool keep_to_processors(const ProcessorList&) {
  errno = ENOTSUP;
  return false;
}

}  // namespace workload
