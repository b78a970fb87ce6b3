// The engine over any queue of calls: threads, kernel queues.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <memory>

#include "storage/base/clock.h"
#include "storage/io/call_queue.h"
#include "storage/io/engine.h"

namespace storage {

/// Operations go to the queue, the others are made at once in the thread that awaits them. Files
/// that are destroyed without close() are closed by the queue. The destructor returns when no
/// operation runs any more; those that were waiting end in kAborted. Files should be gone before
/// the engine: afterwards all but closing is kAborted. The context of the executor may go while
/// operations are under way: it waits for those that run.
class QueuedEngine final : public IoEngine {
 public:
  /// Relative paths are resolved against the folder `root_fd`, which must stay open for as long as
  /// the engine lives. `clock` must outlive the engine and its files.
  QueuedEngine(std::shared_ptr<CallQueue> queue, const boost::asio::any_io_executor& executor,
               const Clock& clock, int root_fd);
  ~QueuedEngine() override;
  QueuedEngine(const QueuedEngine&) = delete;
  QueuedEngine& operator=(const QueuedEngine&) = delete;

  const char* name() const override;
  Task<std::unique_ptr<File>> open(std::filesystem::path path, OpenMode mode) override;
  Task<void> rename(std::filesystem::path from, std::filesystem::path to) override;
  Task<void> unlink(std::filesystem::path path) override;
  bool overloaded() const override;

  /// As IoStatistics::visit() says, and what the queue counts.
  void visit_counters(CounterVisitor& visitor) const override;

  struct Shared;

 private:
  std::shared_ptr<Shared> shared_;  // with the files and with operations under way
};

}  // namespace storage
