// File operations as plain blocking calls.
#pragma once

#include <memory>

#include "storage/base/clock.h"
#include "storage/io/engine.h"
#include "storage/io/io_statistics.h"

namespace storage {

/// Every operation is made at once, in the thread that awaits it, and is complete when the await
/// returns: the event loop stands still meanwhile, as it does in Squid's ufs. Interrupted calls
/// are repeated and short transfers continued. Errors as error_from_errno() says.
class BlockingEngine final : public IoEngine {
 public:
  /// Relative paths are resolved against the folder `root_fd`, which is not closed here; AT_FDCWD
  /// is the current folder. `clock` must outlive the engine and its files.
  BlockingEngine(const Clock& clock, int root_fd);

  const char* name() const override { return "blocking"; }
  Task<std::unique_ptr<File>> open(std::filesystem::path path, OpenMode mode) override;
  Task<void> rename(std::filesystem::path from, std::filesystem::path to) override;
  Task<void> unlink(std::filesystem::path path) override;

  /// As IoStatistics::visit() says.
  void visit_counters(CounterVisitor& visitor) const override;

 private:
  int root_fd_;
  std::shared_ptr<IoStatistics> statistics_;  // shared with the files, which may live longer
};

}  // namespace storage
