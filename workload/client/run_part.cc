#include "workload/client/run_part.h"

#include <algorithm>

namespace workload {

void WorkerHealth::merge(const WorkerHealth& other) {
  lag.merge(other.lag);
  lateness.merge(other.lateness);
  cpu_s += other.cpu_s;
  wall_s += other.wall_s;
  connections += other.connections;
  retries += other.retries;
  ports_exhausted += other.ports_exhausted;
  descriptors_exhausted += other.descriptors_exhausted;
}

void RunPart::add(const LoadWorker& worker) {
  recorder.merge(worker.recorder());
  for (size_t index = 0; index < phases.size(); ++index) {
    phases[index].merge(worker.phases()[index]);
  }
  ideal.merge(worker.ideal());
  const WorkerHealth& own = worker.health();
  health.merge(own);
  if (own.wall_s > 0) cpu_percent_max = std::max(cpu_percent_max, 100 * own.cpu_s / own.wall_s);
  last_counted_end = std::max(last_counted_end, worker.last_counted_end());
  if (first_error.empty()) first_error = worker.first_error();
}

void RunPart::merge(const RunPart& other) {
  recorder.merge(other.recorder);
  for (size_t index = 0; index < phases.size(); ++index) {
    phases[index].merge(other.phases[index]);
  }
  ideal.merge(other.ideal);
  health.merge(other.health);
  cpu_percent_max = std::max(cpu_percent_max, other.cpu_percent_max);
  last_counted_end = std::max(last_counted_end, other.last_counted_end);
  if (first_error.empty()) first_error = other.first_error;
}

}  // namespace workload
