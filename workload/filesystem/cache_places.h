// Where the caches of one run live: folders, filesystems on fresh devices, or bare devices.
#pragma once

#include <boost/json/array.hpp>
#include <boost/json/value.hpp>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "workload/experiment/child_process.h"
#include "workload/experiment/expected.h"
#include "workload/experiment/machine_stats.h"
#include "workload/experiment/options.h"
#include "workload/experiment/plan.h"
#include "workload/filesystem/disk_program.h"
#include "workload/filesystem/run_user.h"
#include "workload/filesystem/scratch_folder.h"

namespace workload {

/// What a run's places are made from. All references outlive the places.
struct PlacesRequest {
  const CellPlan& cell;
  const ExperimentOptions& options;
  ScratchFolder& scratch;
  std::string name;             ///< Of this run, for the names in the scratch folder.
  std::filesystem::path log;    ///< What mkfs prints goes there.
  std::optional<RunUser> user;  ///< Who must be able to write.
  StopSignals* stop = nullptr;
  std::filesystem::path disk_program{};  ///< cacheoff-disk, for cells on modelled disks.
};

/// The places of a run. The destructor unmounts, detaches and removes all of it, in the reverse
/// order of making; the programs that used it must have ended.
class CachePlaces {
 public:
  /// Makes one place for each of the cell's disks, each on its own device where the filesystem
  /// needs one; none for a cell without disks. A Problem where one can't be made, or where the
  /// cache does not fit.
  static Expected<std::unique_ptr<CachePlaces>> make(const PlacesRequest& request);

  ~CachePlaces();
  CachePlaces(const CachePlaces&) = delete;
  CachePlaces& operator=(const CachePlaces&) = delete;

  /// Writes back what was made so far, and lets modelled disks take their time from now on: they
  /// are made, formatted and filled with empty stores at once.
  Expected<void> begin_timing();
  /// Ends the delays of modelled disks, so that what is left to be written takes no time.
  void end_timing() noexcept;
  /// The modelled disks, in the order of the places; none where the cell has none.
  std::vector<DiskProgram*> modelled_disks() const;

  /// A --cache-dir path for each disk.
  std::vector<std::string> paths() const;
  /// The block devices below, for their counters; a device below several places is there once.
  std::vector<BlockDevice> devices() const;
  /// One line for each thing that is not as asked for.
  const std::vector<std::string>& warnings() const { return warnings_; }
  /// Options in force as the mount table has them; null where nothing was mounted.
  boost::json::value options_in_force() const;
  /// `{option,outcome,became}` for each mount option that was asked for.
  boost::json::array option_outcomes() const;
  /// What cacheoff made or was given, one object a disk; see describe_cache_device().
  boost::json::array device_descriptions() const;
  /// The commands that were run: mkfs, and the programs of modelled disks.
  const std::vector<std::vector<std::string>>& commands() const { return commands_; }

 private:
  struct Place;

  explicit CachePlaces(const PlacesRequest& request);
  Expected<void> add_place(const PlacesRequest& request, unsigned number);
  Expected<void> add_folder(const PlacesRequest& request, const std::string& name);
  Expected<void> add_raw(const PlacesRequest& request, Place& place, const std::string& name);
  Expected<void> add_filesystem(const PlacesRequest& request, Place& place,
                                const std::string& name);
  Expected<void> open_device(const PlacesRequest& request, Place& place, unsigned number,
                             const std::string& name);
  void limit_dirty(const PlacesRequest& request, const Place& place);

  ScratchFolder& scratch_;
  std::vector<std::unique_ptr<Place>> places_;
  std::vector<std::string> warnings_;
  std::vector<std::vector<std::string>> commands_;
};

/// Bytes of one disk's share of the cache.
uint64_t cache_share_bytes(const CellPlan& cell, uint64_t cache_size_bytes);

/// Size of each device that a cell needs; 0 where it needs none.
uint64_t device_size_of_cell(const CellPlan& cell, uint64_t cache_size_bytes);

/// Whether the cell's caches lie on modelled disks.
bool is_on_modelled_disks(const CellPlan& cell, const ExperimentOptions& options);

/// The --mkfs options for a filesystem; empty where none were given.
std::string mkfs_options_for(const ExperimentOptions& options, const std::string& filesystem);

}  // namespace workload
