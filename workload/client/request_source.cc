#include "workload/client/request_source.h"

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

RequestSource::RequestSource(const Workload& workload, uint64_t seed, uint16_t world)
    : stream_(workload, seed, world) {}

void RequestSource::read_ahead() {
  if (!ahead_.empty()) return;
  ahead_.push_back(stream_.next());
  const uint64_t embedded = ahead_.front().embedded_following;
  for (uint64_t index = 0; index < embedded; ++index) ahead_.push_back(stream_.next());
}

Grant RequestSource::next_page(std::vector<IntendedRequest>& page, RunControl& control,
                               storage::SteadyTime now) {
  read_ahead();
  page.clear();
  const Grant grant = control.grant(ahead_.size(), now);
  if (grant.requests == 0) return grant;
  page.swap(ahead_);
  page.resize(grant.requests);
  return grant;
}

}  // namespace workload
