// What the parts of a ufs store share: its space, its index and log, and the one way in which
// objects become visible or go.
#pragma once

#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "storage/io/engine.h"
#include "storage/layout/ufs_directory.h"
#include "storage/layout/ufs_index.h"
#include "storage/layout/ufs_swap_log.h"
#include "storage/registry.h"
#include "storage/replacement/policies.h"
#include "storage/scheme.h"

namespace storage {

class UfsWriter;

/// The options of a store, parsed.
struct UfsOptions {
  UfsShape shape;
  uint64_t capacity_bytes = 0;
  uint64_t object_size_bytes_max = 0;
  unsigned high_water_percent = 95;
  unsigned low_water_percent = 90;
  std::string policy{kDefaultPolicy};  ///< As make_policy() takes it.
};

/// Counts that only grow.
struct UfsCounts {
  uint64_t evictions = 0;
  uint64_t disk_full = 0;      ///< Times that the filesystem had no room or quota left.
  uint64_t damaged = 0;        ///< Objects dropped because a check failed.
  uint64_t unreadable = 0;     ///< Objects dropped because reading failed.
  uint64_t missing = 0;        ///< Objects whose file had gone.
  uint64_t collisions = 0;     ///< Opens that met another key under the same hash.
  uint64_t unlink_errors = 0;  ///< Files that could not be removed at the first try.
  uint64_t updates_in_place = 0;
  uint64_t updates_rewritten = 0;
  uint64_t cleanup_errors = 0;  ///< Background clean-ups that failed otherwise.
};

/// Shared by scheme, readers, writers and background clean-ups. All calls on the executor.
class UfsStore : public std::enable_shared_from_this<UfsStore> {
 public:
  enum class State { kNew, kRunning, kStopping, kStopped };

  UfsStore(std::string_view name, const UfsOptions& options, const SchemeEnvironment& environment,
           std::unique_ptr<UfsDirectory> directory, std::unique_ptr<IoEngine> engine);

  /// Marks one running operation, for stop() to wait for. Move-only.
  class Operation {
   public:
    explicit Operation(std::shared_ptr<UfsStore> store);
    Operation(Operation&& other) noexcept = default;
    Operation& operator=(Operation&&) = delete;
    ~Operation();

   private:
    std::shared_ptr<UfsStore> store_;
  };

  const SchemeInfo& info() const { return info_; }
  const UfsOptions& options() const { return options_; }
  bool running() const { return state_ == State::kRunning; }
  /// Stopped without draining: nothing may be changed on disk any more.
  bool abandoned() const { return abandoned_; }
  IoEngine& engine() { return *engine_; }
  BufferPool& buffers() { return environment_.buffers; }
  UfsDirectory& directory() { return *directory_; }
  UfsIndex& index() { return index_; }
  UfsCounts& counts() { return counts_; }
  std::string object_path(uint64_t sequence) const;

  Task<RecoveryReport> start();
  Task<void> stop(StopMode mode);

  // Space. What is used is the objects' files as the filesystem counts them, what writers have
  // reserved, and files that should have gone but could not be removed.

  uint64_t used_bytes() const { return index_.size_bytes() + reserved_bytes_ + condemned_bytes_; }
  /// Sets space aside, evicting for it; kNoSpace where that is not enough. Give it back by
  /// release_space() or through publish().
  Task<void> reserve_space(uint64_t size_bytes);
  void release_space(uint64_t size_bytes);
  /// After kNoSpace from the filesystem: evicts at least about `size_bytes`, so that the caller
  /// can try again; kNoSpace where there was nothing to evict or `attempt` (from 0) is too high.
  Task<void> make_disk_space(uint64_t size_bytes, unsigned attempt);
  /// Evicts a few objects while the store is fuller than its water marks allow, as many as needed
  /// while it is over its capacity; keeps the log short.
  Task<void> tidy();

  // Objects.

  uint64_t take_sequence() { return next_sequence_++; }
  /// Renames the finished temporary file of `object` to its final name and makes it visible; what
  /// it replaces is removed. Where `replaces` is given and that file is no longer the current
  /// one, the object is removed again: kNotFound. After an error the caller still has its space
  /// and, unless that was kNotFound, its temporary file.
  Task<void> publish(UfsLogRecord object, uint64_t reserved_bytes,
                     std::optional<uint64_t> replaces);
  /// Removes the file of an object that has left the index.
  Task<void> discard(UfsLogRecord object);
  /// Removes an object in which damage was found, unless it was replaced or removed meanwhile.
  Task<void> drop(UfsLogRecord object, Errc reason);
  /// Removes the temporary file of a write that came to nothing, if `path` names one, and releases
  /// its space.
  Task<void> discard_temporary(std::string path, uint64_t reserved_bytes);
  /// What a Writer leaves that was given up: `file` and `path` are empty where none was made.
  struct Leftover {
    std::unique_ptr<File> file;
    std::string path;
    uint64_t reserved_bytes = 0;
    Leftover(std::unique_ptr<File> file_in, std::string path_in, uint64_t reserved_bytes_in)
        : file(std::move(file_in)), path(std::move(path_in)), reserved_bytes(reserved_bytes_in) {}
  };
  /// Closes the file and discard_temporary() in the background, for destructors.
  void discard_later(Leftover leftover);

  /// Claims the metadata slots of a file for an update; false while another one has them.
  bool claim_slots(uint64_t sequence) { return updating_.insert(sequence).second; }
  void release_slots(uint64_t sequence) { updating_.erase(sequence); }

  void enter(UfsWriter& writer) { writers_.insert(&writer); }
  void leave(UfsWriter& writer) { writers_.erase(&writer); }

  void visit_counters(CounterVisitor& visitor) const;

 private:
  struct Condemned {
    std::string path;
    uint64_t size_bytes = 0;
  };

  Task<bool> evict_one();
  Task<void> unlink_or_condemn(std::string path, uint64_t size_bytes);
  Task<void> retry_condemned(size_t files_max);
  Task<void> leave_clean();
  Task<void> wait_for_change();
  static boost::asio::awaitable<void> clean_up(Leftover leftover, std::shared_ptr<UfsStore> store,
                                               Operation operation);

  const UfsOptions options_;
  SchemeEnvironment environment_;
  SchemeInfo info_;
  std::unique_ptr<UfsDirectory> directory_;
  std::unique_ptr<IoEngine> engine_;
  UfsIndex index_;
  UfsSwapLog log_;
  UfsCounts counts_;

  State state_ = State::kNew;
  bool abandoned_ = false;
  bool evicting_ = false;  // between the water marks, on the way down
  uint64_t next_sequence_ = 0;
  uint64_t reserved_bytes_ = 0;
  uint64_t condemned_bytes_ = 0;
  std::vector<Condemned> condemned_;
  std::unordered_set<UfsWriter*> writers_;
  std::unordered_set<uint64_t> updating_;
  uint64_t operations_ = 0;
  boost::asio::steady_timer
      changed_;  // tells stop() that an operation, or another stop(), has ended
  RecoveryReport recovery_;
};

/// Space that a file of this size will take, before the filesystem has said.
uint64_t ufs_expected_footprint(uint64_t file_size_bytes);

}  // namespace storage
