// The offline check of a store: what it holds, what is damaged, what the next start will drop.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "storage/base/task.h"
#include "storage/registry.h"

namespace storage {

/// One thing that is wrong with a store.
struct CheckFinding {
  std::string file;  ///< Relative to the store's folder.
  std::string what;  ///< One line.
};

/// What check_store() found.
struct CheckReport {
  std::string error;   ///< Not empty: nothing could be checked, and why, in one line.
  bool usage = false;  ///< The error is in the specification; otherwise in what it names.

  bool clean = false;        ///< The last stop was clean.
  uint64_t objects = 0;      ///< Sound objects: every byte was read and verified.
  uint64_t size_bytes = 0;   ///< Space that the sound objects take on the filesystem.
  uint64_t body_bytes = 0;   ///< Sum of their bodies.
  uint64_t damaged = 0;      ///< Objects whose header, metadata or body fails its checks.
  uint64_t unreadable = 0;   ///< Objects that the filesystem could not read (I/O errors).
  uint64_t duplicates = 0;   ///< Older versions that a crash left behind.
  uint64_t strays = 0;       ///< Leftovers of unfinished writes.
  uint64_t unlisted = 0;     ///< Sound objects that the log does not know (normal after a crash).
  uint64_t missing = 0;      ///< Objects that the log knows and that have no file.
  uint64_t foreign = 0;      ///< Files that no store made; they are left alone.
  uint64_t log_records = 0;  ///< Sound records of the log.
  uint64_t log_damaged = 0;  ///< Damaged records of the log.

  /// What the next start would warn of, one line each.
  std::vector<std::string> warnings;
  /// The first kFindingsMax findings; the counts above are complete.
  std::vector<CheckFinding> findings;
  static constexpr size_t kFindingsMax = 1000;

  /// Nothing is damaged or unreadable, whatever a crash may have left over.
  bool sound() const {
    return error.empty() && damaged == 0 && unreadable == 0 && log_damaged == 0;
  }
};

/// Reads a whole store and verifies every checksum of every object, without changing anything.
/// The store must not be in use: it is locked meanwhile. Blocks the executor's thread; meant for a
/// program that does nothing else. Schemes that keep nothing on disk give an `error`.
Task<CheckReport> check_store(SchemeSpec spec, SchemeEnvironment environment);

/// The report as lines of text for people, each ended by a newline.
std::string describe(const CheckReport& report);

}  // namespace storage
