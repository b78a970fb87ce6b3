// Apache Traffic Server as a system under test: one event thread, a run root of its own.
#include <algorithm>

#include "workload/system/directives.h"
#include "workload/system/set_ups.h"

namespace workload {
namespace {

constexpr const char* kRecordsSection = "records";

/// The type that records.config wants to be told of each value.
std::string typed(const std::string& value) {
  const auto is_number = [&](std::string_view more) {
    return !value.empty() &&
           value.find_first_not_of("0123456789" + std::string(more)) == std::string::npos;
  };
  if (is_number("-")) return "INT " + value;
  if (is_number(".")) return "FLOAT " + value;
  return "STRING " + value;
}

Directives traffic_records(const SystemRun& run) {
  Directives out;
  const auto add = [&](const char* name, std::string value) {
    out.add(kRecordsSection, std::string("proxy.config.") + name, std::move(value));
  };
  add("http.server_ports", std::to_string(run.listen.port) + ":ip-in=" + run.listen.host);
  add("exec_thread.autoconfig", "0");
  add("exec_thread.limit", "1");
  add("exec_thread.affinity", "0");
  add("accept_threads", "0");
  add("reverse_proxy.enabled", "0");
  add("url_remap.remap_required", "0");
  add("admin.user_id", "#-1");
  // No request before the cache is there.
  add("http.wait_for_cache", "1");
  add("cache.ram_cache.size", "0");
  add("http.cache.ignore_client_no_cache", "0");
  for (const char* name :
       {"http.transaction_no_activity_timeout_in", "http.transaction_no_activity_timeout_out",
        "http.keep_alive_no_activity_timeout_in", "http.connect_attempts_timeout"}) {
    add(name, "3600");
  }
  add("log.logging_enabled", "3");
  add("log.logfile_dir", run.folder.string());
  add("log.rolling_enabled", "0");
  add("diags.logfile.rolling_enabled", "0");
  add("output.logfile.rolling_enabled", "0");
  add("crash_log_helper", "NULL");
  out.replace(run.options, {}, kRecordsSection);
  return out;
}

std::string records_text(const SystemRun& run) {
  std::string text;
  const Directives records = traffic_records(run);
  for (const auto& line : records.lines()) {
    text += "CONFIG " + line.name + " " + typed(line.value) + "\n";
  }
  return text;
}

/// Where it looks for its files, all below the run's folders.
std::string run_root(const SystemRun& run) {
  const std::string folder = run.folder.string();
  const std::string scratch = run.scratch.string();
  return "prefix: " + scratch + "\nexec_prefix: " + scratch +
         "\nbindir: /usr/bin\nsbindir: /usr/sbin\nsysconfdir: " + folder +
         "/etc\ndatadir: " + scratch +
         "\nlibdir: /usr/lib\nlibexecdir: /usr/lib/trafficserver/modules\nlocalstatedir: " +
         scratch + "\nruntimedir: " + scratch + "\nlogdir: " + folder + "\ncachedir: " + scratch +
         "\n";
}

std::string storage_text(const SystemRun& run) {
  std::string text;
  const std::string more = run.cell.scheme_options.empty() ? "" : " " + run.cell.scheme_options;
  for (const auto& path : run.cache_paths) {
    text += path + " " + std::to_string(run.share_bytes) + more + "\n";
  }
  return text;
}

constexpr const char* kLogging =
    "logging:\n"
    "  formats:\n"
    "    - name: squid\n"
    "      format: '%<cqtq> %<ttms> %<chi> %<crc>/%<pssc> %<psql> %<cqhm> %<cquc> %<caun> "
    "%<phr>/%<shn> %<psct>'\n"
    "  logs:\n"
    "    - filename: access\n"
    "      format: squid\n"
    "      mode: ascii\n";

constexpr const char* kAllow =
    "ip_allow:\n"
    "  - apply: in\n"
    "    ip_addrs: 127.0.0.0/8\n"
    "    action: allow\n"
    "    methods: ALL\n";

}  // namespace

SystemSetup set_up_trafficserver(const SystemRun& run) {
  SystemSetup setup;
  setup.files = {{"etc/", {}},
                 {"etc/records.config", records_text(run)},
                 {"etc/storage.config", storage_text(run)},
                 {"etc/logging.yaml", kLogging},
                 {"etc/ip_allow.yaml", kAllow},
                 {"runroot.yaml", run_root(run)}};
  setup.command = {run.program, "--run-root=" + (run.folder / "runroot.yaml").string()};
  setup.own_log = "diags.log";
  setup.access_log = "access.log";
  setup.notes.emplace_back(
      "trafficserver: its 304 responses lose the origin's stamp, so of conditional requests alone "
      "it can't be told who answered");
  setup.notes.emplace_back(
      "trafficserver: threads beside its one event thread read and write the cache");
  return setup;
}

}  // namespace workload
