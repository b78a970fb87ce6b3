// Writes the access log to a file.
#pragma once

#include <cstdint>
#include <string>

#include "proxy/access_log.h"
#include "storage/base/error.h"

namespace proxy {

/// Collects lines and writes them in large pieces. Single-threaded: all calls from one executor. It
/// never throws and never stops serving: what cannot be written is dropped and counted. write(2)
/// blocks the caller for as long as the filesystem takes, once per `buffer_size_bytes` or flush().
class AccessLogWriter {
 public:
  /// `buffer_size_bytes`: lines are written when this much has gathered.
  explicit AccessLogWriter(std::string path, size_t buffer_size_bytes = 64 * 1024);
  ~AccessLogWriter();
  AccessLogWriter(const AccessLogWriter&) = delete;
  AccessLogWriter& operator=(const AccessLogWriter&) = delete;

  /// Opens the file for appending, creating it (mode 0640). kIo with errno.
  storage::Result<void> open();

  /// Adds one line.
  void log(const AccessRecord& record);

  /// Writes what has gathered; call it about once a second and before stopping.
  void flush();

  /// Flushes, closes and opens the path again: after a rotation (SIGHUP). On an error the old file
  /// stays in use.
  storage::Result<void> reopen();

  uint64_t lines_written() const { return lines_written_; }
  /// Lines lost to failed writes.
  uint64_t lines_dropped() const { return lines_dropped_; }
  uint64_t write_errors() const { return write_errors_; }

 private:
  std::string path_;
  size_t buffer_size_bytes_;
  int descriptor_ = -1;
  std::string buffer_;
  uint64_t buffered_lines_ = 0;
  uint64_t lines_written_ = 0;
  uint64_t lines_dropped_ = 0;
  uint64_t write_errors_ = 0;
};

}  // namespace proxy
