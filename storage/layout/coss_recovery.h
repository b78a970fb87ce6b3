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
  bool clean = true;              ///< The last stop was clean, or the store is new.
  bool state_damaged = false;     ///< There is no sound state page.
  bool index_damaged = false;     ///< There was to be a clean index, and it could not be used.
  std::vector<uint32_t> damaged;  ///< Stripes whose trailer or directory is damaged or unreadable.
  std::vector<CossLiveStripe> live;  ///< Oldest first.
  uint32_t newest_stripe = 0;        ///< Where the log goes on behind.
  uint64_t next_generation = 1;
  uint64_t floor = 1;  ///< On disk; what lies below is dead.
  /// Objects that only stripes beyond the present size of the store say are gone or newer.
  std::vector<KeyHash> resurrected;
  /// Stripes beyond the previous size of the store that an even earlier, larger one has left: to be
  /// wiped before the store has this size.
  std::vector<uint32_t> stale;
};

/// Fills `index`, which is empty: from the index that a clean stop left, or else from the
/// directories at the end of all stripes, of which no more is read. `previous_stripe_count` is how
/// many the store had; 0 where it is new. Changes nothing on disk.
Task<CossRecovery> recover_coss(std::shared_ptr<File> file, CossGeometry geometry,
                                uint32_t previous_stripe_count,
                                boost::asio::any_io_executor executor, CossIndex& index);

}  // namespace storage
