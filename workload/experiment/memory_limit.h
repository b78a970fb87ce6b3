// The memory of the system under test: held to a limit for one run, and watched.
//
// The limit is that of all memory together: of the processes, of the kernel on their behalf, and of
// the page cache, which gives way. Where the processes' own memory comes so near to it that no page
// cache could be left, the limit is raised, since the alternatives are a run that stands still and
// one that is killed.
#pragma once

#include <boost/json/object.hpp>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "workload/experiment/expected.h"
#include "workload/experiment/memory_demand.h"
#include "workload/filesystem/memory_cgroup.h"
#include "workload/filesystem/run_journal.h"

namespace workload {

/// What is decided from look to look, without a clock or a group.
class LimitFollower {
 public:
  explicit LimitFollower(MemoryDemand demand);

  /// The limit to begin with.
  uint64_t first_limit_bytes() const;

  /// The limit that should be in force after this look. Of all memory: the one asked for, or what
  /// the processes have and the allowance for kernel memory and pages in use; a frozen group is
  /// released, as each look at one doubles the allowance. Of the page cache: what the processes
  /// have and as much as was asked for; room to grow as much again as they and the kernel did since
  /// the last look, since the kernel refuses sockets and inodes to a group that is full; and more
  /// where it is frozen.
  uint64_t limit_after(const MemoryUse& use);

  /// What is left to kernel and page cache where the limit is raised, in bytes: a quarter of the
  /// limit asked for, at most 16 MiB; or the page cache asked for.
  uint64_t allowance_bytes() const { return allowance_bytes_; }

 private:
  MemoryDemand demand_;
  /// Of the last look: processes and kernel together.
  uint64_t last_own_bytes_ = 0;
  uint64_t allowance_bytes_;
};

/// What was seen over a run.
struct MemoryAccount {
  uint64_t asked_bytes = 0;             ///< 0 where the page cache alone is limited.
  uint64_t page_cache_asked_bytes = 0;  ///< 0 where it is not.
  uint64_t limit_bytes = 0;             ///< In force at first, as the kernel gave it back.
  uint64_t limit_max_bytes = 0;         ///< The highest that was in force.
  uint64_t raised = 0;                  ///< How often it was raised.
  uint64_t frozen = 0;                  ///< Looks at which the group stood still.
  uint64_t looks = 0;                   ///< Between begin() and end().
  double page_cache_sum_bytes = 0;
  double process_sum_bytes = 0;
  uint64_t process_peak_bytes = 0;
  uint64_t usage_peak_bytes = 0;  ///< As the kernel says, or the most seen.
  MemoryUse last;                 ///< The last look until end().
  unsigned version = 1;
  std::string failure;  ///< Why the group could not be followed; empty where it could.
};

/// The `memory` object of a run, keys as in docs/experiments.md.
boost::json::object memory_to_json(const MemoryAccount& account);

/// One line for each thing that is not as asked for.
std::vector<std::string> memory_warnings(const MemoryAccount& account);

/// By how much the most that was used lies above the limit asked for, as a share of it; 0 where it
/// does not.
double memory_excess(const MemoryAccount& account);

/// A group with a limit, looked at twenty times a second by a thread of its own until the object
/// goes. Processes in it must be gone by then.
class MemoryLimit {
 public:
  /// The group is written down in the journal, which must outlive the object.
  static Expected<std::unique_ptr<MemoryLimit>> make(MemoryDemand demand, RunJournal& journal);

  ~MemoryLimit();
  MemoryLimit(const MemoryLimit&) = delete;
  MemoryLimit& operator=(const MemoryLimit&) = delete;

  /// For ChildOptions::group_file.
  std::string entrance() const { return group_->entrance().string(); }
  /// Means are over the time from begin() to end(), when the load is on. A limit of the page cache
  /// holds from begin() on: what makes the stores ready may use what it needs.
  void begin();
  void end();
  MemoryAccount account() const;

 private:
  MemoryLimit(MemoryDemand demand, RunJournal& journal);
  void follow();
  void look();

  RunJournal& journal_;
  const std::string name_;
  LimitFollower follower_;
  std::optional<MemoryCgroup> group_;
  mutable std::mutex mutex_;  ///< Over what is below.
  std::condition_variable wake_;
  MemoryAccount account_;
  uint64_t limit_bytes_ = 0;  ///< Now in force.
  bool load_is_on_ = false;
  bool load_is_over_ = false;
  bool ending_ = false;
  std::thread thread_;
};

/// Why this user can't limit memory here; empty where one can. Makes a group and removes it.
std::string why_no_memory_limit();

/// That the page cache has room for the whole cache, in one line; empty where it has not.
/// Without a limit the free memory of the machine decides.
std::string page_cache_warning(const MemoryDemand& demand, uint64_t free_bytes,
                               uint64_t cache_size_bytes);

}  // namespace workload
