// The contract between a cache and the ways of storing its objects.
//
// Life of an object: create() gives a Writer; reserve() a buffer, fill it, append() it, again and
// again; commit() publishes it whole. A Writer that is destroyed before commit() leaves nothing
// behind. From then on open() gives Readers, each a view of that one version: update(), remove(),
// replacement by another commit() and eviction never change what an open Reader returns.
//
// Every call is made on the scheme's own executor and by one caller at a time per Reader or Writer;
// calls on different objects may overlap. Readers, Writers and leases must be gone before the
// scheme is destroyed.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "storage/base/counters.h"
#include "storage/base/task.h"
#include "storage/types.h"

namespace storage {

/// What a scheme is and can do: data, not questions.
struct SchemeInfo {
  std::string name;                    ///< As in the registry.
  bool persistent = false;             ///< Objects outlive the process.
  uint64_t capacity_bytes = 0;         ///< 0: holds nothing.
  uint64_t object_size_bytes_max = 0;  ///< Larger bodies are kTooLarge.
  size_t alignment_bytes = 1;          ///< Preferred alignment of reads and writes.
  std::vector<std::string> warnings;   ///< What could not be done as asked, for the result.
};

/// What start() found.
struct RecoveryReport {
  bool clean = true;             ///< The last stop was clean (or the store is new).
  uint64_t objects = 0;          ///< Objects that can be opened now.
  uint64_t size_bytes = 0;       ///< Space they take, as the scheme counts its capacity.
  uint64_t dropped_damaged = 0;  ///< Records or objects that were damaged and are gone.
  uint64_t dropped_stray = 0;    ///< Leftovers of unfinished writes that were removed.
  std::chrono::nanoseconds duration{0};
};

/// How to stop: kDrain finishes what is under way and leaves a clean store; kAbandon gives up
/// unfinished writes and leaves what a crash would leave.
enum class StopMode { kDrain, kAbandon };

/// An open object: one version, unchanged for as long as the Reader lives.
class Reader {
 public:
  virtual ~Reader() = default;
  virtual const Metadata& metadata() const = 0;
  virtual uint64_t body_size_bytes() const = 0;
  /// Whether read() lends bytes that are in memory, without going to a device for them.
  virtual bool in_memory() const { return false; }

  /// Lends at least 1 and at most `size_bytes_max` bytes from `offset_bytes`; an empty Piece at or
  /// past the end of the body. Every byte lent has been verified. kCorrupt where it could not be:
  /// the object is then removed. `size_bytes_max` must not be 0.
  virtual Task<Piece> read(uint64_t offset_bytes, size_t size_bytes_max) = 0;
};

/// An object on its way in. Destroying it before commit() succeeded leaves nothing behind.
class Writer {
 public:
  virtual ~Writer() = default;

  /// Lends a buffer of at least 1 byte; `size_hint_bytes` says how much is expected. This is the
  /// one place that waits for room (backpressure). kOverloaded after a bounded wait.
  virtual Task<Space> reserve(size_t size_hint_bytes) = 0;

  /// Appends the first `used_bytes` of `space`, which came from this Writer's reserve(). After an
  /// error the Writer can only be destroyed. kTooLarge, kNoSpace, kIo.
  virtual Result<void> append(Space space, size_t used_bytes) = 0;

  /// Publishes the object; it replaces an older one of the same key. kAborted, and nothing is
  /// published, where a size was given to create() and another one was written.
  virtual Task<void> commit() = 0;
};

/// A way of storing objects.
class StorageScheme {
 public:
  virtual ~StorageScheme() = default;
  virtual const SchemeInfo& info() const = 0;

  /// Opens or rebuilds the store. Once, before anything else; kStopped from other calls before.
  virtual Task<RecoveryReport> start() = 0;

  /// kNotFound is a miss; anything else a failure.
  virtual Task<std::unique_ptr<Reader>> open(Key key) = 0;

  /// `body_size_bytes` where it is known beforehand. kTooLarge, kNoSpace, kOverloaded,
  /// kKeepsNothing: declined, and counted by reason.
  virtual Task<std::unique_ptr<Writer>> create(Key key, Metadata metadata,
                                               std::optional<uint64_t> body_size_bytes) = 0;

  /// Replaces the metadata of a committed object; after a crash it is the old or the new one.
  /// kNotFound where there is no such object.
  virtual Task<void> update(Key key, Metadata metadata) = 0;

  /// Idempotent; open Readers finish.
  virtual Task<void> remove(Key key) = 0;

  /// After it every call is kStopped. Idempotent.
  virtual Task<void> stop(StopMode mode) = 0;

  virtual void visit_counters(CounterVisitor& visitor) const = 0;
};

}  // namespace storage
