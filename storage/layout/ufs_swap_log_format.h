// The records of the swap log, as pure functions. Drawn in docs/formats-ufs.md.
//
// The log is a header and records of one fixed size. It is a promise only while its header says
// clean; else it is a help for the scan that recovers the store, and may lack or repeat anything.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "storage/types.h"

namespace storage {

inline constexpr size_t kUfsLogHeaderSize = 40;
inline constexpr size_t kUfsLogRecordSize = 56;

/// The first bytes of a log.
struct UfsLogHeader {
  bool clean = false;          ///< The records are exactly what the store holds, oldest use first.
  uint64_t record_count = 0;   ///< Of a clean log.
  uint64_t next_sequence = 0;  ///< No file number from here on was in use when this was written.
};

/// An object that came or went.
struct UfsLogRecord {
  enum class Kind : uint32_t { kAdd = 1, kRemove = 2 };
  Kind kind = Kind::kAdd;
  uint64_t sequence = 0;
  KeyHash hash;
  uint64_t file_size_bytes = 0;
  uint64_t allocated_bytes = 0;
  friend bool operator==(const UfsLogRecord& left, const UfsLogRecord& right) = default;
};

/// `out` is kUfsLogHeaderSize bytes long.
void encode_ufs_log_header(const UfsLogHeader& header, std::span<std::byte> out);
/// Nothing where the bytes are too few or damaged.
std::optional<UfsLogHeader> decode_ufs_log_header(std::span<const std::byte> bytes);

/// Adds kUfsLogRecordSize bytes to `out`.
void append_ufs_log_record(const UfsLogRecord& record, std::vector<std::byte>& out);
/// Nothing where the bytes are too few or damaged.
std::optional<UfsLogRecord> decode_ufs_log_record(std::span<const std::byte> bytes);

/// What a log says, however damaged it is.
struct UfsLogContents {
  bool exists = false;
  bool clean = false;  ///< Says so, and is whole.
  uint64_t next_sequence = 0;
  std::vector<UfsLogRecord> records;  ///< The sound ones, in the order of the file.
  /// The header counts as one. A cut last record counts in a log that says it is clean only.
  uint64_t damaged_records = 0;
};

/// Takes a log apart as its bytes arrive, in parts of any size.
class UfsLogParser {
 public:
  void append(std::span<const std::byte> bytes);
  /// Once, at the end of the file.
  UfsLogContents finish();

 private:
  void take(std::span<const std::byte> unit);

  bool header_seen_ = false;
  std::optional<UfsLogHeader> header_;
  std::vector<std::byte> partial_;
  UfsLogContents contents_;
};

}  // namespace storage
