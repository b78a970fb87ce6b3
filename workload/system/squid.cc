// Squid as a system under test: one process without workers, all its files in the run's folders.
#include <algorithm>

#include "workload/system/directives.h"
#include "workload/system/set_ups.h"

namespace workload {
namespace {

constexpr const char* kSquidSection = "squid";
/// Of objects, as long as the cache could hold them.
constexpr uint64_t kObjectBytesMax = 1 << 30;

/// What stands behind path and size of a cache_dir, unless the experiment says otherwise: the
/// values of Squid's own documentation.
std::string store_options(const SystemRun& run, const std::string& type) {
  if (!run.cell.scheme_options.empty()) return " " + run.cell.scheme_options;
  if (type == "rock") return {};
  return type == "diskd" ? " 16 256 Q1=64 Q2=72" : " 16 256";
}

Directives squid_directives(const SystemRun& run) {
  const std::string type = kind_of_scheme(run.cell.scheme);
  Directives out;
  const auto add = [&](const char* name, std::string value) {
    out.add(kSquidSection, name, std::move(value));
  };
  const std::string folder = run.folder.string();
  add("http_port", run.listen.text());
  add("http_access", "allow all");
  // Before the cache_dir, which takes its limit from it.
  const uint64_t total_bytes = run.share_bytes * std::max<size_t>(1, run.cache_paths.size());
  const std::string object_mib = whole_mib(std::min(kObjectBytesMax, total_bytes)) + " MB";
  add("maximum_object_size", object_mib);
  if (run.cache_paths.empty()) {
    add("cache_mem", whole_mib(total_bytes) + " MB");
    add("maximum_object_size_in_memory", object_mib);
    add("memory_cache_mode", "always");
  } else {
    add("cache_mem", "0 MB");
    add("maximum_object_size_in_memory", "0 KB");
    add("memory_cache_mode", "disk");
    // Else it holds only 90 to 95 percent of what it is given.
    add("cache_swap_low", "98");
    add("cache_swap_high", "99");
  }
  add("memory_cache_shared", "off");
  for (const auto& path : run.cache_paths) {
    add("cache_dir",
        type + " " + path + " " + whole_mib(run.share_bytes) + store_options(run, type));
  }
  add("access_log", "stdio:" + (run.folder / "access.log").string() + " squid !manager");
  add("buffered_logs", "on");
  add("logfile_rotate", "0");
  add("cache_log", (run.folder / "cache.log").string());
  add("cache_store_log", "none");
  add("pid_filename", "none");
  add("coredump_dir", run.scratch.string());
  add("netdb_filename", "none");
  add("pinger_enable", "off");
  add("visible_hostname", "cacheoff");
  add("shutdown_lifetime", "0 seconds");
  add("max_filedescriptors", std::to_string(run.open_files_max));
  // Squid's own default file has it for all that says nothing of its age.
  add("refresh_pattern", ". 0 20% 4320");
  out.replace(run.options, {}, kSquidSection);
  return out;
}

}  // namespace

SystemSetup set_up_squid(const SystemRun& run) {
  SystemSetup setup;
  const std::string file = (run.folder / "squid.conf").string();
  setup.files.push_back({"squid.conf", squid_directives(run).text(kSquidSection, "", "")});
  const std::vector<std::string> command{run.program, "-N", "-n", run.instance, "-f", file};
  setup.preparations.push_back(command);
  setup.preparations.back().push_back("-z");
  setup.command = command;
  setup.own_log = "cache.log";
  setup.access_log = "access.log";
  setup.counters.push_back({"squid_counters.txt", "/squid-internal-mgr/counters"});
  setup.notes.emplace_back(
      "squid: requests for an object that is under way are fetched each for itself, as by default");
  if (run.cell.scheme == "squid:rock") {
    setup.notes.emplace_back(
        "squid:rock: without other Squid processes its reads and writes block, and each object "
        "takes whole slots of 16 KiB, unless scheme-options say otherwise");
  }
  if (run.cell.scheme == "squid:memory") {
    setup.notes.emplace_back(
        "squid:memory: a memory cache without a disk cache loses most of its objects once it is "
        "full (docs/hit-ratios.md)");
  }
  return setup;
}

}  // namespace workload
