#include "workload/experiment/mount_table.h"

#include <algorithm>
#include <array>
#include <sstream>

#include "storage/base/units.h"

namespace workload {
namespace {

/// Options that the kernel does not show, with those whose presence denies them.
struct SilentDefault {
  std::string_view option;
  std::array<std::string_view, 3> denied_by;
};

constexpr std::array<SilentDefault, 9> kSilentDefaults{{
    {"defaults", {}},
    {"exec", {"noexec"}},
    {"suid", {"nosuid"}},
    {"dev", {"nodev"}},
    {"async", {"sync"}},
    {"atime", {"noatime"}},
    {"diratime", {"nodiratime"}},
    {"norelatime", {"relatime"}},
    {"strictatime", {"relatime", "noatime"}},
}};

std::string unescape(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto is_octal = [&](size_t at) { return text[at] >= '0' && text[at] <= '7'; };
    if (text[i] == '\\' && i + 3 < text.size() && is_octal(i + 1) && is_octal(i + 2) &&
        is_octal(i + 3)) {
      out += static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 +
                               (text[i + 3] - '0'));
      i += 3;
    } else {
      out += text[i];
    }
  }
  return out;
}

bool contains(const std::vector<std::string>& options, std::string_view wanted) {
  return std::find(options.begin(), options.end(), wanted) != options.end();
}

bool is_silent_default(std::string_view option, const MountEntry& got) {
  for (const auto& known : kSilentDefaults) {
    if (known.option != option) continue;
    return std::none_of(known.denied_by.begin(), known.denied_by.end(), [&](std::string_view no) {
      return !no.empty() && contains(got.options, no);
    });
  }
  return false;
}

/// Same text, same size (`512M` and `524288k`) or same number (`mode=755` and `mode=0755`).
bool same_value(std::string_view asked, std::string_view got) {
  if (asked == got) return true;
  const auto asked_size = storage::parse_size_bytes(asked);
  const auto got_size = storage::parse_size_bytes(got);
  return asked_size && got_size && *asked_size == *got_size;
}

bool is_inside(const std::filesystem::path& folder, const std::filesystem::path& mount_point) {
  const auto [end, ignored] =
      std::mismatch(mount_point.begin(), mount_point.end(), folder.begin(), folder.end());
  return end == mount_point.end() || mount_point == "/";
}

}  // namespace

std::string MountEntry::options_text() const {
  std::string out;
  for (const auto& option : options) out += (out.empty() ? "" : ",") + option;
  return out;
}

std::vector<std::string> split_list(std::string_view text) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const size_t comma = text.find(',');
    if (comma != 0) parts.emplace_back(text.substr(0, comma));
    if (comma == std::string_view::npos) break;
    text.remove_prefix(comma + 1);
  }
  return parts;
}

std::vector<MountEntry> parse_mount_table(std::string_view mountinfo) {
  std::vector<MountEntry> table;
  std::istringstream lines{std::string(mountinfo)};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string skipped;
    std::string options;
    std::string super_options;
    MountEntry entry;
    words >> skipped >> skipped >> skipped >> skipped >> entry.mount_point >> options;
    // Optional fields end at a lone dash.
    while (words >> skipped && skipped != "-") {
    }
    words >> entry.filesystem >> entry.source >> super_options;
    if (!words) continue;
    entry.mount_point = unescape(entry.mount_point);
    entry.source = unescape(entry.source);
    entry.options = split_list(options);
    for (auto& option : split_list(super_options)) {
      if (!contains(entry.options, option)) entry.options.push_back(std::move(option));
    }
    table.push_back(std::move(entry));
  }
  return table;
}

std::optional<MountEntry> mount_of(const std::vector<MountEntry>& table,
                                   const std::filesystem::path& folder) {
  std::optional<MountEntry> best;
  for (const auto& entry : table) {
    if (!is_inside(folder, entry.mount_point)) continue;
    if (!best || entry.mount_point.size() >= best->mount_point.size()) best = entry;
  }
  return best;
}

std::vector<std::string> option_differences(std::string_view asked, const MountEntry& got) {
  std::vector<std::string> differences;
  for (const auto& option : split_list(asked)) {
    if (contains(got.options, option) || is_silent_default(option, got)) continue;
    const size_t equals = option.find('=');
    const std::string key = option.substr(0, equals);
    const auto same_key = std::find_if(got.options.begin(), got.options.end(), [&](const auto& o) {
      return equals != std::string::npos && o.substr(0, o.find('=')) == key;
    });
    if (same_key == got.options.end()) {
      differences.push_back("mount option '" + option + "' was ignored by the kernel");
    } else if (const size_t at = same_key->find('=');
               at == std::string::npos ||
               !same_value(option.substr(equals + 1), same_key->substr(at + 1))) {
      differences.push_back("mount option '" + option + "' became '" + *same_key + "'");
    }
  }
  return differences;
}

}  // namespace workload
