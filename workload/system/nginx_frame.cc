#include "workload/system/nginx_frame.h"

#include <algorithm>
#include <cstdint>

#include "workload/system/nginx_configuration.h"

namespace workload {
namespace {

/// All connections share the descriptors.
constexpr uint64_t kNginxConnectionsMax = 65536;
constexpr const char* kNginxLongTime = "3600s";
/// Beside the log of what went wrong: here it says which event method it uses.
constexpr const char* kNginxNoticesLog = "nginx_notices.log";

}  // namespace

const std::map<std::string, std::string, std::less<>>& nginx_sections() {
  static const std::map<std::string, std::string, std::less<>> kSections{
      {"use", "events"},
      {"multi_accept", "events"},
      {"accept_mutex", "events"},
      {"accept_mutex_delay", "events"},
      {"worker_aio_requests", "events"},
      {"worker_cpu_affinity", "main"},
      {"worker_priority", "main"},
      {"thread_pool", "main"},
      {"pcre_jit", "main"},
      {"timer_resolution", "main"},
  };
  return kSections;
}

void add_nginx_basics(const SystemRun& run, const std::string& access_log, Directives& directives) {
  directives.add("main", "worker_processes", "1");
  directives.add("main", "worker_rlimit_nofile", std::to_string(run.open_files_max));
  directives.add("events", "worker_connections",
                 std::to_string(std::min(kNginxConnectionsMax, run.open_files_max)));
  directives.add("http", "access_log", access_log);
  for (const char* name : {"client_body_temp_path", "proxy_temp_path", "fastcgi_temp_path",
                           "uwsgi_temp_path", "scgi_temp_path"}) {
    directives.add("http", name, (run.scratch / name).string());
  }
  directives.add("http", "sendfile", "on");
  directives.add("http", "tcp_nopush", "on");
  directives.add("http", "keepalive_requests", kNginxManyRequests);
  directives.add("http", "keepalive_timeout", kNginxLongTime);
  directives.add("http", "server_tokens", "off");
}

std::string nginx_head(const SystemRun& run) {
  std::string text = "daemon off;\npid " + (run.scratch / "nginx.pid").string() + ";\nerror_log " +
                     (run.folder / "nginx_error.log").string() + " warn;\nerror_log " +
                     (run.folder / kNginxNoticesLog).string() +
                     " notice;\n# By its folder a process that was left behind is known.\n" +
                     "working_directory " + run.scratch.string() + ";\n";
  if (run.runs_as_root) text += "user root;\n";
  return text;
}

std::string nginx_main_and_events(const Directives& directives) {
  return directives.text("main", "", ";") + "events {\n" + directives.text("events", "  ", ";") +
         "}\n";
}

void add_nginx_command(const SystemRun& run, SystemSetup& setup) {
  setup.own_log = "nginx_error.log";
  setup.command = {run.program, "-c", (run.folder / "nginx.conf").string(), "-e",
                   (run.folder / setup.own_log).string()};
  setup.notices_log = kNginxNoticesLog;
  setup.said = said_by_nginx;
  setup.access_log = "access.log";
  setup.counters.push_back({"nginx_status.txt", "/cacheoff-status"});
}

}  // namespace workload
