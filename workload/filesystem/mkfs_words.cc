#include "workload/filesystem/mkfs_words.h"

#include <algorithm>
#include <array>
#include <vector>

#include "workload/filesystem/filesystem_kind.h"

namespace workload {
namespace {

/// Options of one letter, as mke2fs(8), mkfs.xfs(8) and mkfs.btrfs(8) name them.
struct MkfsLetters {
  std::string_view filesystem;
  std::string_view with_value;
  std::string_view alone;
};

constexpr std::array<MkfsLetters, 5> kLetters{{
    {"ext2", "bCEgGiIJmNO", "j"},
    {"ext3", "bCEgGiIJmNO", "j"},
    {"ext4", "bCEgGiIJmNO", "j"},
    {"xfs", "bdilmns", "K"},
    {"btrfs", "bdmnORs", "MK"},
}};

/// Parts of values that name what else there is, by the same pages.
constexpr std::array<std::string_view, 9> kForeignValues{
    "device=", "logdev=",     "rtdev=",  "uuid=",    "file",
    "name=",   "root_owner=", "offset=", "protofile"};

bool names_something_else(std::string_view value) {
  if (value.find('/') != std::string_view::npos) return true;
  return std::any_of(kForeignValues.begin(), kForeignValues.end(), [&](std::string_view part) {
    // At the beginning of the value or of one of its parts.
    for (size_t at = value.find(part); at != std::string_view::npos;
         at = value.find(part, at + 1)) {
      if (at == 0 || value[at - 1] == ',') return true;
    }
    return false;
  });
}

}  // namespace

std::string why_not_mkfs_words(std::string_view filesystem, std::string_view words) {
  const auto* const letters =
      std::find_if(kLetters.begin(), kLetters.end(),
                   [&](const MkfsLetters& each) { return each.filesystem == filesystem; });
  if (letters == kLetters.end()) return "no options are known of its mkfs";
  const auto known = [&] {
    std::string text;
    for (const char letter : std::string(letters->with_value) + std::string(letters->alone)) {
      text += std::string(text.empty() ? "-" : " -") + letter;
    }
    return text;
  };
  bool value_comes = false;
  for (const std::string& word : split_words(words)) {
    std::string_view value;
    if (value_comes) {
      value = word;
      value_comes = false;
      if (value.front() == '-') return "'" + word + "' stands where a value must";
    } else if (word.size() >= 2 && word[0] == '-' &&
               letters->alone.find(word[1]) != std::string_view::npos && word.size() == 2) {
      continue;
    } else if (word.size() >= 2 && word[0] == '-' &&
               letters->with_value.find(word[1]) != std::string_view::npos) {
      value = std::string_view(word).substr(2);
      if (value.empty()) {
        value_comes = true;
        continue;
      }
    } else {
      return "'" + word + "' may not stand there; these options of its mkfs may: " + known();
    }
    if (names_something_else(value)) {
      return "'" + std::string(value) + "' names something else than the filesystem's own device";
    }
  }
  return value_comes ? "the last option lacks its value" : std::string();
}

}  // namespace workload
