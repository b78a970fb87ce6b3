// The table of all schemes, and how one is made from what a user wrote.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "storage/base/buffer_pool.h"
#include "storage/base/clock.h"
#include "storage/base/random.h"
#include "storage/scheme.h"

namespace storage {

/// A cache directory as a user asks for it: `scheme=ufs,path=DIR,size=1G,l1=16,l2=256`.
struct SchemeSpec {
  std::string scheme;
  std::filesystem::path path;
  uint64_t capacity_bytes = 0;
  std::map<std::string, std::string> options;  ///< The rest, checked by the scheme's row.
};

/// What a scheme gets from outside. The references must outlive the scheme.
struct SchemeEnvironment {
  boost::asio::any_io_executor executor;
  const Clock& clock;
  BufferPool& buffers;
  uint64_t seed = 1;
  /// How many bits of the key's hash the scheme uses; fewer than 128 only in tests, to force
  /// collisions.
  unsigned key_hash_bits = 128;
  /// Told in one line what befalls a running store that its operator should know of, such as the
  /// loss of a helper process; for a log. Called on the executor, perhaps within a call to the
  /// scheme: it must not call the scheme and must not throw. May be empty.
  std::function<void(const std::string& line)> on_event{};
};

struct CheckReport;  // in storage/check.h

/// The scheme, or why there is none.
struct SchemeOrError {
  std::unique_ptr<StorageScheme> scheme;
  std::string error;  ///< One line that names the option and what would be right; empty if made.
  /// The specification is right, but what it names could not be opened or made: in use, damaged,
  /// full, of another shape, forbidden. Otherwise the error is one of usage.
  bool not_opened = false;
};

/// One option of a scheme, for help texts and checks.
struct SchemeOption {
  std::string_view name;
  std::string_view default_value;
  std::string_view meaning;
};

/// One scheme. A new scheme is one row of the table in registry.cc.
struct SchemeRow {
  std::string_view name;
  std::string_view summary;
  bool needs_path = false;
  bool needs_size = false;
  bool persistent = false;
  bool in_folder = false;     ///< What `path` names is a folder, never a file or a device.
  bool takes_device = false;  ///< Its path may be a block device.
  std::span<const SchemeOption> options{};  ///< Beside those that all of its kind take.
  SchemeOrError (*make)(const SchemeSpec& spec, const SchemeEnvironment& environment);
  /// The largest object that a store of this specification takes, found out without touching the
  /// disk; on failure `error` is one line. Null where making the scheme leaves nothing behind.
  uint64_t (*largest_object)(const SchemeSpec& spec, std::string& error) = nullptr;
  /// What check_store() does for this scheme; null where there is nothing to check.
  Task<CheckReport> (*check)(SchemeSpec spec, SchemeEnvironment environment) = nullptr;
};

/// All rows, in the order in which they are shown.
std::span<const SchemeRow> registry();

/// Parses `key=value,key=value`; on failure `error` holds one line for the user and the result is
/// meaningless.
SchemeSpec parse_scheme_spec(std::string_view text, std::string& error);

/// What is wrong with the path and the names of the options, by the row's table, as one line; empty
/// if nothing is. Says nothing of the size and of values, which only make_scheme() looks at.
std::string check_spec(const SchemeSpec& spec);

/// Makes a scheme without the instrumenting wrapper, for a part of a larger one; checks path, size
/// and option names by the row's table. Every scheme that needs a path also takes `min-size` and
/// `max-size` (see make_size_bounded()).
SchemeOrError make_bare_scheme(const SchemeSpec& spec, const SchemeEnvironment& environment);

/// make_bare_scheme(), wrapped by the instrumenting wrapper.
SchemeOrError make_scheme(const SchemeSpec& spec, const SchemeEnvironment& environment);

}  // namespace storage
