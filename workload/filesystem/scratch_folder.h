// The folder in which a runner's images, mounts and caches live, and what is done about those of
// runners that were killed.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "workload/experiment/expected.h"
#include "workload/filesystem/run_journal.h"

namespace workload {

/// Set for every program that a runner starts, to the scratch folder's path: by it a later start
/// knows a process that a killed runner left behind.
inline constexpr const char* kRunVariable = "CACHEOFF_RUN";

/// A new scratch folder with a journal. Movable. The destructor removes it with all that is in it;
/// what is mounted below must be gone by then.
class ScratchFolder {
 public:
  /// Makes `directory`/cacheoff-scratch-PID (a number behind it where that is taken) and notes its
  /// place where clean_up_leftovers() looks. One object at a time sets kRunVariable.
  static Expected<ScratchFolder> make(const std::filesystem::path& directory);

  ScratchFolder(ScratchFolder&& other) noexcept;
  ScratchFolder& operator=(ScratchFolder&& other) noexcept;
  ~ScratchFolder();

  /// Absolute and without links.
  const std::filesystem::path& path() const { return path_; }
  RunJournal& journal() { return journal_; }

 private:
  explicit ScratchFolder(RunJournal journal) : journal_(std::move(journal)) {}
  void remove() noexcept;

  std::filesystem::path path_;
  std::filesystem::path note_;  ///< Names the folder in state_folder().
  RunJournal journal_;
};

/// Where runners note the places of their scratch folders: $CACHEOFF_STATE_DIR where that is set,
/// else /run/cacheoff for root, $XDG_RUNTIME_DIR/cacheoff for others, or cacheoff-UID in the
/// temporary folder. Made where it is missing; empty where there is none that is this user's alone.
std::filesystem::path state_folder();

/// A Problem where CACHEOFF_STATE_DIR names what can't be used, so that what a killed runner leaves
/// would not be found again. Without it, whatever there is will do.
Expected<void> check_state_folder();

/// What was done.
struct CleanUp {
  std::vector<std::string> removed;   ///< One line for each folder of a dead runner.
  std::vector<std::string> failures;  ///< One line for each thing that could not be removed.
};

/// Removes what runners that are dead left in these directories and in the places that they noted:
/// ends their processes, unmounts, detaches loop devices, removes images and folders. Folders of
/// runners that live, and of other users, are left alone.
CleanUp clean_up_leftovers(const std::vector<std::filesystem::path>& directories);

}  // namespace workload
