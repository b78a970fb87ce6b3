// What a runner makes outside its own memory, written down before it is made, so that a later start
// can clear up after one that was killed.
//
// All of it but groups of processes and shared memory lies in one scratch folder,
// `cacheoff-scratch-PID`, and the journal is a file in there: it is found by the folder's name,
// also after a reboot. Names in the journal never lead out of the folder, and those of groups and
// shared memory hold their owner, so that a journal that somebody else put there can't name what is
// not its own.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "workload/experiment/expected.h"
#include "workload/filesystem/owned_fd.h"

namespace workload {

/// A process that has this number now or had it: numbers are used again, start times are not.
struct ProcessIdentity {
  pid_t pid = 0;
  uint64_t start_ticks = 0;  ///< Since boot, as /proc/PID/stat has it.
  std::string boot_id;       ///< /proc/sys/kernel/random/boot_id.

  bool operator==(const ProcessIdentity&) const = default;
};

/// Field 22 of /proc/PID/stat; 0 where the text is damaged.
uint64_t parse_start_ticks(std::string_view proc_pid_stat);

/// Of the calling process.
ProcessIdentity own_identity();

/// `NUMBER-START` of a process that runs, as is_running() tells it from a later one.
std::string name_of_process(pid_t pid);

/// The process of such a name, of this boot; nothing for any other text.
std::optional<ProcessIdentity> process_of_name(std::string_view name);

/// Whether that very process still runs.
bool is_running(const ProcessIdentity& process);

/// Whether its number belongs to another process by now. One that waits to be reaped still has it.
bool is_number_of_another(const ProcessIdentity& process);

/// Something that was about to be made, in the order of making.
struct JournalEntry {
  enum class Kind {
    kImage,   ///< A file in the folder, under a loop device.
    kMount,   ///< A mount point in the folder.
    kFolder,  ///< A folder in the folder.
    kNode,    ///< A device node in the folder.
    // Outside the folder:
    kCgroup,        ///< A group of processes, by its cgroup_name().
    kSharedMemory,  ///< What begins with this shared_memory_name() in /dev/shm.
    kQueues,        ///< The queues of a Squid with this name_of_process().
  };
  Kind kind = Kind::kImage;
  std::string name;  ///< In the folder: one part, not `.` or `..`.

  bool operator==(const JournalEntry&) const = default;
};

/// What a journal says.
struct JournalContent {
  ProcessIdentity owner;
  std::vector<JournalEntry> left;  ///< Made and not reported gone.
  size_t damaged_lines = 0;
};

/// Reads a journal's text; each line has a checksum, and damaged ones (a torn end, too) are counted
/// and left out. A Problem where the first line does not say whose it is.
Expected<JournalContent> parse_journal(std::string_view text);

/// The journal of this process. Movable. It stays locked (flock) while it is open, which tells
/// others that its owner lives, also from where they can't see the process.
class RunJournal {
 public:
  /// Name of the file in the scratch folder.
  static constexpr const char* kFileName = "journal";

  /// Begins the journal of a new folder.
  static Expected<RunJournal> begin(const std::filesystem::path& folder);

  /// To be called before the thing is made. A Problem where it can't be written down: then it must
  /// not be made. Nothing is forced to the disk: a machine that loses its power loses mounts and
  /// loop devices too, and files are found by their folder.
  Expected<void> will_make(JournalEntry::Kind kind, const std::string& name);

  /// To be called after it was removed.
  void is_gone(JournalEntry::Kind kind, const std::string& name) noexcept;

 private:
  RunJournal() = default;

  OwnedFd fd_;
};

}  // namespace workload
