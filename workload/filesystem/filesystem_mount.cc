#include "workload/experiment/tmpfs_mount.h"

#include <sched.h>
#include <sys/mount.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "workload/experiment/machine_stats.h"
#include "workload/experiment/mount_table.h"

namespace workload {
namespace {

/// Options that the kernel takes as flags and not as text.
struct MountFlag {
  std::string_view option;
  unsigned long set;
  unsigned long clear;
};

constexpr std::array<MountFlag, 20> kMountFlags{{
    {"defaults", 0, 0},
    {"rw", 0, MS_RDONLY},
    {"async", 0, MS_SYNCHRONOUS},
    {"sync", MS_SYNCHRONOUS, 0},
    {"dirsync", MS_DIRSYNC, 0},
    {"exec", 0, MS_NOEXEC},
    {"noexec", MS_NOEXEC, 0},
    {"suid", 0, MS_NOSUID},
    {"nosuid", MS_NOSUID, 0},
    {"dev", 0, MS_NODEV},
    {"nodev", MS_NODEV, 0},
    {"atime", 0, MS_NOATIME},
    {"noatime", MS_NOATIME, MS_RELATIME | MS_STRICTATIME},
    {"diratime", 0, MS_NODIRATIME},
    {"nodiratime", MS_NODIRATIME, 0},
    {"relatime", MS_RELATIME, MS_NOATIME | MS_STRICTATIME},
    {"norelatime", 0, MS_RELATIME},
    {"strictatime", MS_STRICTATIME, MS_NOATIME | MS_RELATIME},
    {"nostrictatime", 0, MS_STRICTATIME},
    {"lazytime", MS_LAZYTIME, 0},
}};

struct MountArguments {
  unsigned long flags = 0;
  std::string data;
};

MountArguments mount_arguments(std::string_view options) {
  MountArguments arguments;
  for (const auto& option : split_list(options)) {
    bool is_flag = false;
    for (const auto& known : kMountFlags) {
      if (known.option != option) continue;
      arguments.flags = (arguments.flags & ~known.clear) | known.set;
      is_flag = true;
    }
    if (!is_flag) arguments.data += (arguments.data.empty() ? "" : ",") + option;
  }
  return arguments;
}

std::string named(std::string_view options) {
  return options.empty() ? "" : " with the options '" + std::string(options) + "'";
}

}  // namespace

Expected<void> enter_private_mounts() {
  // "Slave": mounts that others make still appear here, ours never appear there.
  if (unshare(CLONE_NEWNS) != 0 ||
      ::mount(nullptr, "/", nullptr, MS_REC | MS_SLAVE, nullptr) != 0) {
    return run_problem(std::string("mounting needs root: ") + std::strerror(errno));
  }
  return {};
}

Expected<TmpfsMount> TmpfsMount::mount(const std::filesystem::path& mount_point,
                                       std::string_view options) {
  std::error_code failure;
  if (!std::filesystem::create_directory(mount_point, failure)) {
    return run_problem("can't make the mount point '" + mount_point.string() +
                       "': " + (failure ? failure.message() : "it exists already"));
  }
  const MountArguments arguments = mount_arguments(options);
  if (::mount("cacheoff", mount_point.c_str(), "tmpfs", arguments.flags, arguments.data.c_str()) !=
      0) {
    const int number = errno;
    std::filesystem::remove(mount_point, failure);
    return run_problem("the kernel refused to mount tmpfs" + named(options) + ": " +
                       std::strerror(number));
  }
  TmpfsMount mounted;
  mounted.mount_point_ = mount_point;
  const auto where = std::filesystem::canonical(mount_point, failure);
  const auto entry = mount_of(parse_mount_table(read_kernel_file("/proc/self/mountinfo")), where);
  if (!entry || entry->mount_point != where || entry->filesystem != "tmpfs") {
    return run_problem("the mount table does not show the tmpfs on '" + where.string() + "'");
  }
  mounted.options_in_force_ = entry->options_text();
  mounted.differences_ = option_differences(options, *entry);
  return mounted;
}

TmpfsMount::TmpfsMount(TmpfsMount&& other) noexcept {
  *this = std::move(other);
}

TmpfsMount& TmpfsMount::operator=(TmpfsMount&& other) noexcept {
  if (this == &other) return *this;
  unmount();
  mount_point_ = std::exchange(other.mount_point_, {});
  options_in_force_ = std::move(other.options_in_force_);
  differences_ = std::move(other.differences_);
  return *this;
}

TmpfsMount::~TmpfsMount() {
  unmount();
}

void TmpfsMount::unmount() noexcept {
  if (mount_point_.empty()) return;
  // Whatever still holds a file there keeps it until it ends; nobody finds the mount any more.
  umount2(mount_point_.c_str(), MNT_DETACH);
  std::error_code ignored;
  std::filesystem::remove(mount_point_, ignored);
  mount_point_.clear();
}

}  // namespace workload
