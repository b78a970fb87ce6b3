#include "workload/filesystem/filesystem_mount.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>
#include <utility>

#include "workload/experiment/machine_stats.h"
#include "workload/filesystem/mount_arguments.h"
#include "workload/filesystem/owned_fd.h"

namespace workload {
namespace {

/// How long a filesystem may be busy after its users have ended.
constexpr auto kBusyTimeMax = std::chrono::seconds(5);
constexpr auto kBusyPause = std::chrono::milliseconds(10);

/// What the kernel says about the options, such as `ext4: Unknown parameter 'x'`; empty where it
/// says nothing.
std::string kernel_words(int context) {
  std::string words;
  std::array<char, 1024> line;
  for (int count = 0; count < 16; ++count) {
    const ssize_t got = read(context, line.data(), line.size());
    if (got <= 2) break;
    // `e `, `w ` or `i ` stands before the words.
    std::string text(line.data() + 2, static_cast<size_t>(got) - 2);
    while (!text.empty() && text.back() == '\n') text.pop_back();
    if (line[0] == 'e') words += (words.empty() ? "" : "; ") + text;
  }
  return words;
}

Problem refusal(const MountRequest& request, int number, const std::string& words) {
  const std::string options =
      request.options.empty() ? "" : " with the options '" + request.options + "'";
  return run_problem("the kernel refused to mount " + request.filesystem + options + ": " +
                     (words.empty() ? std::strerror(number) : words));
}

Expected<OwnedFd> open_context(const MountRequest& request) {
  OwnedFd context(fsopen(request.filesystem.c_str(), FSOPEN_CLOEXEC));
  if (context.get() >= 0) return context;
  if (errno == ENODEV) return run_problem("this kernel has no " + request.filesystem);
  if (errno == ENOSYS) return run_problem("mounting needs Linux 5.2 or later");
  return refusal(request, errno, {});
}

/// A mount that is not yet anywhere.
Expected<OwnedFd> detached_mount(const MountRequest& request) {
  auto context = open_context(request);
  if (!context) return context;
  const int fd = context->get();
  const MountArguments arguments = mount_arguments(request.options);
  const auto refused = [&] {
    const int number = errno;
    return refusal(request, number, kernel_words(fd));
  };
  if (fsconfig(fd, FSCONFIG_SET_STRING, "source", request.source.c_str(), 0) != 0) return refused();
  for (const auto& parameter : arguments.parameters) {
    const size_t equals = parameter.find('=');
    const std::string key = parameter.substr(0, equals);
    const int result =
        equals == std::string::npos
            ? fsconfig(fd, FSCONFIG_SET_FLAG, key.c_str(), nullptr, 0)
            : fsconfig(fd, FSCONFIG_SET_STRING, key.c_str(), parameter.c_str() + equals + 1, 0);
    if (result != 0) return refused();
  }
  if (fsconfig(fd, FSCONFIG_CMD_CREATE, nullptr, nullptr, 0) != 0) return refused();
  OwnedFd mounted(fsmount(fd, FSMOUNT_CLOEXEC, arguments.attributes));
  if (mounted.get() < 0) return refused();
  return mounted;
}

/// The options of an ext filesystem in full; the mount table leaves defaults out.
std::vector<std::string> all_ext_options(const std::string& source) {
  const std::string device = source.substr(source.rfind('/') + 1);
  std::string text = read_kernel_file("/proc/fs/ext4/" + device + "/options");
  for (char& c : text) {
    if (c == '\n') c = ',';
  }
  return split_list(text);
}

}  // namespace

std::string why_built_without_mounts() {
  return {};
}

Expected<void> enter_private_mounts() {
  // "Slave": mounts that others make still appear here, ours never appear there.
  if (unshare(CLONE_NEWNS) != 0 ||
      ::mount(nullptr, "/", nullptr, MS_REC | MS_SLAVE, nullptr) != 0) {
    return run_problem(std::string("mounting needs root: ") + std::strerror(errno));
  }
  return {};
}

Expected<void> try_mount(const MountRequest& request) {
  auto mounted = detached_mount(request);
  if (!mounted) return mounted.error();
  return {};
}

Expected<FilesystemMount> FilesystemMount::mount(const MountRequest& request) {
  auto detached = detached_mount(request);
  if (!detached) return detached.error();
  if (move_mount(detached->get(), "", AT_FDCWD, request.mount_point.c_str(),
                 MOVE_MOUNT_F_EMPTY_PATH) != 0) {
    return run_problem("can't mount on '" + request.mount_point.string() +
                       "': " + std::strerror(errno));
  }
  FilesystemMount mounted;
  mounted.mount_point_ = request.mount_point;
  std::error_code failure;
  const auto where = std::filesystem::canonical(request.mount_point, failure);
  const auto entry = mount_of(parse_mount_table(read_kernel_file("/proc/self/mountinfo")), where);
  if (!entry || entry->mount_point != where || entry->filesystem != request.filesystem) {
    return run_problem("the mount table does not show the " + request.filesystem + " on '" +
                       where.string() + "'");
  }
  mounted.options_in_force_ = entry->options_text();
  mounted.outcomes_ = option_outcomes(request.options, *entry, all_ext_options(request.source));
  return mounted;
}

FilesystemMount::FilesystemMount(FilesystemMount&& other) noexcept {
  *this = std::move(other);
}

FilesystemMount& FilesystemMount::operator=(FilesystemMount&& other) noexcept {
  if (this == &other) return *this;
  unmount();
  mount_point_ = std::exchange(other.mount_point_, {});
  options_in_force_ = std::move(other.options_in_force_);
  outcomes_ = std::move(other.outcomes_);
  return *this;
}

FilesystemMount::~FilesystemMount() {
  unmount();
}

void FilesystemMount::unmount() noexcept {
  if (!mount_point_.empty()) unmount_wherever_used(mount_point_);
  mount_point_.clear();
}

void unmount_wherever_used(const std::filesystem::path& mount_point) noexcept {
  const auto deadline = std::chrono::steady_clock::now() + kBusyTimeMax;
  while (umount2(mount_point.c_str(), UMOUNT_NOFOLLOW) != 0 && errno == EBUSY) {
    if (std::chrono::steady_clock::now() >= deadline) {
      umount2(mount_point.c_str(), MNT_DETACH | UMOUNT_NOFOLLOW);
      return;
    }
    std::this_thread::sleep_for(kBusyPause);
  }
}

}  // namespace workload
