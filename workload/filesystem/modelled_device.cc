#include "workload/filesystem/modelled_device.h"

#include <functional>
#include <optional>
#include <utility>

#include "storage/base/units.h"
#include "workload/filesystem/loop_device.h"

namespace workload {
namespace {

constexpr uint64_t kTriedDiskBytes = 16 * storage::kMiB;

class ModelledDevice final : public CacheDevice {
 public:
  ModelledDevice(ScratchFolder& scratch, std::string name)
      : scratch_(scratch), image_(name + ".img"), folder_(name + ".disk") {}
  ~ModelledDevice() override {
    if (loop_) set_loop_medium(loop_->path(), false);  // It survives the device.
    loop_.reset();
    disk_.reset();
    std::error_code failure;
    if (std::filesystem::remove(scratch_.path() / folder_, failure)) {
      scratch_.journal().is_gone(JournalEntry::Kind::kMount, folder_);
    }
    std::filesystem::remove(scratch_.path() / image_, failure);
    if (!failure) scratch_.journal().is_gone(JournalEntry::Kind::kImage, image_);
  }

  Expected<void> make(DiskProgramRequest request);

  const std::string& path() const override { return loop_->path(); }
  std::string_view kind() const override { return "modelled"; }
  std::string warning() const override {
    if (loop_->has_direct_io()) return {};
    return "the loop device over the modelled disk has no direct I/O: what the cache reads and "
           "writes goes through the page cache twice";
  }
  DiskProgram* modelled_disk() override { return &*disk_; }
  bool is_loop() const override { return true; }

 private:
  ScratchFolder& scratch_;
  std::string image_;
  std::string folder_;
  // The loop device goes first: it uses the disk's file.
  std::optional<DiskProgram> disk_;
  std::optional<LoopDevice> loop_;
};

Expected<void> ModelledDevice::make(DiskProgramRequest request) {
  auto& journal = scratch_.journal();
  if (auto noted = journal.will_make(JournalEntry::Kind::kImage, image_); !noted) return noted;
  if (auto noted = journal.will_make(JournalEntry::Kind::kMount, folder_); !noted) return noted;
  request.image = scratch_.path() / image_;
  request.mount_point = scratch_.path() / folder_;
  // Short, whatever the cell is called: names of sockets are.
  request.control =
      scratch_.path() / ("disk-" + std::to_string(std::hash<std::string>()(folder_)) + ".control");
  std::error_code failure;
  if (!std::filesystem::create_directory(request.mount_point, failure)) {
    return run_problem("can't make the mount point '" + request.mount_point.string() +
                       "': " + (failure ? failure.message() : "it exists already"));
  }
  auto disk = DiskProgram::start(request);
  if (!disk) return disk.error();
  disk_.emplace(std::move(*disk));
  auto loop = LoopDevice::attach(disk_->file());
  if (!loop) return loop.error();
  loop_.emplace(std::move(*loop));
  set_loop_medium(loop_->path(), request.profile.rotating() != nullptr);
  return {};
}

}  // namespace

Expected<std::unique_ptr<CacheDevice>> make_modelled_device(ScratchFolder& scratch,
                                                            const std::string& name,
                                                            DiskProgramRequest request) {
  auto device = std::make_unique<ModelledDevice>(scratch, name);
  if (auto made = device->make(std::move(request)); !made) return made.error();
  return device;
}

std::string why_no_modelled_disk(const std::filesystem::path& program, StopSignals* stop) {
  std::error_code failure;
  if (!std::filesystem::exists(program, failure)) {
    return "a modelled disk needs '" + program.string() +
           "', which is built where libfuse3 (libfuse3-dev) is";
  }
  if (!std::filesystem::exists("/dev/fuse", failure)) {
    return "a modelled disk needs FUSE: there is no /dev/fuse";
  }
  auto scratch = ScratchFolder::make(std::filesystem::temp_directory_path(failure));
  if (!scratch) return scratch.error().text;
  DiskProgramRequest request;
  request.program = program;
  request.profile = *disk::built_in_profile("scsi-2003");
  request.size_bytes = kTriedDiskBytes;
  request.profile_file = scratch->path() / "profile.toml";
  request.log = scratch->path() / "disk.log";
  request.stop = stop;
  const auto device = make_modelled_device(*scratch, "trial", request);
  return device ? std::string() : "no modelled disk can be had: " + device.error().text;
}

}  // namespace workload
