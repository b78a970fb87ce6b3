// Several cache directories as one store.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "storage/registry.h"
#include "storage/scheme.h"

namespace storage {

/// Which directory is asked first to take a new object; one that declines is followed by the next.
enum class StoreSelection {
  kRoundRobin,  ///< Each in turn.
  kLeastLoad,   ///< The one with the fewest calls under way and objects being written; of equals,
                ///< each in turn.
};

/// `round-robin` or `least-load`; nothing for anything else.
std::optional<StoreSelection> parse_store_selection(std::string_view text);

/// One of several directories.
struct CacheDirectory {
  std::unique_ptr<StorageScheme> scheme;
  std::string path;            ///< Empty where it has none.
  bool takes_any_size = true;  ///< No bounds were set on the sizes of its objects.
};

/// Makes one scheme of several, which are on the environment's executor.
///
/// - A new object goes to the first directory, in the order of the selection, that takes it. For
///   one of unknown size those without bounds on sizes come first, since it is lost where it
///   outgrows an upper bound; those with a lower bound never take it.
/// - There is no table of which directory holds what, which would have to be rebuilt at each start:
///   each directory is asked, which for all but the holder is a look into its index in memory.
/// - A new version may go to another directory than the old one. Then that is removed first: a
///   crash in between is a miss, and where the commit fails after it, both are gone. Changes of one
///   key are made one after the other.
/// - Should two directories hold one key all the same (the removal was lost with the machine's
///   power), nobody can tell which is newer: both are removed, and the open() is a miss.
/// - A directory that cannot be started fails the start of all: the others are stopped again, and
///   info().warnings says which one it was. A store that silently had less than it was given would
///   be measured as what it is not.
/// - A failure in a directory fails the call, except in create(), which goes on to the next.
///   Where none takes an object, the most hopeful reason is given: overloaded, no space, a failure,
///   too small, too large.
///
/// info() gives sums of capacities, the largest object that any takes, the names of the schemes
/// joined by `+`, and persistent where all are.
///
/// visit_counters() gives the sums of what the directories count themselves;
/// `duplicates_removed_total`; and for each directory, labelled `dir="0"` and so on, everything
/// that it and its own instrumenting wrapper count as `directory_...`, with
/// `directory_chosen_total` (new objects that it took), `directory_load` (see kLeastLoad) and
/// `directory_info`, always 1, whose labels are its scheme and path.
std::unique_ptr<StorageScheme> make_directories(std::vector<CacheDirectory> directories,
                                                StoreSelection selection,
                                                const SchemeEnvironment& environment);

/// Makes the store of a cache from all its directories: of none the scheme `none`, of one its
/// scheme, of several one of all, wrapped by the instrumenting wrapper. Two at one path, and `none`
/// among several, are errors.
SchemeOrError make_store(std::span<const SchemeSpec> specs, StoreSelection selection,
                         const SchemeEnvironment& environment);

}  // namespace storage
