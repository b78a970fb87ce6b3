// nginx's proxy_cache as a system under test: one worker.
#include <algorithm>

#include "workload/system/directives.h"
#include "workload/system/nginx_configuration.h"
#include "workload/system/set_ups.h"

namespace workload {
namespace {

/// A mebibyte of the index holds about 8000 objects.
constexpr uint64_t kCacheBytesPerIndexByte = 64;
constexpr uint64_t kIndexBytesMin = 16 << 20;
/// Connections of clients and to the origin share the descriptors.
constexpr uint64_t kConnectionsMax = 65536;
constexpr const char* kManyRequests = "1000000000";
constexpr const char* kLongTime = "3600s";
/// Beside the log of what went wrong: here it says which event method it uses.
constexpr const char* kNoticesLog = "nginx_notices.log";

/// Sections of what does not belong into `http`.
const std::map<std::string, std::string, std::less<>> kSections{
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

/// Variables that the configuration leans on: they can't be set as options.
constexpr const char* kMaps =
    "  # Squid's words for what became of a request.\n"
    "  map $upstream_cache_status $cacheoff_result {\n"
    "    default TCP_MISS; HIT TCP_HIT; STALE TCP_HIT; UPDATING TCP_HIT;\n"
    "    REVALIDATED TCP_REFRESH_UNMODIFIED; EXPIRED TCP_REFRESH_MODIFIED;\n"
    "    BYPASS TCP_CLIENT_REFRESH_MISS;\n"
    "  }\n"
    "  map $request_completion $cacheoff_end { OK \"\"; default _ABORTED; }\n"
    "  # A reload is fetched anew.\n"
    "  map $http_cache_control $cacheoff_reload { ~*no-cache 1; default 0; }\n"
    "  # A client's condition goes to the origin with a miss; the 304 to it is passed on and not "
    "kept.\n"
    "  map $upstream_cache_last_modified $cacheoff_since {\n"
    "    \"\" $http_if_modified_since; default $upstream_cache_last_modified;\n"
    "  }\n"
    "  map $upstream_cache_etag $cacheoff_none_match {\n"
    "    \"\" $http_if_none_match; default $upstream_cache_etag;\n"
    "  }\n"
    "  map $upstream_status $cacheoff_passed_on { 304 1; default 0; }\n"
    "  log_format squid '$msec $request_time $remote_addr $cacheoff_result$cacheoff_end/$status '\n"
    "                   '$bytes_sent $request_method http://$http_host$request_uri - '\n"
    "                   'HIER/$upstream_addr $sent_http_content_type';\n";

std::string zone_name(size_t number) {
  return "disk" + std::to_string(number + 1);
}

/// The zones, and which of them an object goes to where there are several.
std::string zones_text(const SystemRun& run) {
  std::string out;
  const uint64_t index_bytes = std::max(kIndexBytesMin, run.share_bytes / kCacheBytesPerIndexByte);
  const std::string more =
      run.cell.scheme_options.empty() ? std::string("levels=1:2") : run.cell.scheme_options;
  for (size_t i = 0; i < run.cache_paths.size(); ++i) {
    out += "  proxy_cache_path " + run.cache_paths[i] + " keys_zone=" + zone_name(i) + ":" +
           whole_mib(index_bytes) + "m max_size=" + whole_mib(run.share_bytes) +
           "m inactive=365d use_temp_path=off " + more + ";\n";
  }
  if (run.cache_paths.size() < 2) return out;
  out += "  split_clients $request_uri $cacheoff_zone {\n";
  for (size_t i = 0; i + 1 < run.cache_paths.size(); ++i) {
    out += "    " + std::to_string(100 / run.cache_paths.size()) + "% " + zone_name(i) + ";\n";
  }
  return out + "    * " + zone_name(run.cache_paths.size() - 1) + ";\n  }\n";
}

Directives nginx_directives(const SystemRun& run) {
  Directives out;
  out.add("main", "worker_processes", "1");
  out.add("main", "worker_rlimit_nofile", std::to_string(run.open_files_max));
  out.add("events", "worker_connections",
          std::to_string(std::min(kConnectionsMax, run.open_files_max)));
  out.add("http", "access_log", (run.folder / "access.log").string() + " squid buffer=64k");
  for (const char* name : {"client_body_temp_path", "proxy_temp_path", "fastcgi_temp_path",
                           "uwsgi_temp_path", "scgi_temp_path"}) {
    out.add("http", name, (run.scratch / name).string());
  }
  out.add("http", "sendfile", "on");
  out.add("http", "tcp_nopush", "on");
  out.add("http", "keepalive_requests", kManyRequests);
  out.add("http", "keepalive_timeout", kLongTime);
  out.add("http", "client_max_body_size", "0");
  out.add("http", "if_modified_since", "before");
  out.add("http", "server_tokens", "off");
  out.add("upstream", "keepalive", "1000");
  out.add("upstream", "keepalive_requests", kManyRequests);
  out.add("location", "proxy_http_version", "1.1");
  out.add("location", "proxy_cache_revalidate", "on");
  out.add("location", "proxy_cache_bypass", "$cacheoff_reload");
  out.add("location", "proxy_no_cache", "$cacheoff_passed_on");
  out.add("location", "proxy_read_timeout", "300s");
  out.replace(run.options, kSections, "http");
  return out;
}

}  // namespace

SystemSetup set_up_nginx(const SystemRun& run) {
  const Directives directives = nginx_directives(run);
  std::string text = "daemon off;\npid " + (run.scratch / "nginx.pid").string() + ";\nerror_log " +
                     (run.folder / "nginx_error.log").string() + " warn;\nerror_log " +
                     (run.folder / kNoticesLog).string() +
                     " notice;\n# By its folder a process that was left behind is known.\n" +
                     "working_directory " + run.scratch.string() + ";\n";
  if (run.runs_as_root) text += "user root;\n";
  text += directives.text("main", "", ";") + "events {\n" + directives.text("events", "  ", ";") +
          "}\nhttp {\n" + kMaps + zones_text(run) + directives.text("http", "  ", ";") +
          "  upstream cacheoff_origin {\n    server " + run.origin.text() + ";\n" +
          directives.text("upstream", "    ", ";") + "  }\n  server {\n    listen " +
          run.listen.text() + " backlog=4096;\n    location = /cacheoff-status {\n" +
          "      stub_status;\n      access_log off;\n    }\n    location / {\n" +
          "      proxy_pass http://cacheoff_origin;\n" +
          "      proxy_set_header Host $http_host;\n" +
          "      proxy_set_header Connection \"\";\n" +
          "      proxy_set_header If-Modified-Since $cacheoff_since;\n" +
          "      proxy_set_header If-None-Match $cacheoff_none_match;\n      proxy_cache " +
          (run.cache_paths.size() > 1 ? "$cacheoff_zone" : zone_name(0)) + ";\n" +
          directives.text("location", "      ", ";") + "    }\n  }\n}\n";
  SystemSetup setup;
  const std::string file = (run.folder / "nginx.conf").string();
  setup.files.push_back({"nginx.conf", std::move(text)});
  setup.own_log = "nginx_error.log";
  setup.command = {run.program, "-c", file, "-e", (run.folder / setup.own_log).string()};
  setup.notices_log = kNoticesLog;
  setup.said = said_by_nginx;
  setup.access_log = "access.log";
  setup.counters.push_back({"nginx_status.txt", "/cacheoff-status"});
  setup.notes.emplace_back(
      "nginx: its cache manager looks at the size of the cache at most every ten seconds, and the "
      "cache can be larger meanwhile");
  setup.notes.emplace_back(
      "nginx: requests for an object that is under way are fetched each for itself, as by default");
  return setup;
}

}  // namespace workload
