#include "workload/experiment/place_options.h"

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "storage/base/units.h"
#include "workload/disk/profile_file.h"
#include "workload/experiment/mount_table.h"
#include "workload/filesystem/filesystem_kind.h"
#include "workload/filesystem/mkfs_words.h"

namespace workload {
namespace {

constexpr uint64_t kDisksMax = 64;
/// Less would be below what a proxy with an empty cache takes.
constexpr uint64_t kMemoryBytesMin = 16 * storage::kMiB;
constexpr uint64_t kPageCacheBytesMin = storage::kMiB;
constexpr double kFastFillMax = 1000;
constexpr uint64_t kDirtyLimitBytesMin = 256 * storage::kKiB;
/// What cacheoff-disk takes.
constexpr double kDiskTimeScaleMin = 0.001;
constexpr double kDiskTimeScaleMax = 1000;

Problem wrong_place(std::string_view option, std::string_view value, std::string_view right) {
  return usage_problem("--" + std::string(option) + " '" + std::string(value) +
                       "': " + std::string(right));
}

/// Nothing that could be taken for more than one word, or written over several lines.
bool is_printable(std::string_view text, char lowest) {
  return std::all_of(text.begin(), text.end(),
                     [&](char c) { return c >= lowest && c < 0x7f && c != '\'' && c != '\\'; });
}

}  // namespace

Expected<std::vector<std::string>> list_of_different(std::string_view option,
                                                     const std::vector<std::string>& values) {
  std::vector<std::string> parts;
  for (const auto& value : values) {
    for (auto& part : split_list(value)) {
      if (std::find(parts.begin(), parts.end(), part) != parts.end()) {
        return wrong_place(option, part, "is named twice; --repeat N runs each cell N times");
      }
      parts.push_back(std::move(part));
    }
  }
  return parts;
}

Expected<void> set_filesystems(ExperimentOptions& options, const std::vector<std::string>& values) {
  auto filesystems = list_of_different("filesystem", values);
  if (!filesystems) return filesystems.error();
  options.filesystems = std::move(*filesystems);
  for (const auto& name : options.filesystems) {
    if (name != "here" && name != "raw" && !is_mounted_filesystem(name)) {
      return wrong_place("filesystem", name, "there are " + filesystem_names());
    }
  }
  if (options.filesystems.empty()) {
    return wrong_place("filesystem", "", "there are " + filesystem_names());
  }
  return {};
}

Expected<void> set_mounts(ExperimentOptions& options, const std::vector<std::string>& values) {
  options.mounts.clear();
  for (const auto& value : values) {
    const std::string text = value == "default" ? "" : value;
    if (!is_printable(text, '!')) {
      return wrong_place("mount", value, "must be comma-separated options without blanks");
    }
    if (std::find(options.mounts.begin(), options.mounts.end(), text) == options.mounts.end()) {
      options.mounts.push_back(text);
    }
  }
  if (options.mounts.empty()) options.mounts.emplace_back();
  return {};
}

Expected<void> set_mkfs(ExperimentOptions& options, const std::vector<std::string>& values) {
  options.mkfs_options.clear();
  for (const auto& value : values) {
    const size_t equals = value.find('=');
    const std::string name = value.substr(0, equals);
    const std::string words = equals == std::string::npos ? "" : value.substr(equals + 1);
    if (find_filesystem_kind(name) == nullptr || split_words(words).empty() ||
        !is_printable(words, ' ')) {
      return wrong_place("mkfs", value,
                         "must be FILESYSTEM=OPTIONS of its mkfs, e.g. 'ext4=-g 2048'; there are "
                         "ext2 ext3 ext4 xfs btrfs");
    }
    const std::string why_not = why_not_mkfs_words(name, words);
    if (!why_not.empty()) return wrong_place("mkfs", value, why_not);
    if (!options.mkfs_options.emplace(name, words).second) {
      return wrong_place("mkfs", value, name + " is there twice");
    }
  }
  return {};
}

Expected<void> set_disks(ExperimentOptions& options, const std::vector<std::string>& values) {
  auto numbers = list_of_different("disks", values);
  if (!numbers) return numbers.error();
  options.disks.clear();
  for (const auto& text : *numbers) {
    const auto number = storage::parse_count(text);
    if (!number || *number > kDisksMax) {
      return wrong_place("disks", text, "must be numbers from 0 to 64, e.g. 0,1,2");
    }
    const auto disks = static_cast<unsigned>(*number);
    if (std::find(options.disks.begin(), options.disks.end(), disks) != options.disks.end()) {
      return wrong_place("disks", text, "is named twice; --repeat N runs each cell N times");
    }
    options.disks.push_back(disks);
  }
  if (options.disks.empty()) return wrong_place("disks", "", "must be numbers, e.g. 0,1,2");
  return {};
}

Expected<void> set_device_paths(ExperimentOptions& options,
                                const std::vector<std::string>& values) {
  auto paths = list_of_different("device-path", values);
  if (!paths) return paths.error();
  for (const auto& path : *paths) {
    if (path.front() != '/' || !is_printable(path, '!')) {
      return wrong_place("device-path", path, "must be the full path of a device, e.g. /dev/sdb");
    }
  }
  options.device_paths = std::move(*paths);
  if (options.device_paths.empty()) return wrong_place("device-path", "", "must name a device");
  return {};
}

Expected<void> set_device(ExperimentOptions& options, const std::vector<std::string>& values) {
  const std::string& name = values.front();
  options.device = "native";
  options.device_profile.reset();
  if (name == "native") return {};
  std::string error;
  options.device_profile = disk::load_profile(name, error);
  if (!options.device_profile) return usage_problem("--device " + error);
  // A file is found from elsewhere too, when the experiment goes on.
  std::error_code failure;
  options.device =
      disk::built_in_profile(name) ? name : std::filesystem::absolute(name, failure).string();
  return {};
}

Expected<void> set_dirty_limit(ExperimentOptions& options, const std::vector<std::string>& values) {
  const auto size = storage::parse_size_bytes(values.front());
  if (!size || *size < kDirtyLimitBytesMin) {
    return wrong_place("dirty-limit", values.front(), "must be a size of at least 256K, e.g. 10M");
  }
  options.dirty_limit_bytes = *size;
  return {};
}

Expected<void> set_fast_fill(ExperimentOptions& options, const std::vector<std::string>& values) {
  const std::string& text = values.front();
  double ratio = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), ratio);
  const bool whole = read.ec == std::errc() && read.ptr == text.data() + text.size();
  if (!whole || !(ratio > 0 && ratio <= kFastFillMax)) {
    return wrong_place("fast-fill", text, "must be a number of cache sizes above 0, e.g. 1.0");
  }
  options.fast_fill = ratio;
  return {};
}

Expected<void> check_device_options(const ExperimentOptions& options) {
  const bool on_devices = std::any_of(
      options.filesystems.begin(), options.filesystems.end(),
      [](const auto& name) { return name == "raw" || find_filesystem_kind(name) != nullptr; });
  const auto check = [&](std::string_view option, const std::string& value) -> Expected<void> {
    if (!options.device_paths.empty()) {
      return wrong_place(option, value,
                         "is for devices that cacheoff makes, not for --device-path");
    }
    if (!on_devices) {
      return wrong_place(option, value,
                         "needs a filesystem that is made on a device; add --filesystem ext2 or "
                         "another of ext2 ext3 ext4 xfs btrfs raw");
    }
    return {};
  };
  if (options.dirty_limit_bytes > 0) {
    auto fits = check("dirty-limit", storage::format_size(options.dirty_limit_bytes));
    if (!fits) return fits;
  }
  if (options.fast_fill > 0) {
    const char* const why = !options.device_profile
                                ? "only modelled disks take no time; add --device"
                            : !options.trace.empty()  ? "a trace has no fill of its own"
                            : !options.phases.empty() ? "the phases say what is measured"
                                                      : nullptr;
    if (why != nullptr) return usage_problem(std::string("--fast-fill: ") + why);
  }
  if (!options.device_profile) return {};
  if (auto fits = check("device", options.device); !fits) return fits;
  const double scale = device_time_scale(options);
  if (!(scale >= kDiskTimeScaleMin && scale <= kDiskTimeScaleMax)) {
    return usage_problem("--time-scale: must lie from 0.001 to 1000 with a modelled disk");
  }
  return {};
}

double device_time_scale(const ExperimentOptions& options) {
  return options.trace.empty() || options.was_given("time-scale") ? options.time_scale : 1;
}

Expected<void> set_user(ExperimentOptions& options, const std::vector<std::string>& values) {
  if (values.front().empty()) return wrong_place("user", "", "must be the name of a user");
  options.user = values.front();
  return {};
}

Expected<void> set_memory(ExperimentOptions& options, const std::vector<std::string>& values) {
  constexpr std::string_view kPageCache = "page-cache=";
  std::string_view text = values.front();
  const bool of_page_cache = text.substr(0, kPageCache.size()) == kPageCache;
  if (of_page_cache) text.remove_prefix(kPageCache.size());
  const auto size = storage::parse_size_bytes(text);
  const uint64_t least = of_page_cache ? kPageCacheBytesMin : kMemoryBytesMin;
  if (!size || *size < least || *size > (uint64_t{1} << 50)) {
    return wrong_place("memory", values.front(),
                       "must be a size of at least 16M, e.g. 64M, or page-cache= and one of at "
                       "least 1M; without it there is no limit");
  }
  options.memory = {};
  (of_page_cache ? options.memory.page_cache_bytes : options.memory.limit_bytes) = *size;
  return {};
}

std::string filesystem_names() {
  std::string names = "here tmpfs";
  for (const auto& kind : filesystem_kinds()) names += " " + std::string(kind.name);
  return names + " raw";
}

bool is_mounted_filesystem(std::string_view name) {
  return name == "tmpfs" || find_filesystem_kind(name) != nullptr;
}

}  // namespace workload
