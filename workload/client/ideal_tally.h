// What an infinite cache would have made of a run.
#pragma once

#include <cstdint>
#include <optional>

#include "workload/model/request_stream.h"

namespace workload {

/// What an infinite cache would have made of the requests that were released.
struct IdealTally {
  uint64_t basic = 0;
  uint64_t hits = 0;
  uint64_t bytes = 0;  ///< Body bytes of basic requests.
  uint64_t hit_bytes = 0;

  void add(const IntendedRequest& request);
  void merge(const IdealTally& other);
  std::optional<double> hit_ratio_percent() const;
  std::optional<double> byte_hit_ratio_percent() const;
};

}  // namespace workload
