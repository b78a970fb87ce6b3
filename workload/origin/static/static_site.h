// A folder whose files are served: what is allowed, and how a path becomes an open file.
#pragma once

#include <memory>
#include <string>

#include "storage/base/error.h"
#include "workload/filesystem/owned_fd.h"
#include "workload/origin/static/file_answer.h"

namespace workload {

/// Whether files are sent compressed to clients that take it.
enum class GzipMode {
  kOff,     ///< Never.
  kStatic,  ///< Where FILE.gz stands beside FILE and is no older.
  kOn,      ///< There, and otherwise compressed for the request.
};

struct StaticSiteOptions {
  std::string root;
  bool listing = false;  ///< Whether a directory without index.html shows what is in it.
  GzipMode gzip = GzipMode::kOff;
  int gzip_level = 4;  ///< 1 to 9.
  /// Larger files are not compressed for a request.
  uint64_t gzip_size_bytes_max = uint64_t{1} << 20;
  /// Responses made in memory (compressed files, listings) of one thread at a time; one more is
  /// sent uncompressed, or is 503.
  unsigned made_at_once_max = 16;
};

/// A regular file or a directory that is open.
struct OpenedFile {
  OwnedFd fd;
  FileFacts facts;
  bool is_directory = false;
};

/// An open root. Any thread; what it was made of does not change.
class StaticSite {
 public:
  /// Opens the root. kIo with the errno where that fails or it is no directory.
  static storage::Result<std::shared_ptr<const StaticSite>> open(StaticSiteOptions options);

  const StaticSiteOptions& options() const { return options_; }

  /// Opens what lies at a path relative to the root (request_path.h). Returns 0, or the status to
  /// answer: 404 for what is not there, 403 for what may not be read, leads out of the root, or is
  /// neither file nor directory (a pipe, socket or device: nothing is read of it, and nothing
  /// waits), 503 where descriptors or memory are short, 500 for the rest.
  unsigned open_path(const std::string& relative, OpenedFile& out) const;

 private:
  StaticSite(StaticSiteOptions options, OwnedFd root);

  StaticSiteOptions options_;
  OwnedFd root_;
};

}  // namespace workload
