#include "workload/filesystem/memory_cgroup.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <sstream>
#include <thread>
#include <utility>

#include "storage/base/units.h"
#include "workload/experiment/machine_stats.h"
#include "workload/filesystem/owned_fd.h"

namespace workload {
namespace {

constexpr std::string_view kGroupPrefix = "cacheoff-";
constexpr auto kGroupEndTimeMax = std::chrono::seconds(10);
constexpr auto kGroupEndPause = std::chrono::milliseconds(5);

/// Kernel files take a value in one write and say by errno what they think of it.
Expected<void> write_group_file(const std::filesystem::path& file, const std::string& value) {
  const OwnedFd fd(open(file.c_str(), O_WRONLY | O_CLOEXEC));
  const bool done = fd.get() >= 0 && write(fd.get(), value.data(), value.size()) ==
                                         static_cast<ssize_t>(value.size());
  if (done) return {};
  return run_problem("can't write " + value + " to '" + file.string() +
                     "': " + std::strerror(errno));
}

std::optional<uint64_t> group_number(const std::filesystem::path& file) {
  std::string text = read_kernel_file(file);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  // Version 2 says so where there is no limit.
  if (text == "max") return UINT64_MAX;
  return storage::parse_count(text);
}

/// The number behind a word at the beginning of a line, as in memory.stat.
std::optional<uint64_t> number_of(const std::string& text, std::string_view key) {
  std::istringstream lines(text);
  std::string word;
  std::string value;
  while (lines >> word >> value) {
    if (word == key) return storage::parse_count(value);
  }
  return std::nullopt;
}

uint64_t without(uint64_t whole, uint64_t part) {
  return whole > part ? whole - part : 0;
}

std::optional<MemoryUse> look_at_version_1(const std::filesystem::path& group) {
  const auto usage = group_number(group / "memory.usage_in_bytes");
  const std::string stat = read_kernel_file(group / "memory.stat");
  const auto rss = number_of(stat, "rss");
  const auto cache = number_of(stat, "cache");
  if (!usage || !rss || !cache) return std::nullopt;
  // What is shared counts as cache here, but can't give way. Old kernels do not tell it apart.
  const uint64_t shared = number_of(stat, "shmem").value_or(0);
  MemoryUse use;
  use.usage_bytes = *usage;
  use.peak_bytes = group_number(group / "memory.max_usage_in_bytes").value_or(0);
  use.page_cache_bytes = without(*cache, shared);
  use.process_bytes = *rss + shared;
  use.kernel_bytes = group_number(group / "memory.kmem.usage_in_bytes").value_or(0);
  use.times_at_limit = group_number(group / "memory.failcnt").value_or(0);
  use.frozen = number_of(read_kernel_file(group / "memory.oom_control"), "under_oom") == 1;
  return use;
}

std::optional<MemoryUse> look_at_version_2(const std::filesystem::path& group) {
  const auto usage = group_number(group / "memory.current");
  const std::string stat = read_kernel_file(group / "memory.stat");
  const auto anonymous = number_of(stat, "anon");
  const auto file = number_of(stat, "file");
  if (!usage || !anonymous || !file) return std::nullopt;
  const uint64_t shared = number_of(stat, "shmem").value_or(0);
  MemoryUse use;
  use.usage_bytes = *usage;
  use.peak_bytes = group_number(group / "memory.peak").value_or(0);
  use.page_cache_bytes = without(*file, shared);
  use.process_bytes = *anonymous + shared;
  // `kernel` has everything but sockets; before 5.18 there are only its parts.
  uint64_t parts = 0;
  for (const char* part : {"slab", "kernel_stack", "pagetables", "percpu"}) {
    parts += number_of(stat, part).value_or(0);
  }
  use.kernel_bytes =
      number_of(stat, "kernel").value_or(parts) + number_of(stat, "sock").value_or(0);
  use.times_at_limit = number_of(read_kernel_file(group / "memory.events"), "high").value_or(0);
  return use;
}

/// Lets the groups below have limits of memory. It stays so: others may have come to need it.
Expected<void> enable_memory_below(const std::filesystem::path& root) {
  std::istringstream enabled(read_kernel_file(root / "cgroup.subtree_control"));
  for (std::string word; enabled >> word;) {
    if (word == "memory") return {};
  }
  return write_group_file(root / "cgroup.subtree_control", "+memory");
}

Expected<void> prepare_group(unsigned version, const std::filesystem::path& group) {
  if (version == 1) {
    if (auto done = write_group_file(group / "memory.oom_control", "1"); !done) return done;
    // Page cache gives way, not the processes. Not every kernel has swapping.
    static_cast<void>(write_group_file(group / "memory.swappiness", "0"));
    return {};
  }
  static_cast<void>(write_group_file(group / "memory.swap.max", "0"));
  return {};
}

std::vector<pid_t> members_of(const std::filesystem::path& group) {
  std::istringstream list(read_kernel_file(group / "cgroup.procs"));
  std::vector<pid_t> members;
  for (pid_t pid = 0; list >> pid;) {
    // 0 stands for one that this process can't see, and is no number to signal.
    if (pid > 0) members.push_back(pid);
  }
  return members;
}

/// Removes the group once its last process is gone, for which it waits a moment.
bool remove_when_empty(const std::filesystem::path& group) noexcept {
  const auto deadline = std::chrono::steady_clock::now() + kGroupEndTimeMax;
  while (rmdir(group.c_str()) != 0) {
    if (errno == ENOENT) return true;
    if (errno != EBUSY || std::chrono::steady_clock::now() >= deadline) return false;
    std::this_thread::sleep_for(kGroupEndPause);
  }
  return true;
}

}  // namespace

Expected<MemoryHierarchy> find_memory_hierarchy(const std::vector<MountEntry>& mounts) {
  for (const auto& mount : mounts) {
    const bool has_memory =
        std::find(mount.options.begin(), mount.options.end(), "memory") != mount.options.end();
    if (mount.filesystem == "cgroup" && has_memory) return MemoryHierarchy{1, mount.mount_point};
  }
  for (const auto& mount : mounts) {
    if (mount.filesystem != "cgroup2") continue;
    const std::filesystem::path root = mount.mount_point;
    std::istringstream controllers(read_kernel_file(root / "cgroup.controllers"));
    for (std::string word; controllers >> word;) {
      if (word == "memory") return MemoryHierarchy{2, root};
    }
  }
  return run_problem("no cgroup hierarchy that limits memory is mounted");
}

Expected<MemoryHierarchy> find_memory_hierarchy() {
  return find_memory_hierarchy(parse_mount_table(read_kernel_file("/proc/self/mountinfo")));
}

Expected<MemoryCgroup> MemoryCgroup::make(const MemoryHierarchy& hierarchy, const std::string& name,
                                          uint64_t limit_bytes) {
  if (hierarchy.version == 2) {
    if (auto done = enable_memory_below(hierarchy.root); !done) return done.error();
  }
  const auto path = hierarchy.root / name;
  if (mkdir(path.c_str(), 0755) != 0 && errno != EEXIST) {
    return run_problem("can't make the group '" + path.string() + "': " + std::strerror(errno));
  }
  MemoryCgroup group(hierarchy.version, path);
  if (auto done = prepare_group(hierarchy.version, path); !done) return done.error();
  if (auto set = group.set_limit(limit_bytes); !set) return set.error();
  return group;
}

MemoryCgroup::MemoryCgroup(MemoryCgroup&& other) noexcept
    : version_(other.version_), path_(std::exchange(other.path_, {})) {}

MemoryCgroup& MemoryCgroup::operator=(MemoryCgroup&& other) noexcept {
  if (this == &other) return *this;
  remove();
  version_ = other.version_;
  path_ = std::exchange(other.path_, {});
  return *this;
}

MemoryCgroup::~MemoryCgroup() {
  remove();
}

void MemoryCgroup::remove() noexcept {
  if (path_.empty()) return;
  // Without it a group lives on unseen, for as long as a page of a log is in memory.
  if (version_ == 1) static_cast<void>(write_group_file(path_ / "memory.force_empty", "0"));
  remove_when_empty(path_);
  path_.clear();
}

Expected<uint64_t> MemoryCgroup::set_limit(uint64_t limit_bytes) {
  const auto file = path_ / (version_ == 1 ? "memory.limit_in_bytes" : "memory.high");
  if (auto done = write_group_file(file, std::to_string(limit_bytes)); !done) return done.error();
  const auto in_force = group_number(file);
  if (!in_force) return run_problem("can't read '" + file.string() + "'");
  return *in_force;
}

std::optional<MemoryUse> MemoryCgroup::look() const {
  return version_ == 1 ? look_at_version_1(path_) : look_at_version_2(path_);
}

std::string cgroup_name() {
  static std::atomic<unsigned> taken{0};
  const ProcessIdentity self = own_identity();
  return std::string(kGroupPrefix) + std::to_string(self.pid) + "-" +
         std::to_string(self.start_ticks) + "-" + std::to_string(++taken);
}

std::optional<ProcessIdentity> cgroup_owner(std::string_view name) {
  if (!name.starts_with(kGroupPrefix)) return std::nullopt;
  const std::string_view rest = name.substr(kGroupPrefix.size());
  const size_t first = rest.find('-');
  const size_t second = first == std::string_view::npos ? first : rest.find('-', first + 1);
  if (second == std::string_view::npos) return std::nullopt;
  const auto pid = storage::parse_count(rest.substr(0, first));
  const auto start = storage::parse_count(rest.substr(first + 1, second - first - 1));
  const auto number = storage::parse_count(rest.substr(second + 1));
  if (!pid || *pid == 0 || *pid > INT32_MAX || !start || !number) return std::nullopt;
  // Groups do not outlive the kernel that made them.
  return ProcessIdentity{static_cast<pid_t>(*pid), *start, own_identity().boot_id};
}

bool remove_cgroup(const std::filesystem::path& path) noexcept {
  for (const pid_t member : members_of(path)) kill(member, SIGKILL);
  return remove_when_empty(path);
}

size_t remove_dead_cgroups(const MemoryHierarchy& hierarchy) noexcept {
  size_t removed = 0;
  std::error_code failure;
  std::vector<std::filesystem::path> dead;
  for (std::filesystem::directory_iterator entry(hierarchy.root, failure), end;
       !failure && entry != end; entry.increment(failure)) {
    const auto owner = cgroup_owner(entry->path().filename().string());
    if (owner && !is_running(*owner)) dead.push_back(entry->path());
  }
  // One that somebody is in stays: its maker may be dead only as seen from here.
  for (const auto& group : dead) removed += rmdir(group.c_str()) == 0 ? 1 : 0;
  return removed;
}

}  // namespace workload
