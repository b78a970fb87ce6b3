#include "workload/filesystem/cache_device.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <map>
#include <optional>
#include <sstream>
#include <utility>

#include "storage/base/units.h"
#include "workload/experiment/child_process.h"
#include "workload/filesystem/disk_program.h"
#include "workload/filesystem/filesystem_kind.h"
#include "workload/filesystem/loop_device.h"

namespace workload {
namespace {

constexpr uint64_t kClearedBytes = 4 * storage::kMiB;
constexpr auto kBlkidTimeMax = std::chrono::seconds(60);
constexpr int kNothingFound = 2;  ///< Exit status of blkid.

std::string error_words(int number) {
  return std::strerror(number);
}

class ImageDevice final : public CacheDevice {
 public:
  ImageDevice(ScratchFolder& scratch, std::string name, LoopDevice loop)
      : scratch_(scratch), name_(std::move(name)), loop_(std::move(loop)) {}
  ~ImageDevice() override {
    loop_.reset();
    std::error_code failure;
    std::filesystem::remove(scratch_.path() / name_, failure);
    if (!failure) scratch_.journal().is_gone(JournalEntry::Kind::kImage, name_);
  }

  const std::string& path() const override { return loop_->path(); }
  std::string_view kind() const override { return "image"; }
  std::string warning() const override {
    if (loop_->has_direct_io()) return {};
    return "the filesystem below the images can't do direct I/O: what the cache reads and writes "
           "goes through the page cache twice";
  }
  bool is_loop() const override { return true; }

 private:
  ScratchFolder& scratch_;
  std::string name_;
  std::optional<LoopDevice> loop_;
};

class RealDevice final : public CacheDevice {
 public:
  explicit RealDevice(std::string path) : path_(std::move(path)) {}
  const std::string& path() const override { return path_; }
  std::string_view kind() const override { return "device"; }
  std::string warning() const override { return {}; }

 private:
  std::string path_;
};

Expected<void> make_sparse_file(const std::filesystem::path& file, uint64_t size_bytes) {
  const OwnedFd fd(open(file.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (fd.get() >= 0 && ftruncate(fd.get(), static_cast<off_t>(size_bytes)) == 0) return {};
  return run_problem("can't make the image '" + file.string() + "' of " +
                     storage::format_size(size_bytes) + ": " + error_words(errno));
}

/// Zeros, where an old filesystem or store would be looked for.
bool clear_range(int fd, uint64_t offset, uint64_t length) {
  std::array<uint64_t, 2> range{offset, length};
  return ioctl(fd, BLKZEROOUT, range.data()) == 0;
}

Problem refused(const std::string& path, const std::string& reason) {
  return usage_problem("--device-path '" + path + "': " + reason);
}

}  // namespace

Expected<std::unique_ptr<CacheDevice>> make_image_device(ScratchFolder& scratch,
                                                         const std::string& name,
                                                         uint64_t size_bytes) {
  auto noted = scratch.journal().will_make(JournalEntry::Kind::kImage, name);
  if (!noted) return noted.error();
  const auto file = scratch.path() / name;
  const auto give_up = [&](Problem problem) {
    std::error_code ignored;
    std::filesystem::remove(file, ignored);
    scratch.journal().is_gone(JournalEntry::Kind::kImage, name);
    return problem;
  };
  if (auto made = make_sparse_file(file, size_bytes); !made) return give_up(made.error());
  auto loop = LoopDevice::attach(file);
  if (!loop) return give_up(loop.error());
  return std::make_unique<ImageDevice>(scratch, name, std::move(*loop));
}

Expected<std::unique_ptr<CacheDevice>> open_real_device(const std::string& path,
                                                        uint64_t size_bytes_min) {
  if (auto checked = check_real_device(path); !checked) return checked.error();
  const OwnedFd fd(open(path.c_str(), O_RDWR | O_EXCL | O_CLOEXEC));
  if (fd.get() < 0) return refused(path, error_words(errno));
  const uint64_t size = block_device_size_bytes(path);
  if (size < size_bytes_min) {
    return run_problem("the cache does not fit on '" + path + "': " + storage::format_size(size) +
                       " for " + storage::format_size(size_bytes_min));
  }
  // A device that can't forget blocks says so, and is as good.
  std::array<uint64_t, 2> all{0, size};
  static_cast<void>(ioctl(fd.get(), BLKDISCARD, all.data()));
  const uint64_t cleared = std::min(kClearedBytes, size) / 4096 * 4096;
  const uint64_t last = (size - cleared) / 4096 * 4096;
  if (!clear_range(fd.get(), 0, cleared) || !clear_range(fd.get(), last, cleared)) {
    return run_problem("can't clear '" + path + "': " + error_words(errno));
  }
  return std::make_unique<RealDevice>(path);
}

Expected<void> check_real_device(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) return refused(path, error_words(errno));
  if (!S_ISBLK(status.st_mode)) return refused(path, "is no block device");
  {
    // The kernel knows best who uses it, in other mount namespaces too.
    const OwnedFd fd(open(path.c_str(), O_RDWR | O_EXCL | O_CLOEXEC));
    if (fd.get() < 0) {
      return refused(path, errno == EBUSY ? "is in use (mounted, or part of another device)"
                                          : error_words(errno));
    }
  }
  const std::string blkid = find_program("blkid");
  if (blkid.empty()) {
    return refused(path,
                   "blkid (Debian's package util-linux), which says what it holds, is not "
                   "installed");
  }
  auto child = ChildProcess::start({{blkid, "-p", "-o", "export", path}, "/dev/null", "/dev/null"});
  if (!child) return child.error();
  ChildWaiter::wait({&*child}, nullptr, kBlkidTimeMax);
  const ChildEnd end = child->stop();
  if (end.exit_status == kNothingFound) return {};
  if (end.exit_status != 0) return refused(path, "blkid can't tell what it holds: " + end.text());
  return judge_signature(path, child->output());
}

Expected<void> judge_signature(const std::string& path, std::string_view blkid_output) {
  std::map<std::string, std::string> said;
  std::istringstream lines{std::string(blkid_output)};
  for (std::string line; std::getline(lines, line);) {
    const size_t equals = line.find('=');
    if (equals != std::string::npos) said[line.substr(0, equals)] = line.substr(equals + 1);
  }
  const bool has_table = said.count("PTTYPE") > 0;
  if (!has_table && is_own_filesystem_id(said["UUID"]) &&
      find_filesystem_kind(said["TYPE"]) != nullptr) {
    return {};
  }
  const std::string what = has_table              ? "a partition table (" + said["PTTYPE"] + ")"
                           : said["TYPE"].empty() ? "something that blkid knows"
                                                  : said["TYPE"] + " (UUID " + said["UUID"] + ")";
  return refused(path, "holds " + what + " that cacheoff did not make; clear it with 'wipefs -a " +
                           path + "' if all of it may be lost");
}

boost::json::object describe_cache_device(CacheDevice& device) {
  boost::json::object out{{"path", device.path()},
                          {"kind", device.kind()},
                          {"size_bytes", block_device_size_bytes(device.path())},
                          {"warning", nullptr}};
  if (const std::string warning = device.warning(); !warning.empty()) out["warning"] = warning;
  boost::json::object queue;
  for (const auto& [name, value] : queue_settings(device.path())) queue[name] = value;
  out["queue"] = std::move(queue);
  if (device.is_loop()) {
    const auto limit = dirty_limit_bytes(device.path());
    out["dirty_limit_bytes"] = limit ? boost::json::value(*limit) : nullptr;
  }
  if (const DiskProgram* disk = device.modelled_disk()) {
    out["profile"] = disk->request().profile.name;
    out["time_scale"] = disk->request().time_scale;
  }
  return out;
}

void flush_device(const std::string& path) noexcept {
  const OwnedFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (fd.get() < 0) return;
  fsync(fd.get());
  ioctl(fd.get(), BLKFLSBUF, 0);
}

uint64_t block_device_size_bytes(const std::string& path) {
  const OwnedFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  uint64_t size = 0;
  return fd.get() >= 0 && ioctl(fd.get(), BLKGETSIZE64, &size) == 0 ? size : 0;
}

}  // namespace workload
