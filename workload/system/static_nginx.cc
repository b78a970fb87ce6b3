// nginx as a static server under test: one worker that serves one folder.
#include "workload/system/nginx_frame.h"
#include "workload/system/set_ups.h"

namespace workload {
namespace {

Directives static_nginx_directives(const SystemRun& run) {
  Directives out;
  add_nginx_basics(run, (run.folder / "access.log").string() + " common buffer=64k", out);
  out.add("http", "gzip", run.asked_for_gzip ? "on" : "off");
  // The load asks by HTTP/1.0.
  out.add("http", "gzip_http_version", "1.0");
  out.replace(run.options, nginx_sections(), "http");
  return out;
}

}  // namespace

SystemSetup set_up_static_nginx(const SystemRun& run) {
  const Directives directives = static_nginx_directives(run);
  std::string text =
      nginx_head(run) + nginx_main_and_events(directives) +
      "http {\n  types { text/html html; }\n  log_format common '$remote_addr - - [$time_local] "
      "\"$request\" $status $body_bytes_sent';\n" +
      directives.text("http", "  ", ";") + "  server {\n    listen " + run.listen.text() +
      " backlog=4096;\n    root " + run.cache_paths.front() +
      ";\n    location = /cacheoff-status {\n      stub_status;\n      access_log off;\n    }\n"
      "  }\n}\n";
  SystemSetup setup;
  setup.files.push_back({"nginx.conf", std::move(text)});
  add_nginx_command(run, setup);
  return setup;
}

}  // namespace workload
