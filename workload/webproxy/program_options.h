// The command line of cacheoff-webproxy.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "storage/io/engine_factory.h"
#include "workload/experiment/expected.h"
#include "workload/webproxy/pattern.h"

namespace webproxy {

/// What is asked for, checked.
struct ProgramOptions {
  enum class Action { kRun, kHelp, kVersion, kListSchemes };
  Action action = Action::kRun;
  std::vector<std::filesystem::path> folders;
  std::filesystem::path out;  ///< Empty: no files are written.
  storage::EngineChoice engine;
  PatternOptions pattern;
  bool hold = false;
  std::vector<std::string> warnings;  ///< What is not as asked for.
};

/// filebench's webproxy.f has so many threads.
inline constexpr unsigned kWorkersDefault = 100;
/// Each has a file open.
inline constexpr unsigned kWorkersMax = 1000;

/// The engines that the pattern runs on in this build; the first is the default.
std::vector<std::string_view> engines();

/// Reads the command line without the program's name. The Problem names the option.
workload::Expected<ProgramOptions> parse_program_options(const std::vector<std::string>& words);

/// How many files stand for a cache of that size: as many as fill it, at least 2, at most what a
/// FileSet takes.
uint32_t files_for(uint64_t cache_size_bytes);

std::string help_text();

}  // namespace webproxy
