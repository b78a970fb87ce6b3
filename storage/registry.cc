#include "storage/registry.h"

#include <algorithm>
#include <array>

#include "storage/base/units.h"
#include "storage/instrumented.h"
#include "storage/layout/coss_check.h"
#include "storage/layout/coss_scheme.h"
#include "storage/layout/memory.h"
#include "storage/layout/none.h"
#include "storage/layout/rock_check.h"
#include "storage/layout/rock_scheme.h"
#include "storage/layout/size_bounds.h"
#include "storage/layout/ufs_check.h"
#include "storage/layout/ufs_scheme.h"

namespace storage {
namespace {

/// Joins what `name_of_item` says of each item: `a, b, c`.
template <class Items, class NameOf>
std::string join(const Items& items, NameOf name_of_item) {
  std::string text;
  for (const auto& item : items) {
    if (!text.empty()) text += ", ";
    text += name_of_item(item);
  }
  return text;
}

const SchemeRow* find_row(std::string_view name) {
  const auto rows = registry();
  const auto found =
      std::ranges::find_if(rows, [&](const SchemeRow& row) { return row.name == name; });
  return found == rows.end() ? nullptr : &*found;
}

std::string unknown_scheme(const std::string& name) {
  return "unknown scheme '" + name + "': known are " +
         join(registry(), [](const SchemeRow& row) { return row.name; });
}

/// Less than a few blocks of a filesystem holds no object.
constexpr uint64_t kDiskCapacityMin = 64 * kKiB;

/// Why no object can ever be stored, where that is so.
std::string nothing_fits(const SchemeSpec& spec, const SizeBounds& bounds,
                         uint64_t object_size_bytes_max) {
  const std::string scheme = "scheme " + spec.scheme;
  if (object_size_bytes_max == 0) {
    return scheme + " can hold nothing in size=" + std::to_string(spec.capacity_bytes);
  }
  if (bounds.min_bytes > object_size_bytes_max) {
    return scheme + ": min-size=" + std::to_string(bounds.min_bytes) +
           " is above the largest object that it takes, " + std::to_string(object_size_bytes_max) +
           " bytes";
  }
  return "";
}

/// What is wrong with `spec` by the row's table; empty if nothing is.
std::string check(const SchemeSpec& spec, const SchemeRow& row) {
  const std::string scheme = "scheme " + spec.scheme;
  if (row.needs_path && spec.path.empty()) return scheme + " needs path=, where it keeps its data";
  if (!row.needs_path && !spec.path.empty())
    return scheme + " keeps nothing on disk: leave out path=";
  if (row.needs_size && spec.capacity_bytes == 0) {
    return scheme + " needs size=, its capacity, e.g. size=1G";
  }
  if (row.needs_path && row.needs_size && spec.capacity_bytes < kDiskCapacityMin) {
    return scheme + " can hold nothing in size=" + std::to_string(spec.capacity_bytes) +
           "; give at least " + std::to_string(kDiskCapacityMin / kKiB) + "K";
  }
  std::vector<SchemeOption> known(row.options.begin(), row.options.end());
  if (row.needs_path) {
    known.insert(known.end(), kSizeBoundOptions.begin(), kSizeBoundOptions.end());
  }
  for (const auto& given : spec.options) {
    const std::string& name = given.first;
    if (std::ranges::find(known, name, &SchemeOption::name) != known.end()) continue;
    const std::string options = join(known, [](const SchemeOption& option) { return option.name; });
    return scheme + " has no option '" + name +
           "': " + (options.empty() ? "it has none of its own" : "it has " + options);
  }
  return "";
}

/// Puts one `key=value` into `spec`; returns what is wrong with it, or nothing.
std::string parse_item(std::string_view item, SchemeSpec& spec) {
  const size_t equals = item.find('=');
  if (equals == std::string_view::npos || equals == 0 || equals + 1 == item.size()) {
    return "'" + std::string(item) + "' is not of the form key=value";
  }
  const std::string key(item.substr(0, equals));
  const std::string value(item.substr(equals + 1));
  const std::string twice = "'" + key + "' is given twice";
  if (key == "scheme") {
    if (!spec.scheme.empty()) return twice;
    spec.scheme = value;
  } else if (key == "path") {
    if (!spec.path.empty()) return twice;
    spec.path = value;
  } else if (key == "size") {
    if (spec.capacity_bytes != 0) return twice;
    const std::optional<uint64_t> size = parse_size_bytes(value);
    if (!size || *size == 0) return "size=" + value + " is not a size such as 512M or 1.5G";
    spec.capacity_bytes = *size;
  } else if (!spec.options.emplace(key, value).second) {
    return twice;
  }
  return "";
}

}  // namespace

std::span<const SchemeRow> registry() {
  static const std::array<SchemeRow, 7> kRows = {{
      {.name = "none",
       .summary = "holds nothing: every request goes to the origin",
       .make = make_none},
      {.name = "memory",
       .summary = "objects in memory, gone when the proxy ends",
       .needs_size = true,
       .options = memory_options(),
       .make = make_memory},
      {.name = "ufs",
       .summary = "a file an object in two levels of folders, blocking calls",
       .needs_path = true,
       .needs_size = true,
       .persistent = true,
       .options = ufs_scheme_options(),
       .make = make_ufs,
       .check = check_ufs},
      {.name = "aufs",
       .summary = "the files of ufs, written and read by a pool of threads",
       .needs_path = true,
       .needs_size = true,
       .persistent = true,
       .options = aufs_scheme_options(),
       .make = make_aufs,
       .check = check_ufs},
      {.name = "diskd",
       .summary = "the files of ufs, written and read by a helper process",
       .needs_path = true,
       .needs_size = true,
       .persistent = true,
       .options = diskd_scheme_options(),
       .make = make_diskd,
       .check = check_ufs},
      {.name = "coss",
       .summary = "a cyclic log of stripes in one file or raw device",
       .needs_path = true,
       .needs_size = true,
       .persistent = true,
       .takes_device = true,
       .options = coss_options(),
       .make = make_coss,
       .check = check_coss},
      {.name = "rock",
       .summary = "chains of fixed slots in one file or raw device",
       .needs_path = true,
       .needs_size = true,
       .persistent = true,
       .takes_device = true,
       .options = rock_options(),
       .make = make_rock,
       .check = check_rock},
  }};
  return kRows;
}

SchemeSpec parse_scheme_spec(std::string_view text, std::string& error) {
  SchemeSpec spec;
  error.clear();
  for (size_t begin = 0; begin <= text.size() && error.empty();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    error = parse_item(text.substr(begin, end - begin), spec);
    begin = end + 1;
  }
  if (error.empty() && spec.scheme.empty()) error = "scheme= is missing";
  if (error.empty() && find_row(spec.scheme) == nullptr) error = unknown_scheme(spec.scheme);
  if (!error.empty()) {
    error = "cache directory '" + std::string(text) + "': " + error +
            " (for example scheme=ufs,path=/var/cache/web,size=1G)";
  }
  return spec;
}

SchemeOrError make_bare_scheme(const SchemeSpec& spec, const SchemeEnvironment& environment) {
  SchemeOrError made;
  const SchemeRow* const row = find_row(spec.scheme);
  made.error = row != nullptr ? check(spec, *row) : unknown_scheme(spec.scheme);
  if (!made.error.empty()) return made;
  SchemeSpec own = spec;
  const SizeBounds bounds = take_size_bounds(own, made.error);
  if (!made.error.empty()) return made;
  made = row->make(own, environment);
  if (made.scheme && row->needs_size) {
    made.error = nothing_fits(spec, bounds, made.scheme->info().object_size_bytes_max);
    if (!made.error.empty()) made.scheme.reset();
  }
  if (made.scheme) made.scheme = make_size_bounded(std::move(made.scheme), bounds);
  return made;
}

SchemeOrError make_scheme(const SchemeSpec& spec, const SchemeEnvironment& environment) {
  SchemeOrError made = make_bare_scheme(spec, environment);
  if (made.scheme) made.scheme = make_instrumented(std::move(made.scheme), environment.clock);
  return made;
}

}  // namespace storage
