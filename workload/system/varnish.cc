// Varnish as a system under test.
#include "workload/system/directives.h"
#include "workload/system/set_ups.h"

namespace workload {
namespace {

constexpr const char* kParameters = "parameter";

std::string storage_name(size_t number) {
  return "disk" + std::to_string(number + 1);
}

std::string vcl_text(const SystemRun& run) {
  std::string text = "vcl 4.1;\n";
  const size_t disks = run.cache_paths.size();
  if (disks > 1) text += "import std;\n";
  text += "backend origin {\n  .host = \"" + run.origin.host + "\";\n  .port = \"" +
          std::to_string(run.origin.port) +
          "\";\n  .connect_timeout = 60s;\n  .first_byte_timeout = 300s;\n"
          "  .between_bytes_timeout = 300s;\n}\n"
          "# A reload is fetched anew.\nsub vcl_recv {\n"
          "  if (req.http.Cache-Control ~ \"no-cache\") { set req.hash_always_miss = true; }\n}\n";
  if (disks < 2) return text;
  text +=
      "# Storages are not striped: each object goes to one by chance.\n"
      "sub vcl_backend_response {\n";
  for (size_t i = 0; i + 1 < disks; ++i) {
    text += std::string(i == 0 ? "  " : "  else ") + "if (std.random(0, " +
            std::to_string(disks - i) + ") < 1.0) { set beresp.storage = storage." +
            storage_name(i) + "; }\n";
  }
  return text + "  else { set beresp.storage = storage." + storage_name(disks - 1) + "; }\n}\n";
}

Directives varnish_parameters(const SystemRun& run) {
  Directives out;
  const auto add = [&](const char* name, const char* value) { out.add(kParameters, name, value); };
  // Served stale nowhere else either.
  add("default_grace", "0");
  add("default_keep", "86400");
  // Else it closes connections that robots pause on.
  add("timeout_idle", "3600");
  add("backend_idle_timeout", "3600");
  // The log in shared memory, which is charged to its memory too.
  add("vsl_space", "1M");
  add("thread_pools", "1");
  // A large object may push out as many as it needs; by default its request fails after 50.
  add("nuke_limit", "1000000");
  out.replace(run.options, {}, kParameters);
  return out;
}

}  // namespace

SystemSetup set_up_varnish(const SystemRun& run) {
  SystemSetup setup;
  const std::string file = (run.folder / "cache.vcl").string();
  const std::string work = (run.scratch / "varnish").string();
  setup.files.push_back({"cache.vcl", vcl_text(run)});
  setup.command = {run.program, "-F", "-j", "none", "-n", work, "-a", run.listen.text() + ",HTTP",
                   "-f",        file, "-T", "none"};
  const std::string more =
      run.cell.scheme_options.empty() ? std::string() : "," + run.cell.scheme_options;
  const auto add_storage = [&](const std::string& storage) {
    setup.command.insert(setup.command.end(), {"-s", storage});
  };
  if (run.cache_paths.empty()) {
    add_storage("memory=malloc," + std::to_string(run.share_bytes) + more);
  }
  for (size_t i = 0; i < run.cache_paths.size(); ++i) {
    add_storage(storage_name(i) + "=file," + run.cache_paths[i] + "/store," +
                std::to_string(run.share_bytes) + more);
  }
  const Directives parameters = varnish_parameters(run);
  for (const auto& line : parameters.lines()) {
    setup.command.insert(setup.command.end(), {"-p", line.name + "=" + line.value});
  }
  setup.counters.push_back({"varnishstat.txt", {}, {"varnishstat", "-1", "-n", work}});
  setup.notes.emplace_back("varnish: it writes no access log, only one in shared memory");
  setup.notes.emplace_back(
      "varnish: a thread serves each connection, so it can use all CPUs, and full is only the "
      "machine");
  setup.notes.emplace_back(
      "varnish: what it won't keep passes through memory beside the cache size (Transient)");
  return setup;
}

}  // namespace workload
