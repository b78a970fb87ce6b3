// Transactions whose verdict hangs on what other ranks know.
#pragma once

#include "workload/client/transaction.h"

namespace workload {

/// A transaction that was counted although something is in doubt.
struct DoubtfulTransaction {
  TransactionRecord record;  ///< As it was counted.
  std::optional<SharingDoubt> shared;
  std::optional<CutDoubt> cut;
  size_t phase = 0;
  bool counted = false;            ///< In the figures of its phase, and
  storage::Nanoseconds elapsed{};  ///< in the row of that time since the recorded part began.
};

/// Takes them, finds out, and corrects what was counted. Safe to call from any thread.
class DoubtSink {
 public:
  virtual ~DoubtSink() = default;
  virtual void add(DoubtfulTransaction transaction) = 0;
};

}  // namespace workload
