#include "workload/experiment/mount_table.h"

#include <algorithm>
#include <array>
#include <sstream>

#include "storage/base/units.h"
#include "workload/filesystem/mount_arguments.h"

namespace workload {
namespace {

/// Options that the kernel does not show, with those whose presence denies them.
struct SilentDefault {
  std::string_view option;
  std::array<std::string_view, 3> denied_by;
};

constexpr std::array<SilentDefault, 12> kSilentDefaults{{
    {"defaults", {}},
    {"exec", {"noexec"}},
    {"suid", {"nosuid"}},
    {"dev", {"nodev"}},
    {"async", {"sync"}},
    {"atime", {"noatime"}},
    {"diratime", {"nodiratime"}},
    {"norelatime", {"relatime"}},
    {"strictatime", {"relatime", "noatime"}},
    {"nostrictatime", {}},
    {"symfollow", {"nosymfollow"}},
    {"nolazytime", {"lazytime"}},
}};

/// Other ways to write what the kernel shows.
struct OptionAlias {
  std::string_view asked;
  std::string_view shown;
};

constexpr std::array<OptionAlias, 3> kOptionAliases{{
    {"barrier=1", "barrier"},
    {"barrier=0", "nobarrier"},
    {"compress", "compress=zlib"},
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

/// Same text, same size (`512M` and `524288k`) or same number (`mode=755` and `mode=0755`), or the
/// same with a detail that the kernel filled in (`zstd` and `zstd:3`).
bool same_value(std::string_view asked, std::string_view got) {
  if (asked == got) return true;
  if (got.substr(0, asked.size()) == asked && got.substr(asked.size(), 1) == ":") return true;
  const auto asked_size = storage::parse_size_bytes(asked);
  const auto got_size = storage::parse_size_bytes(got);
  return asked_size && got_size && *asked_size == *got_size;
}

std::string_view key_of(std::string_view option) {
  return option.substr(0, option.find('='));
}

/// `nobarrier` of `barrier`, and `barrier` of `nobarrier`.
std::string opposite_of(std::string_view option) {
  return option.substr(0, 2) == "no" ? std::string(option.substr(2)) : "no" + std::string(option);
}

/// Whether a later option says the opposite of the one at `at`, or sets the same anew.
bool is_denied_later(const std::vector<std::string>& options, size_t at) {
  const auto is_of_atime = [](std::string_view option) {
    return option == "atime" || option == "noatime" || option == "relatime" ||
           option == "strictatime";
  };
  const std::string opposite = opposite_of(options[at]);
  return std::any_of(options.begin() + static_cast<std::ptrdiff_t>(at) + 1, options.end(),
                     [&](const std::string& later) {
                       return later == opposite || key_of(later) == key_of(options[at]) ||
                              (is_of_atime(later) && is_of_atime(options[at]));
                     });
}

OptionOutcome outcome_of(const std::string& option, const MountEntry& got,
                         const std::vector<std::string>& shown) {
  OptionOutcome outcome;
  outcome.option = option;
  const auto* alias = std::find_if(kOptionAliases.begin(), kOptionAliases.end(),
                                   [&](const OptionAlias& known) { return known.asked == option; });
  const std::string wanted = alias == kOptionAliases.end() ? option : std::string(alias->shown);
  if (contains(shown, wanted) || is_silent_default(wanted, got)) return outcome;
  const size_t equals = wanted.find('=');
  const auto same_key = std::find_if(shown.begin(), shown.end(), [&](const auto& candidate) {
    return equals != std::string::npos && key_of(candidate) == key_of(wanted);
  });
  if (same_key != shown.end()) {
    const size_t at = same_key->find('=');
    if (at != std::string::npos &&
        same_value(wanted.substr(equals + 1), same_key->substr(at + 1))) {
      return outcome;
    }
    outcome.kind = OptionOutcome::Kind::kChanged;
    outcome.became = *same_key;
  } else if (is_mount_attribute(wanted)) {
    outcome.kind = OptionOutcome::Kind::kIgnored;
  } else if (contains(shown, opposite_of(wanted))) {
    outcome.kind = OptionOutcome::Kind::kChanged;
    outcome.became = opposite_of(wanted);
  } else {
    outcome.kind = OptionOutcome::Kind::kNotShown;
  }
  return outcome;
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

std::string_view OptionOutcome::kind_name() const {
  switch (kind) {
    case Kind::kEffective:
      return "effective";
    case Kind::kChanged:
      return "changed";
    case Kind::kIgnored:
      return "ignored";
    case Kind::kNotShown:
      return "not_shown";
  }
  return {};
}

std::string OptionOutcome::complaint() const {
  const std::string subject = "mount option '" + option + "' ";
  switch (kind) {
    case Kind::kEffective:
      return {};
    case Kind::kChanged:
      return subject + "became '" + became + "'";
    case Kind::kIgnored:
      return subject + "was ignored by the kernel";
    case Kind::kNotShown:
      return subject + "is not shown by the kernel: ignored, or its default";
  }
  return {};
}

std::vector<OptionOutcome> option_outcomes(std::string_view asked, const MountEntry& got,
                                           const std::vector<std::string>& in_full) {
  std::vector<std::string> shown = got.options;
  shown.insert(shown.end(), in_full.begin(), in_full.end());
  std::vector<OptionOutcome> outcomes;
  const auto options = split_list(asked);
  for (size_t i = 0; i < options.size(); ++i) {
    if (!is_denied_later(options, i)) outcomes.push_back(outcome_of(options[i], got, shown));
  }
  return outcomes;
}

std::vector<std::string> option_differences(const std::vector<OptionOutcome>& outcomes) {
  std::vector<std::string> differences;
  for (const auto& outcome : outcomes) {
    if (auto complaint = outcome.complaint(); !complaint.empty()) {
      differences.push_back(std::move(complaint));
    }
  }
  return differences;
}

}  // namespace workload
