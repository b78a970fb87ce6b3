// The parts of the storage benchmark. Each prints its figures and adds them to the report.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "storage/base/units.h"
#include "tests/bench/samples.h"

namespace bench {

struct Settings {
  std::filesystem::path folder;
  uint64_t size_bytes = storage::kGiB;
  unsigned rounds = 7;
  std::string engine = "libaio";
  std::vector<std::string> schemes;
};

/// Objects on their way to a store at the same time.
inline constexpr unsigned kConcurrency = 32;

/// coss and fio write to the same file in turns.
void measure_write_rate(const Settings& settings, Report& report);
/// What reaches the device for what is committed, without and with relocation.
void measure_write_amplification(const Settings& settings, Report& report);
/// Starts from a clean index and after a crash, each in a process of its own.
void measure_recovery(const Settings& settings, Report& report);
/// What measure_recovery() runs in the other process: starts the store and tells how that went.
int start_once(const std::string& specification, bool stop_after);
/// Heap bytes an object of the indexes, keys excluded.
void measure_index_memory(const Settings& settings, Report& report);
/// Objects a second that schemes store and read back, one scheme after the other in every round.
void measure_schemes(const Settings& settings, Report& report);

}  // namespace bench
