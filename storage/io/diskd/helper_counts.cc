#include "storage/io/diskd/helper_counts.h"

namespace storage {

void HelperCounts::visit(CounterVisitor& visitor) const {
  visitor.gauge("io_in_flight_max", "", static_cast<double>(in_flight_max));
  visitor.counter("io_refusals_total", "reason=\"q1\"", refused_q1);
  visitor.counter("io_refusals_total", "reason=\"wait\"", refused_waits);
  visitor.counter("io_refusals_total", "reason=\"no_helper\"", refused_without_helper);
  visitor.counter("helper_starts_total", "", starts);
  constexpr std::array kReasons = {"reason=\"ended\"", "reason=\"timeout\"", "reason=\"protocol\"",
                                   "reason=\"start\""};
  for (size_t i = 0; i < kReasons.size(); ++i) {
    visitor.counter("helper_failures_total", kReasons[i], failures[i]);
  }
  visitor.counter("helper_failed_operations_total", "", failed_operations);
  visitor.counter("helper_queue_waits_total", "", waits);
  visitor.counter("io_background_close_errors_total", "", close_errors);
}

}  // namespace storage
