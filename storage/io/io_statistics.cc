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

// What an errno means to a cache depends on what was asked for.
Error error_of(IoKind kind, int system_errno) {
  // Something else stands in the file's place: a link, a folder, a pipe, a socket.
  const bool not_a_file = system_errno == ELOOP || system_errno == EISDIR || system_errno == ENXIO;
  if (kind == IoKind::kOpen && not_a_file) return Error(Errc::kCorrupt, system_errno);
  // A folder in the file's place is somebody else's: the file itself has gone.
  if (kind == IoKind::kUnlink && system_errno == EISDIR) {
    return Error(Errc::kNotFound, system_errno);
  }
  return error_from_errno(system_errno);
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
  return error_of(kind, outcome.system_errno);
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
