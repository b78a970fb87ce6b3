// What a run of the pattern leaves in its folder.
#pragma once

#include <boost/json/object.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include "storage/base/clock.h"
#include "workload/experiment/expected.h"
#include "workload/webproxy/pattern.h"

namespace webproxy {

/// What there is to say of a run beside its account.
struct RunFacts {
  std::string engine;
  PatternOptions options;
  size_t folders = 1;
  storage::WallTime start{};
  double cpu_s = 0;             ///< Of the process while it was measured.
  double event_loop_cpu_s = 0;  ///< Of them, of the event loop's thread.
  std::vector<std::string> warnings;
  std::string first_error;  ///< One line; empty where there was none.
};

/// The run as run.json holds it: the keys that a run of `cacheoff load` has, those of hits null,
/// and `webproxy` with what is this pattern's own. docs/experiments.md says what each is.
boost::json::object run_to_json(const Account& account, const RunFacts& facts);

/// Writes run.json, trace.csv and latency.hlog (its rows tagged `read` and `create` beside those of
/// all) into `folder`, which must be there. A Problem that names the file.
workload::Expected<void> write_result_files(const std::filesystem::path& folder,
                                            const Account& account, const RunFacts& facts);

/// A few lines for people.
std::string run_to_text(const Account& account, const RunFacts& facts);

}  // namespace webproxy
