// What the parts of a coss store share: file, index, log, and the life of the whole.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "storage/io/engine.h"
#include "storage/layout/coss_clean_index.h"
#include "storage/layout/coss_index.h"
#include "storage/layout/coss_log.h"
#include "storage/layout/coss_options.h"
#include "storage/layout/coss_volume.h"
#include "storage/layout/volume_store.h"
#include "storage/registry.h"
#include "storage/scheme.h"

namespace storage {

/// Counts that only grow, beside those of the log.
struct CossCounts {
  uint64_t accepted_bytes = 0;        ///< Of records that users have committed.
  uint64_t relocated = 0;             ///< Objects moved forward.
  uint64_t relocated_bytes = 0;       ///< Of their records.
  uint64_t relocations_given_up = 0;  ///< There was no room at once, or too many under way.
  uint64_t damaged = 0;               ///< Objects dropped because a check failed.
  uint64_t unreadable = 0;            ///< Objects dropped because reading failed.
  uint64_t collisions = 0;            ///< Opens that met another key under the same hash.
  uint64_t declined_membufs = 0;      ///< Objects declined because all membufs were on their way.
  uint64_t declined_stripes = 0;      ///< Objects declined because no stripe could be overwritten.
  uint64_t declined_engine = 0;       ///< Objects declined because too much waits for the engine.
  uint64_t declined_drafts = 0;       ///< Objects declined because too many were arriving.
  uint64_t reads_in_memory = 0;       ///< Opens of objects that were still in a membuf.
};

/// One record, told from all that were or will be in its place.
struct CossVersion {
  CossLocation location;
  uint64_t generation = 0;  ///< Of the stripe.
};

/// Shared by scheme, readers, writers and background work. All calls on the executor.
class CossStore final : public VolumeStore<CossVolume> {
 public:
  CossStore(std::string_view name, const CossOptions& options, const SchemeEnvironment& environment,
            std::unique_ptr<CossVolume> volume, std::unique_ptr<IoEngine> engine);

  /// Keeps a stripe from being overwritten. Move-only.
  class Pin {
   public:
    Pin() = default;
    Pin(std::shared_ptr<CossStore> store, uint32_t stripe);
    Pin(Pin&& other) noexcept = default;
    Pin& operator=(Pin&& other) noexcept;
    ~Pin() { release(); }
    void release();

   private:
    std::shared_ptr<CossStore> store_;
    uint32_t stripe_ = 0;
  };

  const CossOptions& options() const { return options_; }
  const CossGeometry& geometry() const { return volume_->geometry(); }
  /// Whether what is under way is to be given up, rather than finished.
  bool abandoning() const { return is_abandoning(); }
  IoEngine& engine() { return *engine_; }
  BufferPool& buffers() { return environment_.buffers; }
  CossIndex& index() { return index_; }
  CossLog& log() { return log_; }
  CossCounts& counts() { return counts_; }
  boost::asio::any_io_executor executor() const { return environment_.executor; }

  /// The bytes from `offset_bytes` of the file on, in a buffer of the pool where they fit into one;
  /// kCorrupt where the file ends before.
  Task<Piece> read_bytes(uint64_t offset_bytes, size_t size_bytes);
  /// The longest piece from there on that read_bytes() gets in a buffer of the pool.
  size_t pooled_read_size_max(uint64_t offset_bytes) const;
  /// Where a record lies in the file.
  uint64_t file_offset(CossLocation location) const;

  /// Waits until something has changed that may make room; kOverloaded at `deadline`.
  Task<void> wait_for_room(boost::asio::steady_timer::time_point deadline) {
    return signal_->wait(deadline);
  }
  /// Counts and returns why there is no room now.
  Error decline_for_room();

  /// Bytes of objects that are arriving. Let go on any thread.
  const std::shared_ptr<std::atomic<uint64_t>>& draft_bytes() const { return draft_bytes_; }
  uint64_t draft_bytes_max() const;

  /// Whether this record is what the index has for the hash.
  bool current(KeyHash hash, const CossVersion& version) const;

  /// Claims one of the few background relocations; end_relocation() gives it back.
  bool begin_relocation();
  void end_relocation() { --relocations_; }

  /// Forgets an object in which damage was found, unless it is elsewhere by now.
  void drop(KeyHash hash, CossLocation location, Errc reason);

  void visit_counters(CounterVisitor& visitor) const;

 private:
  Task<void> recover() override;
  Task<void> wipe(std::span<const uint32_t> stripes);
  Task<void> write_state(bool clean, CossIndexExtent index);
  Task<void> leave_clean() override;
  Task<void> settle_removals();
  void begin_flush(uint32_t stripe);
  Task<void> write_stripe(uint32_t stripe);
  static boost::asio::awaitable<void> flush(std::shared_ptr<CossStore> store, uint32_t stripe,
                                            Operation operation);
  size_t alignment() const;

  std::shared_ptr<CossStore> self() {
    return std::static_pointer_cast<CossStore>(shared_from_this());
  }

  const CossOptions options_;
  CossIndex index_;
  CossLog log_;
  CossCounts counts_;
  std::shared_ptr<std::atomic<uint64_t>> draft_bytes_;

  bool writing_state_ = false;
  unsigned relocations_ = 0;
};

}  // namespace storage
