// Modelled disks as block devices of a run.
#pragma once

#include <memory>
#include <string>

#include "workload/experiment/expected.h"
#include "workload/filesystem/cache_device.h"
#include "workload/filesystem/disk_program.h"
#include "workload/filesystem/scratch_folder.h"

namespace workload {

/// A modelled disk (cacheoff-disk) under a loop device with direct I/O, with the queue settings of
/// a disk of its kind. Image, mount point and socket lie in the scratch folder under names that
/// begin with `name`; `request` need not say where. The delays are off at first. The destructor
/// gives the loop device back, ends the program and removes the image, in this order.
Expected<std::unique_ptr<CacheDevice>> make_modelled_device(ScratchFolder& scratch,
                                                            const std::string& name,
                                                            DiskProgramRequest request);

/// Why there can be no modelled disks here, found out by making one; empty where there can. Needs
/// root.
std::string why_no_modelled_disk(const std::filesystem::path& program, StopSignals* stop);

}  // namespace workload
