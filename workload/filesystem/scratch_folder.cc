#include "workload/filesystem/scratch_folder.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <set>
#include <thread>

#include "storage/base/units.h"
#include "workload/experiment/machine_stats.h"
#include "workload/experiment/mount_table.h"
#include "workload/filesystem/filesystem_mount.h"
#include "workload/filesystem/loop_device.h"
#include "workload/filesystem/memory_cgroup.h"
#include "workload/filesystem/shared_memory.h"
#include "workload/report/json_text.h"

namespace workload {
namespace {

constexpr std::string_view kScratchPrefix = "cacheoff-scratch-";
constexpr int kNamesMax = 1000;
constexpr uint64_t kJournalBytesMax = 64 << 20;
constexpr uint64_t kNoteBytesMax = 8192;
constexpr auto kDeathTimeMax = std::chrono::seconds(10);
constexpr auto kDeathPause = std::chrono::milliseconds(5);

/// A folder of this user's alone that is no link.
bool is_own_folder(const std::filesystem::path& folder, mode_t forbidden) {
  struct stat status {};
  return lstat(folder.c_str(), &status) == 0 && S_ISDIR(status.st_mode) &&
         status.st_uid == geteuid() && (status.st_mode & forbidden) == 0;
}

/// The number in `cacheoff-scratch-NUMBER` or `cacheoff-scratch-NUMBER.2`.
std::optional<pid_t> pid_in_name(const std::string& name) {
  if (name.rfind(kScratchPrefix, 0) != 0) return std::nullopt;
  const std::string_view rest = std::string_view(name).substr(kScratchPrefix.size());
  const auto pid = storage::parse_count(rest.substr(0, rest.find('.')));
  if (!pid || *pid == 0 || *pid > INT32_MAX) return std::nullopt;
  return static_cast<pid_t>(*pid);
}

bool is_below(const std::string& path, const std::filesystem::path& folder) {
  return path.rfind(folder.string() + "/", 0) == 0;
}

/// A dead runner's folder, held so that no other start clears it up at the same time.
struct DeadRun {
  std::filesystem::path folder;
  OwnedFd lock;
  std::vector<std::string> cgroups;          ///< Made by it, by its journal and by their names.
  std::vector<std::string> shared_memory{};  ///< Likewise.
  std::vector<ProcessIdentity> queue_owners{};
};

/// Nothing where its owner lives, where it is another user's, or where it is no scratch folder.
std::optional<DeadRun> find_dead_run(const std::filesystem::path& folder) {
  const auto pid = pid_in_name(folder.filename().string());
  if (!pid || !is_own_folder(folder, S_IWGRP | S_IWOTH)) return std::nullopt;
  std::error_code failure;
  DeadRun run{std::filesystem::canonical(folder, failure), {}, {}};
  if (failure) return std::nullopt;
  const auto file = folder / RunJournal::kFileName;
  run.lock = OwnedFd(open(file.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
  if (run.lock.get() >= 0 && flock(run.lock.get(), LOCK_EX | LOCK_NB) != 0) return std::nullopt;
  const auto text = run.lock.get() >= 0 ? read_file(file, kJournalBytesMax)
                                        : Expected<std::string>(run_problem("no journal"));
  const auto journal = text ? parse_journal(*text) : text.error();
  // Killed before the journal's first line was there; or the owner is about to write it.
  const bool lives = journal ? is_running(journal->owner) : kill(*pid, 0) == 0 || errno != ESRCH;
  if (lives) return std::nullopt;
  if (!journal) return run;
  for (const auto& entry : journal->left) {
    // A journal that somebody else put there can't name the group of another.
    if (entry.kind == JournalEntry::Kind::kCgroup && cgroup_owner(entry.name) == journal->owner) {
      run.cgroups.push_back(entry.name);
    }
    if (entry.kind == JournalEntry::Kind::kSharedMemory &&
        shared_memory_owner(entry.name) == journal->owner) {
      run.shared_memory.push_back(entry.name);
    }
    const auto process = process_of_name(entry.name);
    if (entry.kind == JournalEntry::Kind::kQueues && process &&
        process->boot_id == journal->owner.boot_id) {
      run.queue_owners.push_back(*process);
    }
  }
  return run;
}

/// Whether a process was started by the dead runner: by its environment, because it works in the
/// folder (nginx writes over its environment), or because it lives among the mounts that only the
/// runner's own processes saw.
bool belongs_to(pid_t pid, const std::filesystem::path& folder) {
  const std::string proc = "/proc/" + std::to_string(pid);
  const std::string variable = std::string(kRunVariable) + "=" + folder.string();
  const std::string environment = '\0' + read_kernel_file(proc + "/environ") + '\0';
  if (environment.find('\0' + variable + '\0') != std::string::npos) return true;
  std::error_code failure;
  const auto place = std::filesystem::read_symlink(proc + "/cwd", failure);
  if (!failure && is_below(place.string(), folder)) return true;
  const auto own = std::filesystem::read_symlink("/proc/self/ns/mnt", failure);
  const auto other = std::filesystem::read_symlink(proc + "/ns/mnt", failure);
  if (failure || own == other) return false;
  const auto mounts = parse_mount_table(read_kernel_file(proc + "/mountinfo"));
  return std::any_of(mounts.begin(), mounts.end(),
                     [&](const MountEntry& entry) { return is_below(entry.mount_point, folder); });
}

std::vector<pid_t> processes_of(const std::filesystem::path& folder) {
  std::vector<pid_t> found;
  for (const auto& entry : storage::kernel_folder_entries("/proc")) {
    const auto pid = storage::parse_count(entry.filename().string());
    if (!pid || *pid == 0 || *pid > INT32_MAX || static_cast<pid_t>(*pid) == getpid()) continue;
    const char state = read_process_state(static_cast<pid_t>(*pid));
    if (state == 0 || state == 'Z') continue;
    if (belongs_to(static_cast<pid_t>(*pid), folder)) found.push_back(static_cast<pid_t>(*pid));
  }
  return found;
}

/// Kills them; they are no children of ours, so their end is awaited by looking.
size_t end_processes(const std::filesystem::path& folder) {
  std::set<pid_t> killed;
  const auto deadline = std::chrono::steady_clock::now() + kDeathTimeMax;
  for (auto left = processes_of(folder); !left.empty(); left = processes_of(folder)) {
    for (const pid_t pid : left) {
      kill(pid, SIGKILL);
      killed.insert(pid);
    }
    if (std::chrono::steady_clock::now() >= deadline) break;
    std::this_thread::sleep_for(kDeathPause);
  }
  return killed.size();
}

std::vector<std::string> mounts_below(const std::filesystem::path& folder) {
  std::vector<std::string> points;
  for (const auto& entry : parse_mount_table(read_kernel_file("/proc/self/mountinfo"))) {
    if (is_below(entry.mount_point, folder)) points.push_back(entry.mount_point);
  }
  // The last one mounted is the first to go.
  std::reverse(points.begin(), points.end());
  return points;
}

std::string counted(size_t count, const char* what) {
  if (count == 0) return {};
  return std::string(", ") + std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

/// The groups that are still there.
std::vector<std::filesystem::path> cgroups_of(const DeadRun& run) {
  std::vector<std::filesystem::path> found;
  if (run.cgroups.empty()) return found;
  const auto hierarchy = find_memory_hierarchy();
  for (const auto& name : run.cgroups) {
    std::error_code failure;
    if (hierarchy && std::filesystem::exists(hierarchy->root / name, failure)) {
      found.push_back(hierarchy->root / name);
    }
  }
  return found;
}

void clear_up(const DeadRun& run, CleanUp& done) {
  const size_t processes = end_processes(run.folder);
  for (const auto& name : run.shared_memory) remove_shared_memory(name);
  for (const auto& owner : run.queue_owners) {
    if (!is_running(owner) && !is_number_of_another(owner)) remove_diskd_queues(owner.pid);
  }
  const auto mounts = mounts_below(run.folder);
  for (const auto& point : mounts) unmount_wherever_used(point);
  const auto loops = loop_devices_over(run.folder);
  for (const auto& loop : loops) {
    // By now the kernel may have let it go by itself.
    const auto detached = detach_loop_device(loop);
    if (!detached) done.failures.push_back(detached.error().text);
  }
  for (const auto& group : cgroups_of(run)) {
    // Its processes must be gone first, and what was mounted is charged to it.
    if (!remove_cgroup(group)) {
      done.failures.push_back("can't remove the group '" + group.string() + "'");
    }
  }
  reset_idle_loop_devices();
  if (!mounts_below(run.folder).empty()) {
    done.failures.push_back("something is still mounted below '" + run.folder.string() + "'");
    return;
  }
  std::error_code failure;
  std::filesystem::remove_all(run.folder, failure);
  if (failure) {
    done.failures.push_back("can't remove '" + run.folder.string() + "': " + failure.message());
    return;
  }
  std::string line = run.folder.string() + counted(processes, "process");
  if (processes > 1) line.insert(line.size() - 1, "e");
  done.removed.push_back(line + counted(mounts.size(), "mount") +
                         counted(loops.size(), "loop device"));
}

/// Scratch folders below a directory.
void add_scratch_folders(const std::filesystem::path& directory,
                         std::set<std::filesystem::path>& found) {
  std::error_code failure;
  for (std::filesystem::directory_iterator entry(directory, failure), end; !failure && entry != end;
       entry.increment(failure)) {
    if (!pid_in_name(entry->path().filename().string())) continue;
    std::error_code gone;
    const auto path = std::filesystem::canonical(entry->path(), gone);
    if (!gone) found.insert(path);
  }
}

/// Folders that runners noted; notes of folders that are gone are removed.
void add_noted_folders(std::set<std::filesystem::path>& found) {
  const auto state = state_folder();
  if (state.empty()) return;
  std::error_code failure;
  for (std::filesystem::directory_iterator entry(state, failure), end; !failure && entry != end;
       entry.increment(failure)) {
    const auto text = read_file(entry->path(), kNoteBytesMax);
    if (!text) continue;
    const std::filesystem::path folder = *text;
    std::error_code gone;
    const auto path = std::filesystem::canonical(folder, gone);
    if (!gone) {
      found.insert(path);
    } else {
      std::filesystem::remove(entry->path(), gone);
    }
  }
}

/// Notes where a scratch folder is. Returns the note's path; empty where none could be made: then
/// the folder is still found by a start in the same directory.
std::filesystem::path note_place(const std::filesystem::path& folder) {
  const auto state = state_folder();
  if (state.empty()) return {};
  const auto note =
      state / (folder.filename().string() + "-" + std::to_string(own_identity().start_ticks));
  return write_file(note, folder.string()) ? note : std::filesystem::path();
}

}  // namespace

std::filesystem::path state_folder() {
  std::filesystem::path folder;
  if (const char* given = std::getenv("CACHEOFF_STATE_DIR"); given != nullptr && given[0] == '/') {
    folder = given;
  } else if (geteuid() == 0) {
    folder = "/run/cacheoff";
  } else if (const char* runtime = std::getenv("XDG_RUNTIME_DIR");
             runtime != nullptr && runtime[0] == '/') {
    folder = std::filesystem::path(runtime) / "cacheoff";
  } else {
    std::error_code failure;
    folder =
        std::filesystem::temp_directory_path(failure) / ("cacheoff-" + std::to_string(geteuid()));
  }
  if (mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) return {};
  return is_own_folder(folder, S_IRWXG | S_IRWXO) ? folder : std::filesystem::path();
}

Expected<void> check_state_folder() {
  const char* given = std::getenv("CACHEOFF_STATE_DIR");
  if (given == nullptr) return {};
  const auto folder = state_folder();
  if (given[0] == '/' && !folder.empty() && access(folder.c_str(), R_OK | W_OK | X_OK) == 0) {
    return {};
  }
  return usage_problem(
      "CACHEOFF_STATE_DIR='" + std::string(given) +
      "': must be the absolute path of a folder that is yours alone (mode 700), or "
      "that can be made");
}

Expected<ScratchFolder> ScratchFolder::make(const std::filesystem::path& directory) {
  if (auto usable = check_state_folder(); !usable) return usable.error();
  std::error_code failure;
  const auto parent = std::filesystem::canonical(directory, failure);
  if (failure) return run_problem("'" + directory.string() + "': " + failure.message());
  const std::string base = std::string(kScratchPrefix) + std::to_string(getpid());
  for (int number = 1; number <= kNamesMax; ++number) {
    const auto path = parent / (number == 1 ? base : base + "." + std::to_string(number));
    // Before the folder is there, so that it is found whenever this process is killed.
    auto note = note_place(path);
    // Others may enter and look, as programs that run as another user must.
    if (mkdir(path.c_str(), 0755) != 0) {
      const int error = errno;
      if (!note.empty()) std::filesystem::remove(note, failure);
      if (error == EEXIST) continue;
      return run_problem("can't make '" + path.string() + "': " + std::strerror(error));
    }
    auto journal = RunJournal::begin(path);
    if (!journal) {
      std::filesystem::remove_all(path, failure);
      return journal.error();
    }
    ScratchFolder scratch(std::move(*journal));
    scratch.path_ = path;
    // Somebody who cleared up meanwhile took it for the note of a folder that is gone.
    scratch.note_ = std::filesystem::exists(note, failure) ? note : note_place(path);
    setenv(kRunVariable, path.c_str(), 1);
    return scratch;
  }
  return run_problem("'" + parent.string() + "' is full of folders named " + base);
}

ScratchFolder::ScratchFolder(ScratchFolder&& other) noexcept : journal_(std::move(other.journal_)) {
  path_ = std::exchange(other.path_, {});
  note_ = std::exchange(other.note_, {});
}

ScratchFolder& ScratchFolder::operator=(ScratchFolder&& other) noexcept {
  if (this == &other) return *this;
  remove();
  path_ = std::exchange(other.path_, {});
  note_ = std::exchange(other.note_, {});
  journal_ = std::move(other.journal_);
  return *this;
}

ScratchFolder::~ScratchFolder() {
  remove();
}

void ScratchFolder::remove() noexcept {
  if (path_.empty()) return;
  // What is still mounted would be emptied, not unmounted: it is left to clean_up_leftovers().
  if (mounts_below(path_).empty()) {
    std::error_code failure;
    std::filesystem::remove_all(path_, failure);
    if (!failure && !note_.empty()) std::filesystem::remove(note_, failure);
  }
  unsetenv(kRunVariable);
  path_.clear();
}

CleanUp clean_up_leftovers(const std::vector<std::filesystem::path>& directories) {
  std::set<std::filesystem::path> folders;
  for (const auto& directory : directories) add_scratch_folders(directory, folders);
  add_noted_folders(folders);
  CleanUp done;
  for (const auto& folder : folders) {
    if (const auto run = find_dead_run(folder)) clear_up(*run, done);
  }
  // Of one that was killed while it only tried whether it could.
  if (const auto hierarchy = find_memory_hierarchy()) remove_dead_cgroups(*hierarchy);
  std::set<std::filesystem::path> ignored;
  add_noted_folders(ignored);  // Forgets those that are gone now.
  return done;
}

}  // namespace workload
