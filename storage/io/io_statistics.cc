#include "storage/io/io_statistics.h"

#include <cerrno>

#include "storage/io/system_error.h"

namespace storage {

namespace {

constexpr std::array<const char*, kIoKindCount> kLabels = {
    "operation=\"open\"", "operation=\"read\"",  "operation=\"write\"",  "operation=\"stat\"",
    "operation=\"sync\"", "operation=\"close\"", "operation=\"rename\"", "operation=\"unlink\""};

bool transfers(IoKind kind) {
  return kind == IoKind::kRead || kind == IoKind::kWrite;
}

}  // namespace

Error IoStatistics::count(IoKind kind, SteadyTime begin, const CallOutcome& outcome) {
  Row& row = rows_[static_cast<size_t>(kind)];
  ++row.operations;
  if (transfers(kind)) row.bytes += outcome.value;
  row.duration += clock_.steady_now() - begin;
  if (outcome.system_errno == 0) return {};
  if (outcome.system_errno == ECANCELED) return Errc::kAborted;  // no failure of the system
  ++row.errors;
  return error_from_errno(outcome.system_errno);
}

void IoStatistics::visit(CounterVisitor& visitor) const {
  for (size_t i = 0; i < kIoKindCount; ++i) {
    const Row& row = rows_[i];
    visitor.counter("io_operations_total", kLabels[i], row.operations);
    visitor.counter("io_errors_total", kLabels[i], row.errors);
    visitor.counter("io_nanoseconds_total", kLabels[i],
                    static_cast<uint64_t>(row.duration.count()));
    if (transfers(static_cast<IoKind>(i))) {
      visitor.counter("io_bytes_total", kLabels[i], row.bytes);
    }
  }
}

}  // namespace storage
