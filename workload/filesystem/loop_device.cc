#include "workload/filesystem/loop_device.h"

#include <fcntl.h>
#include <linux/loop.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>
#include <utility>

#include "storage/base/units.h"
#include "workload/experiment/machine_stats.h"

namespace workload {
namespace {

/// Others may take the number that was free just before.
constexpr int kAttemptsMax = 64;
constexpr auto kDetachTimeMax = std::chrono::seconds(10);
constexpr auto kDetachPause = std::chrono::milliseconds(5);

std::filesystem::path sys_folder(const std::string& device) {
  return "/sys/block/" + device.substr(device.rfind('/') + 1);
}

std::string trimmed(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  return text;
}

std::string backing_file(const std::string& device) {
  std::string file = trimmed(read_kernel_file(sys_folder(device) / "loop/backing_file"));
  constexpr std::string_view kRemoved = " (deleted)";
  if (file.size() > kRemoved.size() &&
      file.compare(file.size() - kRemoved.size(), kRemoved.size(), kRemoved) == 0) {
    file.resize(file.size() - kRemoved.size());
  }
  return file;
}

void write_setting(const std::filesystem::path& file, std::string_view value) {
  const OwnedFd fd(open(file.c_str(), O_WRONLY | O_CLOEXEC));
  if (fd.get() < 0) return;
  const ssize_t ignored = write(fd.get(), value.data(), value.size());
  static_cast<void>(ignored);
}

Problem no_loop_device(const char* what) {
  return run_problem(std::string(what) + ": " + std::strerror(errno));
}

}  // namespace

Expected<LoopDevice> LoopDevice::attach(const std::filesystem::path& file) {
  const OwnedFd image(open(file.c_str(), O_RDWR | O_CLOEXEC));
  if (image.get() < 0) return no_loop_device("can't open the image");
  const OwnedFd control(open("/dev/loop-control", O_RDWR | O_CLOEXEC));
  if (control.get() < 0) return no_loop_device("no loop devices (/dev/loop-control)");
  loop_config config{};
  config.fd = static_cast<uint32_t>(image.get());
  // The kernel goes on without direct I/O where the file can't do it.
  config.info.lo_flags = LO_FLAGS_DIRECT_IO | LO_FLAGS_AUTOCLEAR;
  std::strncpy(reinterpret_cast<char*>(config.info.lo_file_name), file.c_str(), LO_NAME_SIZE - 1);
  for (int attempt = 0; attempt < kAttemptsMax; ++attempt) {
    const int number = ioctl(control.get(), LOOP_CTL_GET_FREE);
    if (number < 0) return no_loop_device("no free loop device");
    LoopDevice device;
    device.path_ = "/dev/loop" + std::to_string(number);
    device.fd_ = OwnedFd(open(device.path_.c_str(), O_RDWR | O_CLOEXEC));
    if (device.fd_.get() < 0) return no_loop_device(("can't open " + device.path_).c_str());
    if (ioctl(device.fd_.get(), LOOP_CONFIGURE, &config) == 0) {
      reset_loop_settings(device.path_);
      return device;
    }
    const int number_of_error = errno;
    device.fd_.close();  // It is another's, and must not be detached.
    if (number_of_error != EBUSY) {
      errno = number_of_error;
      return no_loop_device("can't make a loop device");
    }
  }
  errno = EBUSY;
  return no_loop_device("no free loop device");
}

LoopDevice& LoopDevice::operator=(LoopDevice&& other) noexcept {
  if (this != &other) {
    detach();
    fd_ = std::move(other.fd_);
    path_ = std::move(other.path_);
  }
  return *this;
}

LoopDevice::~LoopDevice() {
  detach();
}

void LoopDevice::detach() noexcept {
  if (fd_.get() < 0) return;
  const std::string file = backing_file(path_);
  reset_loop_settings(path_);
  ioctl(fd_.get(), LOOP_CLR_FD, 0);
  fd_.close();
  // Whoever looked at the device just now (udev does) lets it go in a moment.
  const auto deadline = std::chrono::steady_clock::now() + kDetachTimeMax;
  while (!file.empty() && backing_file(path_) == file &&
         std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(kDetachPause);
  }
}

bool LoopDevice::has_direct_io() const {
  return trimmed(read_kernel_file(sys_folder(path_) / "loop/dio")) == "1";
}

std::vector<std::string> loop_devices_over(const std::filesystem::path& folder) {
  std::vector<std::string> found;
  std::error_code gone;
  const std::string inside = folder.string() + "/";
  for (std::filesystem::directory_iterator entry("/sys/block", gone), end; !gone && entry != end;
       entry.increment(gone)) {
    const std::string device = "/dev/" + entry->path().filename().string();
    if (device.rfind("/dev/loop", 0) != 0) continue;
    if (backing_file(device).rfind(inside, 0) == 0) found.push_back(device);
  }
  return found;
}

Expected<void> detach_loop_device(const std::string& path) {
  const std::string file = backing_file(path);
  {
    const OwnedFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (fd.get() < 0) return no_loop_device(("can't open " + path).c_str());
    reset_loop_settings(path);
    if (ioctl(fd.get(), LOOP_CLR_FD, 0) != 0 && errno != ENXIO) {
      return no_loop_device(("can't detach " + path).c_str());
    }
  }
  const auto deadline = std::chrono::steady_clock::now() + kDetachTimeMax;
  while (!file.empty() && backing_file(path) == file) {
    if (std::chrono::steady_clock::now() >= deadline) {
      return run_problem(path + " is still in use and goes with its last user");
    }
    std::this_thread::sleep_for(kDetachPause);
  }
  return {};
}

void set_loop_medium(const std::string& path, bool is_rotating) noexcept {
  const auto queue = sys_folder(path) / "queue";
  write_setting(queue / "rotational", is_rotating ? "1" : "0");
  write_setting(queue / "wbt_lat_usec", "0");
  // The kernel works this out anew with the other.
  write_setting(queue / "read_ahead_kb", "128");
}

Expected<void> limit_dirty_memory(const std::string& path, uint64_t bytes) {
  const auto folder = sys_folder(path) / "bdi";
  write_setting(folder / "strict_limit", "1");
  write_setting(folder / "max_bytes", std::to_string(bytes));
  const auto got = dirty_limit_bytes(path);
  if (!got) {
    return run_problem("the dirty limit could not be set: this kernel has no " +
                       (folder / "max_bytes").string());
  }
  // The kernel keeps a share of memory, which it rounds.
  if (*got > bytes + bytes / 10 || *got < bytes - bytes / 10) {
    return run_problem("the kernel made a dirty limit of " + storage::format_size(*got) + " of " +
                       storage::format_size(bytes));
  }
  return {};
}

std::optional<uint64_t> dirty_limit_bytes(const std::string& path) {
  const auto folder = sys_folder(path) / "bdi";
  if (trimmed(read_kernel_file(folder / "strict_limit")) != "1") return std::nullopt;
  return storage::parse_count(trimmed(read_kernel_file(folder / "max_bytes")));
}

void reset_loop_settings(const std::string& path) noexcept {
  const auto folder = sys_folder(path);
  for (const auto& [name, value] :
       {std::pair<const char*, const char*>{"queue/read_ahead_kb", "128"},
        {"queue/wbt_lat_usec", "-1"},
        {"bdi/strict_limit", "0"},
        {"bdi/min_ratio", "0"},
        {"bdi/max_ratio", "100"}}) {
    write_setting(folder / name, value);
  }
}

void reset_idle_loop_devices() noexcept {
  std::error_code gone;
  for (std::filesystem::directory_iterator entry("/sys/block", gone), end; !gone && entry != end;
       entry.increment(gone)) {
    const std::string device = "/dev/" + entry->path().filename().string();
    if (device.rfind("/dev/loop", 0) != 0 || !backing_file(device).empty()) continue;
    const auto folder = sys_folder(device);
    if (trimmed(read_kernel_file(folder / "bdi/strict_limit")) == "1" ||
        trimmed(read_kernel_file(folder / "queue/wbt_lat_usec")) == "0") {
      reset_loop_settings(device);
    }
  }
}

std::vector<std::pair<std::string, std::string>> queue_settings(const std::string& path) {
  std::error_code failure;
  const auto resolved = std::filesystem::canonical(path, failure);
  auto folder =
      std::filesystem::canonical("/sys/class/block/" + resolved.filename().string(), failure);
  // A partition's queue is that of the disk above it.
  if (!std::filesystem::exists(folder / "queue", failure)) folder = folder.parent_path();
  std::vector<std::pair<std::string, std::string>> settings;
  for (const char* name : {"read_ahead_kb", "scheduler", "rotational", "wbt_lat_usec",
                           "nr_requests", "logical_block_size", "write_cache"}) {
    auto value = trimmed(read_kernel_file(folder / "queue" / name));
    if (!value.empty()) settings.emplace_back(name, std::move(value));
  }
  return settings;
}

}  // namespace workload
