#include "storage/registry.h"

#include <algorithm>
#include <array>
#include <filesystem>

#include "storage/base/path_fault.h"
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

/// What is wrong with the path; empty if nothing is.
std::string check_path(const SchemeSpec& spec, const SchemeRow& row) {
  const std::string scheme = "scheme " + spec.scheme;
  if (row.needs_path && spec.path.empty()) return scheme + " needs path=, where it keeps its data";
  if (!row.needs_path && !spec.path.empty())
    return scheme + " keeps nothing on disk: leave out path=";
  const std::string shown = "path=" + spec.path.string();
  const std::string fault = row.needs_path ? path_fault(spec.path) : std::string();
  if (!fault.empty()) return shown + ": nothing can be there: " + fault;
  std::error_code unknown;
  const auto status = std::filesystem::status(spec.path, unknown);
  if (!row.needs_path || unknown || !std::filesystem::exists(status)) return "";
  if (std::filesystem::is_directory(status)) return "";
  if (row.in_folder)
    return shown + " is no folder: scheme " + spec.scheme + " keeps its data in one";
  const bool usable =
      std::filesystem::is_regular_file(status) || std::filesystem::is_block_file(status);
  return usable ? "" : shown + " is neither a file nor a block device nor a folder";
}

/// What is wrong with the size; empty if nothing is.
std::string check_size(const SchemeSpec& spec, const SchemeRow& row) {
  const std::string scheme = "scheme " + spec.scheme;
  if (row.needs_size && spec.capacity_bytes == 0) {
    return scheme + " needs size=, its capacity, e.g. size=1G";
  }
  if (row.needs_path && row.needs_size && spec.capacity_bytes < kDiskCapacityMin) {
    return scheme + " can hold nothing in size=" + std::to_string(spec.capacity_bytes) +
           "; give at least " + std::to_string(kDiskCapacityMin / kKiB) + "K";
  }
  return "";
}

/// The first option that the scheme does not have; empty if there is none.
std::string check_option_names(const SchemeSpec& spec, const SchemeRow& row) {
  const std::string scheme = "scheme " + spec.scheme;
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

/// How a cache directory of the scheme that `text` names is written.
std::string example_for(std::string_view text) {
  constexpr std::string_view kKey = "scheme=";
  const SchemeRow* row = nullptr;
  for (size_t begin = 0; begin <= text.size() && row == nullptr;) {
    const size_t end = std::min(text.find(',', begin), text.size());
    const std::string_view item = text.substr(begin, end - begin);
    if (item.starts_with(kKey)) row = find_row(item.substr(kKey.size()));
    begin = end + 1;
  }
  if (row == nullptr) row = find_row("ufs");
  std::string example = "scheme=" + std::string(row->name);
  if (row->needs_path) {
    example += ",path=/var/cache/web";
    if (!row->in_folder) example += "." + std::string(row->name);
  }
  if (row->needs_size) example += ",size=1G";
  return example;
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
       .in_folder = true,
       .options = ufs_scheme_options(),
       .make = make_ufs,
       .largest_object = ufs_largest_object,
       .check = check_ufs},
      {.name = "aufs",
       .summary = "the files of ufs, written and read by a pool of threads",
       .needs_path = true,
       .needs_size = true,
       .persistent = true,
       .in_folder = true,
       .options = aufs_scheme_options(),
       .make = make_aufs,
       .largest_object = ufs_largest_object,
       .check = check_ufs},
      {.name = "diskd",
       .summary = "the files of ufs, written and read by a helper process",
       .needs_path = true,
       .needs_size = true,
       .persistent = true,
       .in_folder = true,
       .options = diskd_scheme_options(),
       .make = make_diskd,
       .largest_object = ufs_largest_object,
       .check = check_ufs},
      {.name = "coss",
       .summary = "a cyclic log of stripes in one file or raw device",
       .needs_path = true,
       .needs_size = true,
       .persistent = true,
       .takes_device = true,
       .options = coss_options(),
       .make = make_coss,
       .largest_object = coss_largest_object,
       .check = check_coss},
      {.name = "rock",
       .summary = "chains of fixed slots in one file or raw device",
       .needs_path = true,
       .needs_size = true,
       .persistent = true,
       .takes_device = true,
       .options = rock_options(),
       .make = make_rock,
       .largest_object = rock_largest_object,
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
  if (!error.empty()) error += " (for example " + example_for(text) + ")";
  return spec;
}

std::string check_spec(const SchemeSpec& spec) {
  const SchemeRow* const row = find_row(spec.scheme);
  if (row == nullptr) return unknown_scheme(spec.scheme);
  const std::string wrong = check_path(spec, *row);
  return wrong.empty() ? check_option_names(spec, *row) : wrong;
}

SchemeOrError make_bare_scheme(const SchemeSpec& spec, const SchemeEnvironment& environment) {
  SchemeOrError made;
  made.error = check_spec(spec);
  if (!made.error.empty()) return made;
  const SchemeRow* const row = find_row(spec.scheme);
  made.error = check_size(spec, *row);
  if (!made.error.empty()) return made;
  SchemeSpec own = spec;
  const SizeBounds bounds = take_size_bounds(own, made.error);
  // Before the store is made, which leaves files.
  if (made.error.empty() && row->largest_object != nullptr) {
    const uint64_t largest = row->largest_object(own, made.error);
    if (made.error.empty()) made.error = nothing_fits(spec, bounds, largest);
  }
  if (!made.error.empty()) return made;
  made = row->make(own, environment);
  if (made.scheme) made.scheme = make_size_bounded(std::move(made.scheme), bounds);
  return made;
}

SchemeOrError make_scheme(const SchemeSpec& spec, const SchemeEnvironment& environment) {
  SchemeOrError made = make_bare_scheme(spec, environment);
  if (made.scheme) made.scheme = make_instrumented(std::move(made.scheme), environment.clock);
  return made;
}

}  // namespace storage
