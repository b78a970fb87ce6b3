// What is asked for: the stream of intended requests, page by page.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "workload/client/run_control.h"
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

/// Hands out the pages of a stream in order. One thread at a time.
class RequestSource {
 public:
  RequestSource(const Workload& workload, uint64_t seed, uint16_t world);

  /// The next page with what is embedded in it, cut to what `control` grants.
  Grant next_page(std::vector<IntendedRequest>& page, RunControl& control, storage::SteadyTime now);

 private:
  void read_ahead();

  RequestStream stream_;
  std::vector<IntendedRequest> ahead_;  ///< The next page, whole.
};

}  // namespace workload
