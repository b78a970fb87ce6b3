// A system under test from its files to its end: written, prepared, started, waited for, stopped.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "storage/base/units.h"
#include "workload/experiment/child_process.h"
#include "workload/experiment/expected.h"
#include "workload/filesystem/run_user.h"
#include "workload/filesystem/scratch_folder.h"
#include "workload/system/adapter.h"

namespace workload {

/// How many files a system's programs may have open: the hard limit, at most 2^20.
uint64_t open_files_limit();

/// What a start needs beside the set-up's own inputs. References outlive the system.
struct SystemStart {
  const SystemKind& kind;
  SystemRun run;                ///< Without `program`, `scratch`, `listen` and `instance`.
  std::string name;             ///< Of this run, for the folder in the scratch folder.
  std::filesystem::path proxy;  ///< The program of our own proxy; our others lie beside it.
  ScratchFolder& scratch;
  std::optional<RunUser> user;
  std::string group_file;  ///< For ChildOptions.
  StopSignals* stop = nullptr;
  ProcessorList processors{};  ///< For ChildOptions.
};

/// A system that serves. The destructor ends it, and removes its folder in the scratch folder and
/// what it left in shared memory. One thread, as for ChildProcess.
class RunningSystem {
 public:
  explicit RunningSystem(SystemStart start);
  ~RunningSystem();
  RunningSystem(const RunningSystem&) = delete;
  RunningSystem& operator=(const RunningSystem&) = delete;

  /// Returns when it takes connections. A Problem with its last words where it ended first or took
  /// too long; once more on another port where somebody else took its own.
  Expected<void> start();

  ChildProcess& process() { return *process_; }
  const storage::HostPort& address() const { return address_; }
  /// Where it serves pages about itself; nothing where it has none.
  const std::optional<storage::HostPort>& admin() const { return admin_; }
  const SystemSetup& setup() const { return setup_; }

  /// Reads its counters into the run's folder; a line for each that could not be had.
  std::vector<std::string> keep_counters();
  /// What it said of its own settings, by `PLACE.NAME`; empty where it says nothing.
  std::map<std::string, std::string> said_of_itself() const;
  /// `: TEXT` with its last words, as last_words() has them.
  std::string said() const;

 private:
  Expected<void> make_scratch();
  Expected<void> write_files();
  Expected<void> prepare();
  Expected<void> launch();
  Expected<void> wait_until_serving();
  void remove_shared_memory();
  std::filesystem::path output_log() const { return start_.run.folder / "proxy.log"; }

  SystemStart start_;
  SystemSetup setup_;
  std::string scratch_name_;  ///< Empty before the folder is made.
  std::string queues_name_;   ///< In the journal; empty where it has none.
  std::optional<ChildProcess> process_;
  storage::HostPort address_;
  std::optional<storage::HostPort> admin_;
};

}  // namespace workload
