#include "workload/filesystem/shared_memory.h"

#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/shm.h>

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <sstream>
#include <vector>

#include "storage/base/units.h"
#include "workload/experiment/machine_stats.h"

namespace workload {
namespace {

constexpr const char* kSharedMemoryFolder = "/dev/shm";
constexpr std::string_view kNamePrefix = "cacheoff";
constexpr char kSeparator = 'x';
/// Squid's keys and ours: the number of the process, then so many bits for store and kind.
constexpr unsigned kDiskdKeyBits = 10;

/// The identifiers in a table such as /proc/sysvipc/msg whose key is one of that proxy's.
std::vector<int> ids_of_proxy(const char* table, pid_t proxy) {
  std::vector<int> ids;
  std::istringstream lines(read_kernel_file(table));
  std::string line;
  std::getline(lines, line);
  while (std::getline(lines, line)) {
    std::istringstream fields(line);
    int32_t key = 0;
    int id = 0;
    if (!(fields >> key >> id)) continue;
    const auto owner = static_cast<uint32_t>(proxy) << kDiskdKeyBits >> kDiskdKeyBits;
    if (key != 0 && static_cast<uint32_t>(key) >> kDiskdKeyBits == owner) ids.push_back(id);
  }
  return ids;
}

}  // namespace

std::string shared_memory_name() {
  static std::atomic<unsigned> taken{0};
  const ProcessIdentity self = own_identity();
  return std::string(kNamePrefix) + std::to_string(self.pid) + kSeparator +
         std::to_string(self.start_ticks) + kSeparator + std::to_string(++taken) + kSeparator;
}

std::optional<ProcessIdentity> shared_memory_owner(std::string_view name) {
  if (!name.starts_with(kNamePrefix) || !name.ends_with(kSeparator)) return std::nullopt;
  const std::string_view rest = name.substr(kNamePrefix.size());
  const size_t first = rest.find(kSeparator);
  const size_t second = rest.find(kSeparator, first + 1);
  const size_t third =
      second == std::string_view::npos ? second : rest.find(kSeparator, second + 1);
  if (third == std::string_view::npos || third + 1 != rest.size()) return std::nullopt;
  const auto pid = storage::parse_count(rest.substr(0, first));
  const auto start = storage::parse_count(rest.substr(first + 1, second - first - 1));
  const auto number = storage::parse_count(rest.substr(second + 1, third - second - 1));
  if (!pid || *pid == 0 || *pid > INT32_MAX || !start || !number) return std::nullopt;
  // It does not outlive the kernel that keeps it.
  return ProcessIdentity{static_cast<pid_t>(*pid), *start, own_identity().boot_id};
}

size_t remove_shared_memory(std::string_view name) noexcept {
  if (!shared_memory_owner(name)) return 0;
  std::error_code failure;
  std::vector<std::filesystem::path> found;
  for (std::filesystem::directory_iterator entry(kSharedMemoryFolder, failure), end;
       !failure && entry != end; entry.increment(failure)) {
    if (entry->path().filename().string().starts_with(name)) found.push_back(entry->path());
  }
  size_t removed = 0;
  for (const auto& path : found) removed += std::filesystem::remove(path, failure) ? 1 : 0;
  return removed;
}

size_t remove_diskd_queues(pid_t proxy) noexcept {
  size_t removed = 0;
  for (const int id : ids_of_proxy("/proc/sysvipc/msg", proxy)) {
    removed += msgctl(id, IPC_RMID, nullptr) == 0 ? 1 : 0;
  }
  for (const int id : ids_of_proxy("/proc/sysvipc/shm", proxy)) {
    removed += shmctl(id, IPC_RMID, nullptr) == 0 ? 1 : 0;
  }
  return removed;
}

}  // namespace workload
