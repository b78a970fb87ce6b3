// One line a transaction, so that a run can be compared with a proxy's access log to the request.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <string_view>

namespace workload {

/// A line of the request log.
struct RequestLogEntry {
  uint64_t transaction = 0;  ///< As in the request's transaction header.
  double start_s = 0;        ///< Since the run's start.
  std::string_view method;
  /// `basic`, `ims200`, `ims304`, `reload`, `etag200`, `etag304` or `range`.
  std::string_view kind;
  std::string_view outcome;
  int status = 0;
  uint64_t received_bytes = 0;
  uint64_t response_time_ns = 0;
  std::string_view error;  ///< `none` where there was none; `aborted`, `cut`: as intended.
  bool measured = false;   ///< 1 where it counts in the run's figures: ended in the measured part.
  std::string_view url;    ///< In absolute form.
  uint64_t sequence = 0;   ///< Place in the order of intent, from 0.
  double due_s = 0;        ///< When it should have started, since the run's start.
  std::string_view phase;
};

/// A text file: a header line that begins with `#`, then fields separated by blanks in the order
/// of RequestLogEntry. Safe to call from any thread.
class RequestLog {
 public:
  explicit RequestLog(const std::filesystem::path& file);
  void write(const RequestLogEntry& entry);
  /// Flushes; false where anything could not be written.
  bool close();

 private:
  std::mutex mutex_;
  std::ofstream out_;
};

}  // namespace workload
