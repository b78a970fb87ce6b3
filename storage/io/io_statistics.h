// What all engines count alike.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "storage/base/clock.h"
#include "storage/base/counters.h"
#include "storage/base/error.h"
#include "storage/io/file_calls.h"

namespace storage {

/// The kinds of file operations.
enum class IoKind : size_t { kOpen, kRead, kWrite, kStat, kSync, kClose, kRename, kUnlink };
inline constexpr size_t kIoKindCount = 8;

/// Counts of one engine and its files; they may outlive the engine. Executor of the engine only.
class IoStatistics {
 public:
  /// `clock` must outlive this.
  explicit IoStatistics(const Clock& clock) : clock_(clock) {}

  const Clock& clock() const { return clock_; }

  /// Counts the end of an operation that began at `begin`; what the outcome means to a caller. A
  /// cancelled one is no error, and kAborted without an errno.
  Error count(IoKind kind, SteadyTime begin, const CallOutcome& outcome);

  /// For each kind `io_operations_total`, `io_errors_total` and `io_nanoseconds_total` (from the
  /// call to its end, waiting included), and `io_bytes_total` of reads and writes; the label is
  /// `operation="read"` and so on.
  void visit(CounterVisitor& visitor) const;

 private:
  struct Row {
    uint64_t operations = 0;
    uint64_t errors = 0;
    uint64_t bytes = 0;
    Nanoseconds duration{0};
  };

  const Clock& clock_;
  std::array<Row, kIoKindCount> rows_;
};

/// Times one operation, from its construction.
class IoMeasurement {
 public:
  IoMeasurement(IoStatistics& statistics, IoKind kind)
      : statistics_(statistics), kind_(kind), begin_(statistics.clock().steady_now()) {}
  Error end(const CallOutcome& outcome) { return statistics_.count(kind_, begin_, outcome); }

 private:
  IoStatistics& statistics_;
  IoKind kind_;
  SteadyTime begin_;
};

}  // namespace storage
