#include "proxy/test_delay.h"

#include <time.h>

#include "storage/base/units.h"

namespace proxy {

namespace {

std::chrono::nanoseconds thread_cpu_time() {
  timespec used{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return std::chrono::seconds(used.tv_sec) + std::chrono::nanoseconds(used.tv_nsec);
}

}  // namespace

void spend_cpu_time(std::chrono::nanoseconds time) {
  if (time.count() <= 0) return;
  const auto end = thread_cpu_time() + time;
  while (thread_cpu_time() < end) {
  }
}

std::string test_delay_warning(std::chrono::nanoseconds time) {
  return "--test-delay " + storage::format_duration(time) +
         ": each request costs that much more CPU time on purpose";
}

}  // namespace proxy
