#include "tests/support/modelled_disk.h"

#include <fcntl.h>
#include <linux/loop.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <unistd.h>

#include <boost/json/parse.hpp>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <thread>

namespace testing_support {
namespace {

/// From now on this thread's mounts are nobody else's: whoever makes a mount namespace copies the
/// mounts that it sees, and a filesystem that lives on in a copy is mounted again with the state
/// that it had when the power went.
std::string own_mounts() {
  if (::unshare(CLONE_NEWNS) != 0 ||
      ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) {
    return std::string("no mounts of its own can be had: ") + std::strerror(errno);
  }
  return {};
}

}  // namespace

ModelledDisk::ModelledDisk(std::vector<std::string> arguments) {
  if (::geteuid() != 0) {
    problem_ = "a modelled disk needs root";
  } else if (!std::filesystem::exists("/dev/fuse") ||
             !std::filesystem::exists("/dev/loop-control")) {
    problem_ = "a modelled disk needs /dev/fuse and /dev/loop-control";
  } else if (!std::filesystem::exists(program_path("cacheoff-disk"))) {
    problem_ = "cacheoff-disk was not built (libfuse3-dev is missing)";
  } else {
    problem_ = own_mounts();
  }
  if (!problem_.empty()) return;
  const bool shared_memory = std::filesystem::is_directory("/dev/shm");
  image_ = shared_memory ? "/dev/shm/" + folder_.path().filename().string() + ".image"
                         : (folder_ / "image").string();
  std::filesystem::create_directory(folder_ / "mount");
  std::vector<std::string> command{program_path("cacheoff-disk"),
                                   "--image",
                                   image_,
                                   "--mount",
                                   folder_ / "mount",
                                   "--control",
                                   folder_ / "control",
                                   "--end-with-parent"};
  command.insert(command.end(), arguments.begin(), arguments.end());
  disk_ = std::make_unique<Process>(command);
  if (disk_->wait_for_line("serving").empty()) {
    problem_ = "cacheoff-disk did not begin to serve: " + disk_->terminate().err;
  } else if (!attach()) {
    problem_ = "no loop device can be had: " + std::string(std::strerror(errno));
  }
}

ModelledDisk::~ModelledDisk() {
  if (disk_ == nullptr) return;
  control("fast on");
  detach();
  const ProcessResult result = disk_->terminate();
  if (result.exit_status != 0) ::umount2((folder_ / "mount").c_str(), MNT_DETACH);
  std::error_code ignored;
  std::filesystem::remove(image_, ignored);
}

boost::json::object ModelledDisk::control(const std::string& command) const {
  const ProcessResult result = run_command(
      {program_path("cacheoff-disk"), "--control", folder_ / "control", "--send", command});
  boost::system::error_code bad;
  const auto value = boost::json::parse(result.out, bad);
  return !bad && value.is_object() ? value.get_object() : boost::json::object();
}

bool ModelledDisk::attach() {
  const int file = ::open((folder_ / "mount" / "disk").c_str(), O_RDWR | O_CLOEXEC | O_DIRECT);
  const int loops = ::open("/dev/loop-control", O_RDWR | O_CLOEXEC);
  // Another process may take the number first.
  for (int attempt = 0; attempt < 20 && file >= 0 && loops >= 0 && device_fd_ < 0; ++attempt) {
    const int number = ::ioctl(loops, LOOP_CTL_GET_FREE);
    device_ = "/dev/loop" + std::to_string(number);
    device_fd_ = number < 0 ? -1 : ::open(device_.c_str(), O_RDWR | O_CLOEXEC);
    if (device_fd_ < 0) break;
    loop_config config{};
    config.fd = static_cast<__u32>(file);
    // A test that is killed leaves no device behind.
    config.info.lo_flags = LO_FLAGS_DIRECT_IO | LO_FLAGS_AUTOCLEAR;
    if (::ioctl(device_fd_, LOOP_CONFIGURE, &config) == 0) break;
    ::close(device_fd_);
    device_fd_ = -1;
  }
  const int error = errno;
  if (loops >= 0) ::close(loops);
  if (file >= 0) ::close(file);
  errno = error;
  if (device_fd_ < 0) return false;
  // What loop devices come with suits no turning disk.
  set_queue("rotational", "1");
  set_queue("read_ahead_kb", "128");
  set_queue("wbt_lat_usec", "0");
  return true;
}

void ModelledDisk::detach() {
  if (device_fd_ < 0) return;
  // These survive the device, and would be the next one's.
  set_queue("rotational", "0");
  set_queue("read_ahead_kb", "2560");
  set_queue("wbt_lat_usec", "2000");
  ::ioctl(device_fd_, LOOP_CLR_FD, 0);
  ::close(device_fd_);
  device_fd_ = -1;
}

void ModelledDisk::set_queue(const std::string& name, const std::string& value) const {
  std::ofstream("/sys/block/" + device_.substr(5) + "/queue/" + name) << value;
}

MountedFilesystem::MountedFilesystem(const ModelledDisk& disk, std::string type)
    : device_(disk.path()), type_(std::move(type)) {
  const std::string make = "mkfs." + type_;
  if (!command_exists(make)) {
    problem_ = make + " is not installed";
    return;
  }
  const ProcessResult made =
      run_command({make, "-q", type_ == "ext4" ? "-F" : "-f", device_}, std::chrono::minutes(5));
  if (made.exit_status != 0) {
    problem_ = make + " failed: " + made.err;
  } else {
    mount();
  }
}

MountedFilesystem::~MountedFilesystem() {
  if (mounted_ && !unmount()) ::umount2(folder_.path().c_str(), MNT_DETACH);
}

bool MountedFilesystem::unmount() {
  // Whoever looks at mounts (a monitor, a shell's completion) may have it for a moment.
  for (int attempt = 0; mounted_ && attempt < 100; ++attempt) {
    mounted_ = ::umount2(folder_.path().c_str(), 0) != 0;
    if (mounted_) std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  return !mounted_;
}

bool MountedFilesystem::mount() {
  mounted_ = ::mount(device_.c_str(), folder_.path().c_str(), type_.c_str(), 0, nullptr) == 0;
  if (!mounted_) problem_ = "mounting " + type_ + ": " + std::strerror(errno);
  return mounted_;
}

}  // namespace testing_support
