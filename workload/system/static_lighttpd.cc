// lighttpd as a static server under test: one process that serves one folder.
#include <algorithm>
#include <cstdint>

#include "workload/system/directives.h"
#include "workload/system/set_ups.h"

namespace workload {
namespace {

constexpr const char* kLighttpdSection = "lighttpd";
/// Its own limit to such numbers.
constexpr uint64_t kLighttpdShortMax = 65535;
/// Our word for its module of that purpose; its options are `deflate.*`.
constexpr const char* kGzipOption = "gzip";

std::string quoted_text(const std::string& text) {
  return "\"" + text + "\"";
}

Directives static_lighttpd_directives(const SystemRun& run) {
  auto options = run.options;
  bool compresses = run.asked_for_gzip;
  if (const auto gzip = options.find(kGzipOption); gzip != options.end()) {
    compresses = gzip->second == "on";
    options.erase(gzip);
  }
  Directives out;
  const auto add = [&](const char* name, std::string value) {
    out.add(kLighttpdSection, name, std::move(value));
  };
  const uint64_t descriptors = std::min(run.open_files_max, kLighttpdShortMax);
  add("accesslog.filename", quoted_text((run.folder / "access.log").string()));
  add("server.upload-dirs", "( " + quoted_text(run.scratch.string()) + " )");
  add("server.max-fds", std::to_string(descriptors));
  add("server.max-connections", std::to_string(descriptors / 2));
  add("server.listen-backlog", "4096");
  add("server.max-keep-alive-requests", std::to_string(kLighttpdShortMax));
  add("server.max-keep-alive-idle", "3600");
  // It would remember what it knows of a file, and keep it open.
  add("server.stat-cache-engine", quoted_text("disable"));
  if (compresses) {
    add("deflate.mimetypes", "( \"text/html\" )");
    add("deflate.allowed-encodings", "( \"gzip\" )");
  }
  out.replace(options, {}, kLighttpdSection);
  return out;
}

}  // namespace

SystemSetup set_up_static_lighttpd(const SystemRun& run) {
  const Directives directives = static_lighttpd_directives(run);
  bool needs_deflate = false;
  std::string settings;
  for (const auto& line : directives.lines()) {
    needs_deflate = needs_deflate || line.name.starts_with("deflate.");
    // Switches are words between quotes there.
    const std::string value = line.value == "on"    ? quoted_text("enable")
                              : line.value == "off" ? quoted_text("disable")
                                                    : line.value;
    settings += line.name + " = " + value + "\n";
  }
  SystemSetup setup;
  setup.own_log = "lighttpd_error.log";
  setup.access_log = "access.log";
  std::string text = "server.bind = " + quoted_text(run.listen.host) +
                     "\nserver.port = " + std::to_string(run.listen.port) +
                     "\nserver.document-root = " + quoted_text(run.cache_paths.front()) +
                     "\nserver.errorlog = " + quoted_text((run.folder / setup.own_log).string()) +
                     "\nserver.modules = ( \"mod_accesslog\"" +
                     (needs_deflate ? ", \"mod_deflate\"" : "") +
                     " )\nmimetype.assign = ( \".html\" => \"text/html\" )\n"
                     "accesslog.format = \"%h - - %t \\\"%r\\\" %>s %b\"\n" +
                     settings;
  setup.files.push_back({"lighttpd.conf", std::move(text)});
  setup.command = {run.program, "-D", "-f", (run.folder / "lighttpd.conf").string()};
  return setup;
}

}  // namespace workload
