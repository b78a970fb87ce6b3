// The command lines of a run, and what is read out of what the programs print.
#pragma once

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "storage/base/units.h"
#include "workload/experiment/options.h"
#include "workload/model/workload.h"

namespace workload {

/// Where a run's servers listen.
struct ProgramAddresses {
  std::optional<storage::HostPort> origin;
  std::optional<storage::HostPort> proxy;
  std::optional<storage::HostPort> admin;
};

/// The origin behaves as the workload says. For a trace it answers at once, unless the options name
/// a workload.
std::vector<std::string> origin_command(const std::filesystem::path& cacheoff,
                                        const ExperimentOptions& options, const Workload& workload);

/// `cache_dirs` are the arguments of --cache-dir, one each; `options` are added, by name.
std::vector<std::string> proxy_command(const std::filesystem::path& proxy,
                                       const std::vector<std::string>& cache_dirs,
                                       const std::string& access_log,
                                       const std::map<std::string, std::string>& options);

/// Whether an option of the proxy (without dashes) may be set by an experiment: all but those that
/// the bench sets itself and those that do not serve.
bool is_proxy_option_free(std::string_view name);

/// `cacheoff load`, or `cacheoff replay` where the experiment has a trace. Origin and proxy must be
/// known; the files of the run go to the folder `out`.
std::vector<std::string> load_command(const std::filesystem::path& cacheoff,
                                      const ExperimentOptions& options,
                                      const ProgramAddresses& addresses, uint64_t seed,
                                      const std::string& out);

/// How often the trace gets a row: about 500 rows for a known duration, at least 10 ms apart;
/// otherwise every 250 ms. With far fewer rows the test for steadiness takes a quarter of all
/// steady runs for unsteady ones.
std::chrono::milliseconds sample_interval(const ExperimentOptions& options);

/// The address that stands in a line behind `marker`; nothing where there is none.
std::optional<storage::HostPort> address_behind(std::string_view line, std::string_view marker);

/// A command as a POSIX shell reads it back.
std::string shell_line(const std::vector<std::string>& command);

/// `: TEXT` with the last line of a log, to end a message with; empty where the log is.
std::string last_words(const std::filesystem::path& log);

/// The warnings of a run's record and then the lists given; each once, and none that only begins
/// another one already there.
boost::json::array merge_warnings(const boost::json::object& record,
                                  const std::vector<std::vector<std::string>>& lists);

}  // namespace workload
