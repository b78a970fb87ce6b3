#include "workload/client/ideal_tally.h"

#include "workload/measure/tally.h"

namespace workload {

void IdealTally::add(const IntendedRequest& request) {
  if (!request.basic()) return;
  ++basic;
  bytes += request.object.size_bytes;
  if (!request.offered_hit) return;
  ++hits;
  hit_bytes += request.object.size_bytes;
}

void IdealTally::merge(const IdealTally& other) {
  basic += other.basic;
  hits += other.hits;
  bytes += other.bytes;
  hit_bytes += other.hit_bytes;
}

std::optional<double> IdealTally::hit_ratio_percent() const {
  return percent_of(hits, basic);
}

std::optional<double> IdealTally::byte_hit_ratio_percent() const {
  return percent_of(hit_bytes, bytes);
}

}  // namespace workload
