#include "workload/disk/counters.h"

#include "storage/base/units.h"

namespace workload::disk {

boost::json::object to_json(const DiskCounters& counters) {
  using storage::seconds_of;
  return {
      {"reads", counters.reads},
      {"writes", counters.writes},
      {"flushes", counters.flushes},
      {"read_bytes", counters.read_bytes},
      {"written_bytes", counters.written_bytes},
      {"read_buffer_hits", counters.read_buffer_hits},
      {"write_cache_hits", counters.write_cache_hits},
      {"cached_writes", counters.cached_writes},
      {"destages", counters.destages},
      {"destaged_bytes", counters.destaged_bytes},
      {"seeks", counters.seeks},
      {"seek_s", seconds_of(counters.seek_time)},
      {"rotation_s", seconds_of(counters.rotation_time)},
      {"transfer_s", seconds_of(counters.transfer_time)},
      {"page_reads", counters.page_reads},
      {"page_programs", counters.page_programs},
      {"elapsed_s", seconds_of(counters.elapsed)},
      {"busy_s", seconds_of(counters.busy_time)},
      {"queue_depth_mean", counters.commands_mean()},
      {"queue_depth_max", counters.commands_max},
  };
}

}  // namespace workload::disk
