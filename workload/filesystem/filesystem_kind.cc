#include "workload/filesystem/filesystem_kind.h"

#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <sstream>

#include "storage/base/units.h"
#include "workload/report/json_text.h"

namespace workload {
namespace {

using storage::kMiB;

// With lazy_itable_init the kernel would write inode tables beside the run that is measured.
constexpr std::array<FilesystemKind, 5> kFilesystemKinds{{
    {"ext2",
     "mkfs.ext2",
     "e2fsprogs",
     {"-q", "-F", "-E", "lazy_itable_init=0"},
     "-U",
     "",
     16 * kMiB,
     32 * kMiB},
    {"ext3",
     "mkfs.ext3",
     "e2fsprogs",
     {"-q", "-F", "-E", "lazy_itable_init=0,lazy_journal_init=0"},
     "-U",
     "",
     16 * kMiB,
     96 * kMiB},
    {"ext4",
     "mkfs.ext4",
     "e2fsprogs",
     {"-q", "-F", "-E", "lazy_itable_init=0,lazy_journal_init=0"},
     "-U",
     "",
     16 * kMiB,
     96 * kMiB},
    {"xfs", "mkfs.xfs", "xfsprogs", {"-q", "-f", "", ""}, "-m", "uuid=", 320 * kMiB, 96 * kMiB},
    {"btrfs", "mkfs.btrfs", "btrfs-progs", {"-q", "-f", "", ""}, "-U", "", 256 * kMiB, 256 * kMiB},
}};

constexpr std::string_view kOwnIdPrefix = "cac4e0ff-";
/// A large real device takes its time: the inode tables of ext are written.
constexpr auto kMkfsTimeMax = std::chrono::minutes(30);
constexpr uint64_t kLogBytesMax = 1 << 20;

/// `: TEXT` with the line that says what was wrong: the first one, unless one says ERROR. What
/// follows is mostly how the program is used.
std::string mkfs_complaint(const std::filesystem::path& log) {
  const auto text = read_file(log, kLogBytesMax);
  if (!text) return {};
  std::istringstream lines(*text);
  std::string chosen;
  for (std::string line; std::getline(lines, line);) {
    const bool is_error = line.find("ERROR") != std::string::npos;
    if (chosen.empty() || is_error) chosen = line;
    if (is_error) break;
  }
  return chosen.empty() ? chosen : ": " + chosen;
}

}  // namespace

std::span<const FilesystemKind> filesystem_kinds() {
  return kFilesystemKinds;
}

const FilesystemKind* find_filesystem_kind(std::string_view name) {
  const auto* found = std::find_if(kFilesystemKinds.begin(), kFilesystemKinds.end(),
                                   [&](const FilesystemKind& known) { return known.name == name; });
  return found == kFilesystemKinds.end() ? nullptr : found;
}

uint64_t device_size_bytes(const FilesystemKind& kind, uint64_t cache_bytes) {
  const uint64_t wanted = cache_bytes + cache_bytes / 2 + kind.overhead_bytes;
  return (std::max(wanted, kind.size_bytes_min) + kMiB - 1) / kMiB * kMiB;
}

std::string new_filesystem_id() {
  std::array<unsigned char, 12> dice{};
  size_t got = 0;
  while (got < dice.size()) {
    const ssize_t more = getrandom(dice.data() + got, dice.size() - got, 0);
    if (more > 0) got += static_cast<size_t>(more);
  }
  std::string hex;
  for (const unsigned char byte : dice) {
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x", byte);
    hex += digits;
  }
  // Version 4, variant 1: what a random UUID looks like.
  hex[4] = '4';
  hex[8] = 'a';
  return std::string(kOwnIdPrefix) + hex.substr(0, 4) + "-" + hex.substr(4, 4) + "-" +
         hex.substr(8, 4) + "-" + hex.substr(12, 12);
}

bool is_own_filesystem_id(std::string_view id) {
  return id.size() == 36 && id.substr(0, kOwnIdPrefix.size()) == kOwnIdPrefix;
}

Expected<std::vector<std::string>> mkfs_command(const FilesystemKind& kind,
                                                const std::string& device, std::string_view options,
                                                const std::string& id) {
  std::vector<std::string> command{find_program(kind.program)};
  if (command.front().empty()) {
    return run_problem(std::string(kind.program) + " is not installed (Debian's package " +
                       std::string(kind.package) + ")");
  }
  for (const auto argument : kind.arguments) {
    if (!argument.empty()) command.emplace_back(argument);
  }
  command.emplace_back(kind.id_option);
  command.push_back(std::string(kind.id_prefix) + id);
  for (auto& word : split_words(options)) command.push_back(std::move(word));
  command.push_back(device);
  return command;
}

Expected<void> run_mkfs(const std::vector<std::string>& command, const std::filesystem::path& log,
                        StopSignals* stop) {
  auto child = ChildProcess::start({command, log.string(), log.string()});
  if (!child) return child.error();
  const auto event = ChildWaiter::wait({&*child}, stop, kMkfsTimeMax);
  if (event == ChildWaiter::Event::kStopRequested) return run_problem("stopped by a signal");
  const ChildEnd end = child->stop();
  if (event == ChildWaiter::Event::kTimeout) return run_problem(child->name() + " took too long");
  if (end.exit_status != 0) {
    return run_problem(child->name() + " " + end.text() + mkfs_complaint(log));
  }
  return {};
}

std::string find_program(std::string_view name) {
  const char* path = std::getenv("PATH");
  // Those of root are not in everybody's PATH.
  std::istringstream folders((path != nullptr ? std::string(path) + ":" : "") +
                             "/usr/local/sbin:/usr/sbin:/sbin");
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (folder.empty() || folder.front() != '/') continue;
    const std::string program = folder + "/" + std::string(name);
    if (access(program.c_str(), X_OK) == 0) return program;
  }
  return {};
}

std::vector<std::string> split_words(std::string_view text) {
  std::istringstream in{std::string(text)};
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

}  // namespace workload
