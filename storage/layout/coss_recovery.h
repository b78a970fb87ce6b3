// How a coss store finds its objects again when it starts.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <cstdint>
#include <memory>
#include <vector>

#include "storage/base/task.h"
#include "storage/io/engine.h"
#include "storage/layout/coss_clean_index.h"
#include "storage/layout/coss_index.h"

namespace storage {

/// What recovery found beside the objects.
struct CossRecovery {
  bool clean = true;
  uint64_t damaged_stripes = 0;
  std::vector<CossLiveStripe> live;  ///< Oldest first.
  uint32_t newest_stripe = 0;        ///< Where the log goes on behind.
  uint64_t next_generation = 1;
  uint64_t floor = 1;  ///< On disk; what lies below is dead.
  /// Objects that only stripes beyond the present size of the store say are gone or newer.
  std::vector<KeyHash> resurrected;
};

/// Fills `index`, which is empty: from the index that a clean stop left, or else from the
/// directories at the end of all stripes, of which no more is read. `previous_stripe_count` is how
/// many the store had; 0 where it is new.
Task<CossRecovery> recover_coss(std::shared_ptr<File> file, CossGeometry geometry,
                                uint32_t previous_stripe_count,
                                boost::asio::any_io_executor executor, CossIndex& index);

}  // namespace storage
