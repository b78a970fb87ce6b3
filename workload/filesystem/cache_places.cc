#include "workload/filesystem/cache_places.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "storage/base/filesystem_sync.h"
#include "storage/base/units.h"
#include "workload/experiment/place_options.h"
#include "workload/filesystem/cache_device.h"
#include "workload/filesystem/filesystem_kind.h"
#include "workload/filesystem/filesystem_mount.h"
#include "workload/filesystem/loop_device.h"
#include "workload/filesystem/modelled_device.h"
#include "workload/filesystem/owned_fd.h"

namespace workload {
namespace {

/// A scheme's own tables on a bare device, beside the capacity.
constexpr uint64_t kRawOverheadBytes = 64 * storage::kMiB;

uint64_t free_bytes_below(const std::filesystem::path& folder) {
  struct statvfs status {};
  if (statvfs(folder.c_str(), &status) != 0) return UINT64_MAX;
  return uint64_t{status.f_bavail} * status.f_frsize;
}

Expected<void> check_room(const std::filesystem::path& folder, uint64_t wanted_bytes,
                          const std::string& what) {
  const uint64_t free_bytes = free_bytes_below(folder);
  if (free_bytes >= wanted_bytes) return {};
  return run_problem(what + " not fit: " + storage::format_size(free_bytes) + " free for " +
                     storage::format_size(wanted_bytes));
}

/// Of the disk with that number, from 0. What the program is told and says is kept with the run.
DiskProgramRequest disk_request(const PlacesRequest& request, unsigned number) {
  const auto folder = request.log.parent_path();
  const std::string name = "disk" + std::to_string(number + 1);
  DiskProgramRequest disk;
  disk.program = request.disk_program;
  disk.profile = *request.options.device_profile;
  disk.size_bytes = device_size_of_cell(request.cell, request.options.cache_size_bytes);
  disk.time_scale = device_time_scale(request.options);
  disk.profile_file = folder / "disk_profile.toml";
  disk.log = folder / (name + ".log");
  disk.stop = request.stop;
  return disk;
}

}  // namespace

/// One disk. Members end in the reverse order: the mount goes before the device.
struct CachePlaces::Place {
  Place(ScratchFolder& scratch_in) : scratch(scratch_in) {}
  ~Place() {
    mount.reset();
    std::error_code failure;
    if (!name.empty()) {
      std::filesystem::remove_all(scratch.path() / name, failure);
      if (!failure) scratch.journal().is_gone(entry_kind, name);
    }
  }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;

  ScratchFolder& scratch;
  std::unique_ptr<CacheDevice> device;
  std::string name;  ///< Of the folder, mount point or node; empty before it is made.
  JournalEntry::Kind entry_kind = JournalEntry::Kind::kFolder;
  std::optional<FilesystemMount> mount;
  std::string cache_path;
};

CachePlaces::CachePlaces(const PlacesRequest& request) : scratch_(request.scratch) {}

CachePlaces::~CachePlaces() {
  end_timing();
  while (!places_.empty()) places_.pop_back();
}

Expected<std::unique_ptr<CachePlaces>> CachePlaces::make(const PlacesRequest& request) {
  std::unique_ptr<CachePlaces> places(new CachePlaces(request));
  if (request.cell.disks == 0) return places;
  const uint64_t device_bytes = device_size_of_cell(request.cell, request.options.cache_size_bytes);
  // A sparse image that finds no room would be an I/O error of the device, in mid-run.
  if (device_bytes > 0 && request.options.device_paths.empty()) {
    auto checked = check_room(request.scratch.path(), device_bytes * request.cell.disks,
                              request.cell.disks == 1 ? "the image does" : "the images do");
    if (!checked) return checked.error();
  }
  for (unsigned number = 0; number < request.cell.disks; ++number) {
    if (auto done = places->add_place(request, number); !done) return done.error();
  }
  return places;
}

Expected<void> CachePlaces::add_place(const PlacesRequest& request, unsigned number) {
  const std::string& filesystem = request.cell.filesystem;
  const std::string name =
      request.name + (request.cell.disks == 1 ? "" : "." + std::to_string(number + 1));
  if (filesystem == "here") return add_folder(request, name);
  places_.push_back(std::make_unique<Place>(scratch_));
  Place& place = *places_.back();
  if (filesystem == "tmpfs") return add_filesystem(request, place, name);
  if (auto done = open_device(request, place, number, name); !done) return done;
  return filesystem == "raw" ? add_raw(request, place, name) : add_filesystem(request, place, name);
}

Expected<void> CachePlaces::open_device(const PlacesRequest& request, Place& place, unsigned number,
                                        const std::string& name) {
  const uint64_t size = device_size_of_cell(request.cell, request.options.cache_size_bytes);
  const auto& real = request.options.device_paths;
  auto device = is_on_modelled_disks(request.cell, request.options)
                    ? make_modelled_device(request.scratch, name, disk_request(request, number))
                : real.empty() ? make_image_device(request.scratch, name + ".img", size)
                               : open_real_device(real[number], size);
  if (!device) return device.error();
  place.device = std::move(*device);
  if (const DiskProgram* disk = place.device->modelled_disk()) {
    commands_.push_back(disk->command());
  }
  if (auto warning = place.device->warning(); !warning.empty()) {
    warnings_.push_back(std::move(warning));
  }
  return {};
}

Expected<void> CachePlaces::add_folder(const PlacesRequest& request, const std::string& name) {
  places_.push_back(std::make_unique<Place>(scratch_));
  Place& place = *places_.back();
  auto noted = scratch_.journal().will_make(place.entry_kind, name);
  if (!noted) return noted;
  const auto folder = scratch_.path() / name;
  std::error_code failure;
  if (!std::filesystem::create_directory(folder, failure)) {
    return run_problem("can't make '" + folder.string() +
                       "': " + (failure ? failure.message() : "it exists already"));
  }
  place.name = name;
  place.cache_path = folder.string();
  if (auto done = give_to(request.user, folder); !done) return done;
  return check_room(folder, cache_share_bytes(request.cell, request.options.cache_size_bytes),
                    "the cache does");
}

Expected<void> CachePlaces::add_raw(const PlacesRequest& request, Place& place,
                                    const std::string& name) {
  place.cache_path = place.device->path();
  if (!request.user) return {};
  // A node of its own, so that the device's own keeps its owner.
  place.entry_kind = JournalEntry::Kind::kNode;
  auto noted = scratch_.journal().will_make(place.entry_kind, name);
  if (!noted) return noted;
  const auto node = scratch_.path() / name;
  struct stat status {};
  if (stat(place.device->path().c_str(), &status) != 0 ||
      mknod(node.c_str(), S_IFBLK | 0600, status.st_rdev) != 0) {
    return run_problem("can't make the device node '" + node.string() +
                       "': " + std::strerror(errno));
  }
  place.name = name;
  place.cache_path = node.string();
  return give_to(request.user, node);
}

Expected<void> CachePlaces::add_filesystem(const PlacesRequest& request, Place& place,
                                           const std::string& name) {
  MountRequest mount{request.cell.filesystem, "cacheoff", scratch_.path() / name,
                     request.cell.mount_options};
  if (place.device) {
    const FilesystemKind& kind = *find_filesystem_kind(request.cell.filesystem);
    mount.source = place.device->path();
    auto command =
        mkfs_command(kind, mount.source, mkfs_options_for(request.options, mount.filesystem),
                     new_filesystem_id());
    if (!command) return command.error();
    commands_.push_back(*command);
    if (auto made = run_mkfs(*command, request.log, request.stop); !made) return made;
    flush_device(mount.source);
    limit_dirty(request, place);
  }
  place.entry_kind = JournalEntry::Kind::kMount;
  auto noted = scratch_.journal().will_make(place.entry_kind, name);
  if (!noted) return noted;
  std::error_code failure;
  if (!std::filesystem::create_directory(mount.mount_point, failure)) {
    return run_problem("can't make the mount point '" + mount.mount_point.string() +
                       "': " + (failure ? failure.message() : "it exists already"));
  }
  place.name = name;
  auto mounted = FilesystemMount::mount(mount);
  if (!mounted) return mounted.error();
  place.mount = std::move(*mounted);
  for (auto& line : option_differences(place.mount->outcomes())) {
    if (std::find(warnings_.begin(), warnings_.end(), line) == warnings_.end()) {
      warnings_.push_back(std::move(line));
    }
  }
  // Not the root itself: some filesystems have a folder of their own there.
  const auto folder = mount.mount_point / "cache";
  if (!std::filesystem::create_directory(folder, failure)) {
    return run_problem("can't make '" + folder.string() + "': " + failure.message());
  }
  place.cache_path = folder.string();
  if (auto done = give_to(request.user, folder); !done) return done;
  return check_room(folder, cache_share_bytes(request.cell, request.options.cache_size_bytes),
                    "the cache does");
}

void CachePlaces::limit_dirty(const PlacesRequest& request, const Place& place) {
  const uint64_t bytes = request.options.dirty_limit_bytes;
  if (bytes == 0 || !place.device->is_loop()) return;
  const auto done = limit_dirty_memory(place.device->path(), bytes);
  if (!done) warnings_.push_back(done.error().text);
  if (request.cell.filesystem == "btrfs") {
    warnings_.emplace_back(
        "btrfs writes back by an account of its own: the dirty limit of the "
        "device does not hold it");
  }
}

Expected<void> CachePlaces::begin_timing() {
  for (const auto& place : places_) {
    if (!place->device) continue;
    DiskProgram* const disk = place->device->modelled_disk();
    if (disk == nullptr) continue;
    if (place->mount) {
      const OwnedFd fd(open(place->cache_path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
      if (fd.get() < 0 || storage::sync_filesystem(fd.get()) != 0) {
        return run_problem("can't write back '" + place->cache_path + "': " + std::strerror(errno));
      }
    }
    // Again: that the file takes no discards, which mkfs tries, makes the kernel work the
    // read-ahead out anew.
    set_loop_medium(place->device->path(), disk->request().profile.rotating() != nullptr);
    if (auto done = disk->set_fast(false); !done) return done;
  }
  return {};
}

void CachePlaces::end_timing() noexcept {
  for (DiskProgram* const disk : modelled_disks()) {
    // One that is gone has no delays any more.
    static_cast<void>(disk->set_fast(true));
  }
}

std::vector<DiskProgram*> CachePlaces::modelled_disks() const {
  std::vector<DiskProgram*> out;
  for (const auto& place : places_) {
    DiskProgram* const disk = place->device ? place->device->modelled_disk() : nullptr;
    if (disk != nullptr) out.push_back(disk);
  }
  return out;
}

std::vector<std::string> CachePlaces::paths() const {
  std::vector<std::string> out;
  for (const auto& place : places_) out.push_back(place->cache_path);
  return out;
}

std::vector<BlockDevice> CachePlaces::devices() const {
  std::vector<BlockDevice> out;
  for (const auto& place : places_) {
    const auto device = block_device_of(place->cache_path);
    const bool is_new = device && std::none_of(out.begin(), out.end(), [&](const auto& known) {
                          return known.major == device->major && known.minor == device->minor;
                        });
    if (is_new) out.push_back(*device);
  }
  return out;
}

boost::json::value CachePlaces::options_in_force() const {
  for (const auto& place : places_) {
    if (place->mount) return boost::json::value(place->mount->options_in_force());
  }
  return nullptr;
}

boost::json::array CachePlaces::option_outcomes() const {
  boost::json::array out;
  for (const auto& place : places_) {
    if (!place->mount) continue;
    // All disks have the same filesystem and the same options.
    for (const auto& outcome : place->mount->outcomes()) {
      boost::json::object row{
          {"option", outcome.option}, {"outcome", outcome.kind_name()}, {"became", nullptr}};
      if (!outcome.became.empty()) row["became"] = outcome.became;
      out.emplace_back(std::move(row));
    }
    break;
  }
  return out;
}

boost::json::array CachePlaces::device_descriptions() const {
  boost::json::array out;
  for (const auto& place : places_) {
    if (place->device) out.emplace_back(describe_cache_device(*place->device));
  }
  return out;
}

uint64_t cache_share_bytes(const CellPlan& cell, uint64_t cache_size_bytes) {
  return cell.disks > 1 ? cache_size_bytes / cell.disks : cache_size_bytes;
}

uint64_t device_size_of_cell(const CellPlan& cell, uint64_t cache_size_bytes) {
  const uint64_t share = cache_share_bytes(cell, cache_size_bytes);
  if (cell.disks == 0) return 0;
  if (cell.filesystem == "raw") return share + kRawOverheadBytes;
  const FilesystemKind* kind = find_filesystem_kind(cell.filesystem);
  return kind == nullptr ? 0 : device_size_bytes(*kind, share);
}

bool is_on_modelled_disks(const CellPlan& cell, const ExperimentOptions& options) {
  return options.device_profile && device_size_of_cell(cell, options.cache_size_bytes) > 0;
}

std::string mkfs_options_for(const ExperimentOptions& options, const std::string& filesystem) {
  const auto found = options.mkfs_options.find(filesystem);
  return found == options.mkfs_options.end() ? std::string() : found->second;
}

}  // namespace workload
