// How fast a modelled disk must be: by closed formula, and by running the model in its own time.
#pragma once

#include <optional>
#include <string>

#include "workload/disk/model.h"

namespace workload::disk {

/// A load as fio describes one: `depth` commands of `block_bytes` always under way.
struct LoadPattern {
  bool write = false;
  bool sequential = false;
  uint64_t block_bytes = 4096;
  uint64_t depth = 1;

  /// As fio names it: `randread`, `randwrite`, `read`, `write`.
  std::string fio_name() const;
};

/// Commands a second, by the formulas of docs/modelled-disk.md; nothing where there is none for the
/// pattern. `host_time` is what the host takes from a command's end to the next one's arrival, in
/// the disk's time. Random access to turning disks at depths above 1 is an approximation, good to
/// some percent from depth 8 on; everything else is exact for long runs.
std::optional<double> formula_rate(const DiskProfile& profile, uint64_t size_bytes,
                                   const LoadPattern& pattern, DiskTime host_time);

/// Commands a second of a run of the model itself: `commands` of them after as many to warm up (and
/// to fill the write cache), at places drawn from `seed`.
double model_rate(const DiskProfile& profile, uint64_t size_bytes, const LoadPattern& pattern,
                  DiskTime host_time, uint64_t commands, uint64_t seed);

}  // namespace workload::disk
