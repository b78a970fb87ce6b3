#include "workload/disk/profile_file.h"

#include <toml++/toml.h>
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <set>
#include <sstream>

#include "storage/base/units.h"

namespace workload::disk {
namespace {

constexpr size_t kProfileFileBytesMax = size_t{1} << 20;

template <class Value>
using Choices = std::initializer_list<std::pair<std::string_view, Value>>;

// The keys of each table stand once, here; a ProfileReader or a ProfileWriter goes through them.

template <class Visitor>
void visit_profile_keys(DiskProfile& disk, Visitor& keys) {
  keys.size("size", disk.size_bytes);
  keys.count("queue_depth", disk.queue_depth);
  keys.choice("scheduling", disk.scheduling,
              {{"elevator", Scheduling::kElevator}, {"fifo", Scheduling::kFifo}});
  keys.flag("read_priority", disk.read_priority);
  keys.duration("starvation_limit", disk.starvation_limit);
  keys.duration("command_overhead", disk.command_overhead);
  keys.duration("turnaround", disk.turnaround);
  keys.count("interface_rate", disk.interface_rate);
  keys.size("write_cache", disk.write_cache_bytes);
  keys.duration("destage_delay", disk.destage_delay);
  keys.choice(
      "power_cut", disk.power_cut,
      {{"drop", CutManner::kDrop}, {"tear", CutManner::kTear}, {"reorder", CutManner::kReorder}});
  keys.size("sector", disk.sector_bytes);
}

template <class Visitor>
void visit_profile_keys(RotatingMedium& medium, Visitor& keys) {
  keys.count("rpm", medium.rpm);
  keys.size("track", medium.track_bytes);
  keys.count("tracks_per_cylinder", medium.tracks_per_cylinder);
  keys.duration("seek_settle", medium.seek_settle);
  keys.duration("seek_stroke", medium.seek_stroke);
  keys.size("read_ahead", medium.read_ahead_bytes);
}

template <class Visitor>
void visit_profile_keys(FlashMedium& medium, Visitor& keys) {
  keys.count("channels", medium.channels);
  keys.size("page", medium.page_bytes);
  keys.duration("page_read", medium.page_read);
  keys.duration("page_program", medium.page_program);
}

/// Keeps the first thing that is wrong.
struct ProfileFailure {
  std::string file;
  std::string text;
  void at(const toml::node* node, const std::string& what) {
    if (!text.empty()) return;
    text = file;
    if (node != nullptr && node->source().begin.line != 0) {
      text += ':' + std::to_string(node->source().begin.line);
    }
    text += ": " + what;
  }
};

/// Reads the keys of one table and remembers which ones there are.
class ProfileReader {
 public:
  ProfileReader(const toml::table& table, std::string prefix, ProfileFailure& failure)
      : table_(table), prefix_(std::move(prefix)), failure_(failure) {}

  void count(const char* key, uint64_t& value) {
    const toml::node* const node = find(key);
    if (node == nullptr) return;
    const auto found = node->value_exact<int64_t>();
    if (!found || *found < 0) return fail(node, key, "must be a whole number of 0 or more");
    value = static_cast<uint64_t>(*found);
  }
  void size(const char* key, uint64_t& value) {
    const toml::node* const node = find(key);
    if (node == nullptr) return;
    const auto text = node->value_exact<std::string_view>();
    const auto found = text ? storage::parse_size_bytes(*text) : std::nullopt;
    if (!found) return fail(node, key, "must be a size such as \"64K\"");
    value = *found;
  }
  void duration(const char* key, std::chrono::nanoseconds& value) {
    const toml::node* const node = find(key);
    if (node == nullptr) return;
    const auto text = node->value_exact<std::string_view>();
    const auto found = text ? storage::parse_duration(*text) : std::nullopt;
    if (!found) return fail(node, key, "must be a time such as \"600us\"");
    value = *found;
  }
  void flag(const char* key, bool& value) {
    const toml::node* const node = find(key);
    if (node == nullptr) return;
    const auto found = node->value_exact<bool>();
    if (!found) return fail(node, key, "must be true or false");
    value = *found;
  }
  void text(const char* key, std::string& value) {
    const toml::node* const node = find(key);
    if (node == nullptr) return;
    const auto found = node->value_exact<std::string>();
    if (!found || found->empty()) return fail(node, key, "must be a text");
    value = *found;
  }
  template <class Value>
  void choice(const char* key, Value& value, Choices<Value> choices) {
    const toml::node* const node = find(key);
    if (node == nullptr) return;
    const auto text = node->value_exact<std::string_view>();
    std::string names;
    for (const auto& [name, meaning] : choices) {
      if (text == name) {
        value = meaning;
        return;
      }
      names += (names.empty() ? "\"" : " or \"") + std::string(name) + '"';
    }
    fail(node, key, "must be " + names);
  }

  /// The table under `key`, or nothing.
  const toml::table* table(const char* key) {
    const toml::node* const node = find(key);
    if (node == nullptr) return nullptr;
    if (!node->is_table()) fail(node, key, "must be a table");
    return node->as_table();
  }
  /// Call when every key was visited.
  void refuse_unknown_keys() {
    for (const auto& [key, node] : table_) {
      const std::string name(key.str());
      if (known_.contains(name)) continue;
      std::string right;
      for (const auto& each : known_) right += (right.empty() ? "" : ", ") + each;
      return fail(&node, name.c_str(), "unknown key; right would be one of " + right);
    }
  }
  void fail(const toml::node* node, const char* key, const std::string& what) {
    failure_.at(node, prefix_ + key + ": " + what);
  }

 private:
  const toml::node* find(const char* key) {
    known_.insert(key);
    return table_.get(key);
  }

  const toml::table& table_;
  std::string prefix_;
  ProfileFailure& failure_;
  std::set<std::string> known_;
};

/// A table for one kind of medium; one for a kind that is not the base's begins with that kind's
/// own defaults.
template <class Medium>
bool read_medium(ProfileReader& root, const char* name, DiskProfile& disk,
                 ProfileFailure& failure) {
  const toml::table* const table = root.table(name);
  if (table == nullptr) return false;
  if (!std::holds_alternative<Medium>(disk.medium)) disk.medium = Medium{};
  ProfileReader keys(*table, std::string(name) + '.', failure);
  visit_profile_keys(std::get<Medium>(disk.medium), keys);
  keys.refuse_unknown_keys();
  return true;
}

std::optional<DiskProfile> read_profile(const toml::table& root, ProfileFailure& failure) {
  ProfileReader keys(root, "", failure);
  std::string base = "scsi-2003";
  keys.text("base", base);
  auto disk = built_in_profile(base);
  if (!disk) {
    keys.fail(root.get("base"), "base", "must be one of " + std::string(built_in_profile_names()));
    return std::nullopt;
  }
  keys.text("name", disk->name);
  visit_profile_keys(*disk, keys);
  const bool rotating = read_medium<RotatingMedium>(keys, "rotating", *disk, failure);
  const bool flash = read_medium<FlashMedium>(keys, "flash", *disk, failure);
  if (rotating && flash) {
    keys.fail(root.get("flash"), "flash", "a disk has either [rotating] or [flash]");
  }
  keys.refuse_unknown_keys();
  if (!failure.text.empty()) return std::nullopt;
  if (const auto problem = check_profile(*disk); !problem.empty()) {
    failure.at(root.at_path(problem.substr(0, problem.find(':'))).node(), problem);
    return std::nullopt;
  }
  return disk;
}

class ProfileWriter {
 public:
  explicit ProfileWriter(std::ostream& out) : out_(out) {}
  void count(const char* key, uint64_t value) { out_ << key << " = " << value << '\n'; }
  void size(const char* key, uint64_t value) { out_ << key << " = \"" << value << "\"\n"; }
  void duration(const char* key, std::chrono::nanoseconds value) {
    if (value.count() % 1'000'000'000 == 0) {
      out_ << key << " = \"" << value.count() / 1'000'000'000 << "s\"\n";
    } else {
      // parse_duration() has no nanoseconds, but takes a fraction.
      out_ << key << " = \"" << value.count() / 1000 << '.';
      const std::string rest = std::to_string(value.count() % 1000);
      out_ << std::string(3 - rest.size(), '0') << rest << "us\"\n";
    }
  }
  void flag(const char* key, bool value) { out_ << key << " = " << (value ? "true\n" : "false\n"); }
  template <class Value>
  void choice(const char* key, Value value, Choices<Value> choices) {
    for (const auto& [name, meaning] : choices) {
      if (meaning == value) out_ << key << " = \"" << name << "\"\n";
    }
  }

 private:
  std::ostream& out_;
};

}  // namespace

std::optional<DiskProfile> parse_profile(std::string_view toml, const std::string& file,
                                         std::string& error) {
  ProfileFailure failure{file, {}};
  std::optional<DiskProfile> disk;
  try {
    const toml::table root = toml::parse(toml, file);
    disk = read_profile(root, failure);
    if (root.empty()) {
      failure.text =
          file + ": sets nothing; right would be keys of a disk, e.g. base = \"scsi-2003\"";
    }
  } catch (const toml::parse_error& problem) {
    failure.text = file + ':' + std::to_string(problem.source().begin.line) + ": " +
                   std::string(problem.description());
  }
  if (failure.text.empty()) return disk;
  error = failure.text;
  // Keys may hold any character; a reason is one line nevertheless.
  std::replace_if(
      error.begin(), error.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }, '?');
  return std::nullopt;
}

std::optional<DiskProfile> load_profile(const std::string& name_or_path, std::string& error) {
  if (auto disk = built_in_profile(name_or_path)) return disk;
  // A pipe would be waited for.
  std::error_code failure;
  const bool is_file = std::filesystem::is_regular_file(name_or_path, failure);
  std::ifstream file;
  if (is_file) file.open(name_or_path, std::ios::binary);
  if (!is_file || !file) {
    error = "'" + name_or_path + "': neither a built-in profile (" +
            std::string(built_in_profile_names()) + ") nor a file that can be read";
    return std::nullopt;
  }
  std::string text(kProfileFileBytesMax + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(file.gcount()));
  if (file.bad()) {
    error = name_or_path + ": cannot be read";
    return std::nullopt;
  }
  if (text.size() > kProfileFileBytesMax) {
    error = name_or_path + ": larger than 1 MiB, so no profile";
    return std::nullopt;
  }
  auto disk = parse_profile(text, name_or_path, error);
  if (!disk) return std::nullopt;
  // Results know a disk by its name: another disk than the built-in one has another.
  const auto built_in = built_in_profile(disk->name);
  if (built_in && !(*built_in == *disk)) {
    disk->name = std::filesystem::path(name_or_path).stem().string();
    if (built_in_profile(disk->name)) disk->name += "-changed";
  }
  return disk;
}

std::string profile_to_toml(const DiskProfile& profile) {
  std::ostringstream out;
  DiskProfile disk = profile;
  toml::value<std::string> name(disk.name);
  out << "name = " << name << '\n';
  ProfileWriter keys(out);
  visit_profile_keys(disk, keys);
  if (auto* rotating = std::get_if<RotatingMedium>(&disk.medium)) {
    out << "\n[rotating]\n";
    visit_profile_keys(*rotating, keys);
  } else {
    out << "\n[flash]\n";
    visit_profile_keys(std::get<FlashMedium>(disk.medium), keys);
  }
  return out.str();
}

}  // namespace workload::disk
