// What a modelled disk did.
#pragma once

#include <boost/json/object.hpp>

#include "workload/disk/profile.h"

namespace workload::disk {

/// Since the disk was made. Times are the disk's own, before the time scale divides them.
struct DiskCounters {
  uint64_t reads = 0;  ///< Commands that came, as the three that follow.
  uint64_t writes = 0;
  uint64_t flushes = 0;
  uint64_t read_bytes = 0;
  uint64_t written_bytes = 0;
  uint64_t read_buffer_hits = 0;  ///< Reads that needed no movement of the arm.
  uint64_t write_cache_hits = 0;  ///< Reads of what was still in the write cache.
  uint64_t cached_writes = 0;     ///< Writes that the cache took.
  uint64_t destages = 0;          ///< Writes of the cache to the medium.
  uint64_t destaged_bytes = 0;
  uint64_t seeks = 0;  ///< Movements to another cylinder.
  DiskTime seek_time{0};
  DiskTime rotation_time{0};
  DiskTime transfer_time{0};  ///< Over the medium, waiting for what is read on included.
  uint64_t page_reads = 0;
  uint64_t page_programs = 0;
  DiskTime elapsed{0};
  DiskTime busy_time{0};      ///< In which a command or the cache kept the disk busy.
  DiskTime commands_time{0};  ///< Commands under way, integrated over time.
  uint64_t commands_max = 0;  ///< Most that were ever under way.

  /// Commands under way, on average.
  double commands_mean() const {
    return elapsed.count() == 0
               ? 0
               : static_cast<double>(commands_time.count()) / static_cast<double>(elapsed.count());
  }
};

/// Keys as above; times in seconds, under names that end in `_s`.
boost::json::object to_json(const DiskCounters& counters);

}  // namespace workload::disk
