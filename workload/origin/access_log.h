// The origin's access log, in the Common Log Format, which `cacheoff trace` and `replay` read.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "storage/base/error.h"
#include "workload/filesystem/owned_fd.h"

namespace workload {

/// One request and what was sent for it. Texts may hold anything: they are escaped.
struct AccessLogEntry {
  std::string_view client_address;
  int64_t unix_s = 0;       ///< When the response was over.
  std::string_view method;  ///< Empty where there was no request line.
  std::string_view target;
  bool http_1_1 = true;
  unsigned status = 0;
  uint64_t body_bytes = 0;  ///< As many as were sent.
};

/// Appends `host - - [time] "request" status bytes` and a newline; the time is UTC. Quotes,
/// backslashes, control characters and bytes beyond ASCII become `\xHH`: a line is one request.
void append_access_log_line(const AccessLogEntry& entry, std::string& out);

/// Opens a log for appending, creating it (mode 0640); kIo with the errno.
storage::Result<std::shared_ptr<const OwnedFd>> open_access_log(const std::string& path);

/// Gathers lines and appends them to a file in large pieces. One thread; several may write to one
/// file, each by an object of its own. What can't be written is dropped, which is said once.
class OriginAccessLog {
 public:
  explicit OriginAccessLog(std::shared_ptr<const OwnedFd> file) : file_(std::move(file)) {}

  void add(const AccessLogEntry& entry);
  /// Writes what has gathered; blocks as long as the filesystem does.
  void flush();

 private:
  std::shared_ptr<const OwnedFd> file_;
  std::string lines_;
  bool complained_ = false;
};

}  // namespace workload
