#include "storage/base/clock.h"

namespace storage {

SteadyTime SystemClock::steady_now() const {
  return std::chrono::time_point_cast<Nanoseconds>(std::chrono::steady_clock::now());
}

WallTime SystemClock::wall_now() const {
  return std::chrono::time_point_cast<Nanoseconds>(std::chrono::system_clock::now());
}

}  // namespace storage
