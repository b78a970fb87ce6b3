// What a system under test is to the bench: the files that configure it and the commands that run
// it, made from a cell by a pure function, and what is different about it.
//
// To add a system: write its function in a file of its own here, declare it in set_ups.h and give
// it its rows in registry.cc; docs/systems.md says what to think of.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "storage/base/units.h"
#include "workload/experiment/plan.h"

namespace workload {

/// What a set-up is made from. All paths are absolute.
struct SystemRun {
  CellPlan cell;
  uint64_t share_bytes = 0;              ///< Of the cache, for each disk.
  std::vector<std::string> cache_paths;  ///< A folder for each disk; none where nothing is kept.
  /// By name, what replaces or adds to the generated configuration (`[system-options.NAME]`, or
  /// `[proxy-options]` of our own proxy).
  std::map<std::string, std::string> options;
  std::string program;            ///< Its path.
  std::filesystem::path folder;   ///< Kept with the results: configuration and logs.
  std::filesystem::path scratch;  ///< Of the run alone, gone afterwards: sockets, temporary files.
  std::string instance;           ///< Letters and digits; like no other's on this machine.
  storage::HostPort origin;
  storage::HostPort listen;     ///< A port that was free a moment ago; see `prints_address`.
  uint64_t open_files_max = 0;  ///< What the limit on open files can be raised to.
  bool runs_as_root = false;
  bool asked_for_gzip = false;  ///< Of a static server: whether its load asks for gzip.
};

/// A file of the configuration, or an empty folder that must be there.
struct SystemFile {
  std::string name;  ///< Below the run's folder; a folder's ends in `/`.
  std::string text;
};

/// What is read of its counters before it is stopped.
struct SystemCounters {
  std::string file;                    ///< In the run's folder.
  std::string page{};                  ///< Path of a page that it serves.
  std::vector<std::string> command{};  ///< Or a program that prints them.
};

/// All that the bench needs to run a system.
struct SystemSetup {
  std::vector<SystemFile> files;
  /// Run one after the other before the system, each to its end, as it.
  std::vector<std::vector<std::string>> preparations;
  /// Must stay in the foreground, end by SIGTERM with status 0, and start children only in its own
  /// process group or such as end with it.
  std::vector<std::string> command;
  /// Log in the run's folder where its last words are; beside what it prints.
  std::string own_log;
  /// Log in the run's folder where it says which settings it runs with, and what reads them out of
  /// that, by `PLACE.NAME` as in ConfigurationLine; empty and null: it says none.
  std::string notices_log;
  std::map<std::string, std::string> (*said)(std::string_view log) = nullptr;
  /// Access log in Squid's native format, in the run's folder; empty: it writes none.
  /// Of a static server in the Common Log Format.
  std::string access_log;
  std::vector<SystemCounters> counters;
  /// What is not as with the others, a line each; a warning of each run.
  std::vector<std::string> notes;
};

/// Where a system does its work, so that it can be said that it is full.
enum class SystemThreads {
  kEventLoop,  ///< On the main thread of the process that is started.
  kWorker,     ///< On the main thread of a child.
  kProcess,    ///< On one other thread of the process.
  kMany,       ///< On as many as there is work for: only the machine can be full.
};

/// Whether the hits in an access log can be held against those that the robots see.
enum class HitsInLog {
  kUnlike,    ///< Not to the request.
  kAsOurs,    ///< They are the same.
  kAsSquids,  ///< Once what Squid calls otherwise is mapped.
};

/// A row of the registry.
struct SystemKind {
  std::string_view system;   ///< `system` of the results.
  std::string_view scheme;   ///< What `--scheme` calls it; empty: any of our own proxy's.
  std::string_view program;  ///< Searched in PATH and in root's folders.
  std::string_view package;  ///< Debian's.
  std::string_view summary;
  bool needs_path = false;
  SystemThreads threads = SystemThreads::kEventLoop;
  /// It prints `listening on ADDRESS` itself, so it can be given port 0.
  bool prints_address = false;
  HitsInLog hits_in_log = HitsInLog::kUnlike;
  /// Names that may not stand in its options: the bench sets them. Between spaces.
  std::string_view taken;
  SystemSetup (*set_up)(const SystemRun& run) = nullptr;
  bool is_ours = false;  ///< Its program lies beside the bench's own.
};

}  // namespace workload
