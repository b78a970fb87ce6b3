// The swap log of a ufs store: the file that remembers what came and went.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "storage/base/task.h"
#include "storage/io/engine.h"
#include "storage/layout/ufs_swap_log_format.h"

namespace storage {

inline constexpr std::string_view kUfsLogName = "swap.log";
inline constexpr std::string_view kUfsLogNewName = "swap.log.new";

/// The log. Records are gathered and written together, so a crash may lose the last ones; the
/// scan of the next start makes up for them, as for records that could not be written. Nothing
/// here fails a change of the store: errors are counted. `engine` must outlive it.
class UfsSwapLog {
 public:
  explicit UfsSwapLog(IoEngine& engine) : engine_(engine) {}
  UfsSwapLog(const UfsSwapLog&) = delete;
  UfsSwapLog& operator=(const UfsSwapLog&) = delete;

  /// Reads the log as it was left; an unreadable one is a damaged one.
  Task<UfsLogContents> load();

  /// Takes back the promise of a clean log of `record_count` records, durably, before anything
  /// changes; further records follow the ones that are there.
  Task<void> reopen_clean(uint64_t record_count, uint64_t next_sequence);

  /// Replaces the log by one of these records, at once or not at all. A clean one is made durable
  /// and takes no further records.
  Task<void> rewrite(std::vector<UfsLogRecord> records, bool clean, uint64_t next_sequence);

  /// Notes a change. Call flush() when it is convenient.
  void note(const UfsLogRecord& record);
  /// Writes what has gathered once it is worth a write.
  Task<void> flush();

  /// Whether the log is so much longer than the store that it should be rewritten.
  bool overgrown(uint64_t objects) const;

  uint64_t write_errors() const { return write_errors_; }
  uint64_t rewrites() const { return rewrites_; }

 private:
  Task<void> write_new(std::vector<UfsLogRecord> records, bool clean, uint64_t next_sequence);

  IoEngine& engine_;
  std::unique_ptr<File> file_;  // null while there is none that takes records
  uint64_t end_bytes_ = 0;
  std::vector<std::byte> pending_;
  uint64_t record_count_ = 0;  // in the file, or noted since the last rewrite
  bool busy_ = false;
  uint64_t write_errors_ = 0;
  uint64_t rewrites_ = 0;
};

}  // namespace storage
