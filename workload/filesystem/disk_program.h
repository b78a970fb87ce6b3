// The program cacheoff-disk as a child of the runner: one modelled disk, and what it is told.
#pragma once

#include <boost/json/object.hpp>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "workload/disk/profile.h"
#include "workload/experiment/child_process.h"
#include "workload/experiment/expected.h"

namespace workload {

/// How a modelled disk is started.
struct DiskProgramRequest {
  std::filesystem::path program;  ///< cacheoff-disk.
  disk::DiskProfile profile;
  uint64_t size_bytes = 0;  ///< Of its image; seeks are those of the profile, whatever the size.
  double time_scale = 1;    ///< The disk is so many times as fast.
  std::filesystem::path image;         ///< Made by the program.
  std::filesystem::path mount_point;   ///< An empty folder.
  std::filesystem::path control;       ///< Where its socket is made.
  std::filesystem::path profile_file;  ///< The profile is written there for the program.
  std::filesystem::path log;           ///< What the program says is appended there.
  StopSignals* stop = nullptr;
};

/// The command that such a request comes to; it begins with the delays off.
std::vector<std::string> disk_command(const DiskProgramRequest& request);

/// A modelled disk that is served. The destructor ends the program, which puts its write cache on
/// the image, and unmounts; whatever used its file must have let it go by then. One thread.
///
/// The program has mounts of its own. Were it among those that keep the filesystem over the disk,
/// and killed as the last of them, the kernel would have it write that filesystem back before it
/// lets go of FUSE: it would wait for answers that only it could give, for ever.
class DiskProgram {
 public:
  /// Starts the program, and waits until its file is there. A Problem has its last words.
  static Expected<DiskProgram> start(const DiskProgramRequest& request);

  DiskProgram(DiskProgram&& other) noexcept;
  DiskProgram& operator=(DiskProgram&&) = delete;
  ~DiskProgram();

  /// The file that is the disk, reached through the program's own mounts.
  std::filesystem::path file() const;
  const DiskProgramRequest& request() const { return request_; }
  std::vector<std::string> command() const { return disk_command(request_); }

  /// Turns the delays off or on. With the delays off all that is under way is done at once.
  Expected<void> set_fast(bool fast);
  /// What `status` answers (docs/modelled-disk.md).
  Expected<boost::json::object> status();
  /// CPU seconds of the program so far.
  double cpu_s() { return child_->cpu_s(); }

 private:
  DiskProgram(const DiskProgramRequest& request, ChildProcess child);
  Expected<boost::json::object> tell(const std::string& command);

  DiskProgramRequest request_;
  std::optional<ChildProcess> child_;
};

}  // namespace workload
