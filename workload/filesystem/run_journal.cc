#include "workload/filesystem/run_journal.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <optional>
#include <sstream>

#include "storage/base/units.h"
#include "workload/experiment/machine_stats.h"

namespace workload {
namespace {

constexpr std::string_view kFirstWords = "cacheoff-journal 1";
constexpr size_t kEntriesMax = 1 << 20;

struct KindName {
  JournalEntry::Kind kind;
  std::string_view name;
};

constexpr std::array<KindName, 7> kKindNames{{
    {JournalEntry::Kind::kImage, "image"},
    {JournalEntry::Kind::kMount, "mount"},
    {JournalEntry::Kind::kFolder, "folder"},
    {JournalEntry::Kind::kNode, "node"},
    {JournalEntry::Kind::kCgroup, "cgroup"},
    {JournalEntry::Kind::kSharedMemory, "shared_memory"},
    {JournalEntry::Kind::kQueues, "queues"},
}};

std::string_view name_of(JournalEntry::Kind kind) {
  for (const auto& known : kKindNames) {
    if (known.kind == kind) return known.name;
  }
  return {};
}

bool is_journal_name(std::string_view name) {
  return !name.empty() && name.size() <= 255 && name != "." && name != ".." &&
         std::all_of(name.begin(), name.end(),
                     [](char c) { return c > ' ' && c < 0x7f && c != '/'; });
}

std::string checksum_of(std::string_view words) {
  char text[17];
  std::snprintf(text, sizeof text, "%016llx",
                static_cast<unsigned long long>(XXH3_64bits(words.data(), words.size())));
  return text;
}

/// The words of a line without its checksum; nothing where that is wrong.
std::optional<std::string> checked_words(const std::string& line) {
  const size_t at = line.rfind(' ');
  if (at == std::string::npos) return std::nullopt;
  std::string words = line.substr(0, at);
  if (checksum_of(words) != line.substr(at + 1)) return std::nullopt;
  return words;
}

std::string entry_words(std::string_view verb, JournalEntry::Kind kind, const std::string& name) {
  return std::string(verb) + " " + std::string(name_of(kind)) + " " + name;
}

std::string boot_id() {
  std::string id = read_kernel_file("/proc/sys/kernel/random/boot_id");
  while (!id.empty() && id.back() == '\n') id.pop_back();
  return id;
}

std::string stat_of(pid_t pid) {
  return read_kernel_file("/proc/" + std::to_string(pid) + "/stat");
}

/// Reads `pid=1 start=2 boot=3`.
std::optional<ProcessIdentity> parse_owner(const std::string& words) {
  if (words.rfind(kFirstWords, 0) != 0) return std::nullopt;
  std::istringstream in(words.substr(kFirstWords.size()));
  std::array<std::string, 3> fields;
  for (size_t i = 0; i < fields.size(); ++i) {
    constexpr std::array<std::string_view, 3> kNames{"pid=", "start=", "boot="};
    if (!(in >> fields[i]) || fields[i].rfind(kNames[i], 0) != 0) return std::nullopt;
    fields[i].erase(0, kNames[i].size());
  }
  const auto pid = storage::parse_count(fields[0]);
  const auto start = storage::parse_count(fields[1]);
  if (!pid || *pid == 0 || *pid > INT32_MAX || !start) return std::nullopt;
  return ProcessIdentity{static_cast<pid_t>(*pid), *start, fields[2]};
}

/// Takes one checked line in; false where it says nothing that can be.
bool apply_line(const std::string& words, std::vector<JournalEntry>& left) {
  std::istringstream in(words);
  std::string verb;
  std::string kind_name;
  std::string name;
  std::string more;
  if (!(in >> verb >> kind_name >> name) || in >> more || !is_journal_name(name)) return false;
  const auto* kind = std::find_if(kKindNames.begin(), kKindNames.end(),
                                  [&](const KindName& known) { return known.name == kind_name; });
  if (kind == kKindNames.end()) return false;
  const JournalEntry entry{kind->kind, name};
  if (verb == "make") {
    if (left.size() >= kEntriesMax) return false;
    left.push_back(entry);
    return true;
  }
  if (verb != "gone") return false;
  const auto made = std::find(left.rbegin(), left.rend(), entry);
  if (made != left.rend()) left.erase(std::next(made).base());
  return true;
}

bool append_line(int fd, const std::string& words) {
  const std::string line = words + " " + checksum_of(words) + "\n";
  return write(fd, line.data(), line.size()) == static_cast<ssize_t>(line.size());
}

}  // namespace

uint64_t parse_start_ticks(std::string_view proc_pid_stat) {
  // The program's name stands in parentheses and may hold anything, parentheses included.
  const size_t at = proc_pid_stat.rfind(") ");
  if (at == std::string_view::npos) return 0;
  std::istringstream fields{std::string(proc_pid_stat.substr(at + 2))};
  std::string field;
  // The state is field 3.
  for (int number = 3; number <= 22; ++number) {
    if (!(fields >> field)) return 0;
  }
  return storage::parse_count(field).value_or(0);
}

ProcessIdentity own_identity() {
  return {getpid(), parse_start_ticks(stat_of(getpid())), boot_id()};
}

std::string name_of_process(pid_t pid) {
  return std::to_string(pid) + "-" + std::to_string(parse_start_ticks(stat_of(pid)));
}

std::optional<ProcessIdentity> process_of_name(std::string_view name) {
  const size_t dash = name.find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  const auto pid = storage::parse_count(name.substr(0, dash));
  const auto start = storage::parse_count(name.substr(dash + 1));
  if (!pid || *pid == 0 || *pid > INT32_MAX || !start) return std::nullopt;
  return ProcessIdentity{static_cast<pid_t>(*pid), *start, boot_id()};
}

bool is_running(const ProcessIdentity& process) {
  if (process.boot_id != boot_id()) return false;
  if (kill(process.pid, 0) != 0 && errno == ESRCH) return false;
  const std::string stat = stat_of(process.pid);
  // One that waits to be reaped runs no more.
  return parse_start_ticks(stat) == process.start_ticks && parse_process_state(stat) != 'Z';
}

bool is_number_of_another(const ProcessIdentity& process) {
  const std::string stat = stat_of(process.pid);
  return !stat.empty() && parse_start_ticks(stat) != process.start_ticks;
}

Expected<JournalContent> parse_journal(std::string_view text) {
  std::istringstream lines{std::string(text)};
  std::string line;
  JournalContent content;
  if (!std::getline(lines, line)) return run_problem("the journal is empty");
  const auto first = checked_words(line);
  const auto owner = first ? parse_owner(*first) : std::nullopt;
  if (!owner) return run_problem("the journal does not say whose it is");
  content.owner = *owner;
  while (std::getline(lines, line)) {
    const auto words = checked_words(line);
    if (!words || !apply_line(*words, content.left)) ++content.damaged_lines;
  }
  return content;
}

Expected<RunJournal> RunJournal::begin(const std::filesystem::path& folder) {
  const auto file = folder / kFileName;
  RunJournal journal;
  journal.fd_ = OwnedFd(
      open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600));
  const int fd = journal.fd_.get();
  const ProcessIdentity self = own_identity();
  if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) != 0 ||
      !append_line(fd, std::string(kFirstWords) + " pid=" + std::to_string(self.pid) + " start=" +
                           std::to_string(self.start_ticks) + " boot=" + self.boot_id)) {
    return run_problem("can't write '" + file.string() + "': " + std::strerror(errno));
  }
  return journal;
}

Expected<void> RunJournal::will_make(JournalEntry::Kind kind, const std::string& name) {
  if (!is_journal_name(name)) return run_problem("'" + name + "' is no name for a journal");
  if (append_line(fd_.get(), entry_words("make", kind, name))) return {};
  return run_problem(std::string("can't write the journal of what is made: ") +
                     std::strerror(errno));
}

void RunJournal::is_gone(JournalEntry::Kind kind, const std::string& name) noexcept {
  append_line(fd_.get(), entry_words("gone", kind, name));
}

}  // namespace workload
