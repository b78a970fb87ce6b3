#include "workload/system/registry.h"

#include <algorithm>
#include <array>
#include <chrono>

#include "workload/experiment/child_process.h"
#include "workload/filesystem/filesystem_kind.h"
#include "workload/system/set_ups.h"

namespace workload {
namespace {

constexpr auto kAskVersionTimeMax = std::chrono::seconds(10);

constexpr SystemKind kOwnProxy{"cacheoff-proxy",   "",   "cacheoff-proxy",          "",
                               "our own proxy",    true, SystemThreads::kEventLoop, true,
                               HitsInLog::kAsOurs, "",   set_up_own_proxy,          true};

constexpr std::string_view kSquidTaken =
    " http_port cache_dir access_log cache_log pid_filename coredump_dir cache_effective_user ";
constexpr std::string_view kNginxTaken =
    " listen proxy_pass proxy_cache_path proxy_cache daemon pid error_log user working_directory "
    "log_format ";
constexpr std::string_view kTrafficServerTaken =
    " proxy.config.http.server_ports proxy.config.admin.user_id proxy.config.log.logfile_dir ";

constexpr std::string_view kStaticNginxTaken =
    " listen root types daemon pid error_log user working_directory log_format ";
constexpr std::string_view kStaticLighttpdTaken =
    " server.bind server.port server.document-root server.modules server.errorlog server.username "
    "server.groupname server.chroot mimetype.assign accesslog.format ";
constexpr std::string_view kStaticOriginTaken = " listen root index access-log event-method help ";

constexpr std::array<SystemKind, 12> kOthers{{
    {"squid", "squid:ufs", "squid", "squid", "Squid, a file an object, blocking calls", true,
     SystemThreads::kEventLoop, false, HitsInLog::kAsSquids, kSquidTaken, set_up_squid},
    {"squid", "squid:aufs", "squid", "squid", "Squid, the same with threads", true,
     SystemThreads::kEventLoop, false, HitsInLog::kAsSquids, kSquidTaken, set_up_squid},
    {"squid", "squid:diskd", "squid", "squid", "Squid, the same with a helper process", true,
     SystemThreads::kEventLoop, false, HitsInLog::kAsSquids, kSquidTaken, set_up_squid},
    {"squid", "squid:rock", "squid", "squid", "Squid, slots in one file", true,
     SystemThreads::kEventLoop, false, HitsInLog::kAsSquids, kSquidTaken, set_up_squid},
    {"squid", "squid:memory", "squid", "squid", "Squid without a disk cache", false,
     SystemThreads::kEventLoop, false, HitsInLog::kAsSquids, kSquidTaken, set_up_squid},
    {"nginx", "nginx", "nginx", "nginx-light", "nginx's proxy_cache, a file an object", true,
     SystemThreads::kWorker, false, HitsInLog::kAsOurs, kNginxTaken, set_up_nginx},
    {"varnish", "varnish:malloc", "varnishd", "varnish", "Varnish in memory", false,
     SystemThreads::kMany, false, HitsInLog::kUnlike, "", set_up_varnish},
    {"varnish", "varnish:file", "varnishd", "varnish", "Varnish in one file, mapped into memory",
     true, SystemThreads::kMany, false, HitsInLog::kUnlike, "", set_up_varnish},
    {"trafficserver", "trafficserver", "traffic_server", "trafficserver",
     "Apache Traffic Server, a cyclic log in one file", true, SystemThreads::kProcess, false,
     HitsInLog::kUnlike, kTrafficServerTaken, set_up_trafficserver},
    {"static:nginx", "static:nginx", "nginx", "nginx-light", "nginx with one file to serve", true,
     SystemThreads::kWorker, false, HitsInLog::kUnlike, kStaticNginxTaken, set_up_static_nginx},
    {"static:lighttpd", "static:lighttpd", "lighttpd", "lighttpd",
     "lighttpd with one file to serve", true, SystemThreads::kEventLoop, false, HitsInLog::kUnlike,
     kStaticLighttpdTaken, set_up_static_lighttpd},
    {"static:origin", "static:origin", "cacheoff", "", "cacheoff origin --root with one file", true,
     SystemThreads::kProcess, true, HitsInLog::kUnlike, kStaticOriginTaken, set_up_static_origin,
     true},
}};

const SystemKind* find_other(std::string_view scheme) {
  const auto* found = std::find_if(kOthers.begin(), kOthers.end(),
                                   [&](const SystemKind& kind) { return kind.scheme == scheme; });
  return found == kOthers.end() ? nullptr : found;
}

/// `Squid Cache: Version 5.7`, `nginx version: nginx/1.22.1`, `varnishd (varnish-7.1.1 …)`: the
/// first word with a digit, from where a number with a dot begins.
std::string version_in(std::string_view text) {
  for (size_t at = 0; at < text.size(); ++at) {
    const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
    if (!is_digit(text[at])) continue;
    size_t end = at;
    while (end < text.size() && (is_digit(text[end]) || text[end] == '.')) ++end;
    const auto number = text.substr(at, end - at);
    if (number.find('.') != std::string_view::npos) return std::string(number);
    at = end;
  }
  return {};
}

std::string version_of(const SystemKind& kind) {
  const std::string program = find_program(kind.program);
  if (program.empty()) return {};
  // Some say it on standard error.
  const std::string option = kind.system == "squid" ? " -v" : " -V";
  const auto text = output_of({"sh", "-c", program + option + " 2>&1"}, kAskVersionTimeMax);
  return text ? version_in(*text) : std::string();
}

}  // namespace

std::span<const SystemKind> other_systems() {
  return kOthers;
}

const SystemKind& system_of_scheme(std::string_view scheme) {
  const auto* other = find_other(scheme);
  return other == nullptr ? kOwnProxy : *other;
}

bool is_other_system(std::string_view scheme) {
  return find_other(scheme) != nullptr;
}

std::vector<SchemeRow> system_scheme_rows() {
  std::vector<SchemeRow> rows;
  for (const auto& kind : kOthers) {
    rows.push_back({std::string(kind.scheme), kind.needs_path, kind.needs_path, false,
                    std::string(kind.summary)});
  }
  return rows;
}

std::map<std::string, std::string> options_of_system(const SystemKind& kind,
                                                     const ExperimentOptions& options) {
  if (kind.scheme.empty()) return options.proxy_options;
  const auto found = options.system_options.find(std::string(kind.system));
  return found == options.system_options.end() ? std::map<std::string, std::string>()
                                               : found->second;
}

std::map<std::string, std::string> options_of_cell(const CellPlan& cell,
                                                   const ExperimentOptions& options) {
  auto all = options_of_system(system_of_scheme(cell.scheme), options);
  for (const auto& [name, value] : cell.variant_options) all[name] = value;
  return all;
}

std::string system_in_variation(std::string_view scheme) {
  const auto* other = find_other(scheme);
  return std::string(other == nullptr ? kVariesProxy : other->system);
}

std::string fault_of_option(const SystemKind& kind, const std::string& name,
                            const std::string& value) {
  const auto is_taken = [&](const std::string& one) {
    return kind.taken.find(" " + one + " ") != std::string_view::npos;
  };
  // With its section before it, it is no other option.
  if (is_taken(name) || is_taken(name.substr(name.rfind('.') + 1))) return "the bench sets it";
  if (name.empty() || name.find_first_of(" \t\r\n;{}") != std::string::npos ||
      value.find_first_of("\r\n") != std::string::npos) {
    return "must be one word and one line";
  }
  return {};
}

bool serves_by_children(const SystemKind& kind) {
  return kind.threads == SystemThreads::kWorker || kind.system == "varnish";
}

void blame_worker(const SystemKind& kind, RunObservation& seen) {
  switch (kind.threads) {
    case SystemThreads::kEventLoop:
      return;
    case SystemThreads::kWorker:
      seen.proxy_loop_share = seen.helper_cpu_share;
      seen.proxy_blocked_share = seen.helper_blocked_share;
      break;
    case SystemThreads::kProcess:
      seen.proxy_loop_share = seen.proxy_cpu_share;
      seen.proxy_blocked_share = 0;
      break;
    case SystemThreads::kMany:
      seen.proxy_loop_share = 0;
      seen.proxy_blocked_share = 0;
      break;
  }
  seen.helper_cpu_share = 0;
  seen.helper_blocked_share = 0;
}

std::string why_no_system(std::string_view scheme) {
  const auto* kind = find_other(scheme);
  if (kind == nullptr || kind->is_ours || !find_program(kind->program).empty()) return {};
  return std::string(kind->program) + " is not installed (Debian's package " +
         std::string(kind->package) + ")";
}

Expected<void> check_system_options(const ExperimentOptions& options) {
  for (const auto& row_of_system : options.system_options) {
    // Names of a binding can be in no lambda of clang 14.
    const std::string& system = row_of_system.first;
    const auto& values = row_of_system.second;
    const auto* kind = std::find_if(kOthers.begin(), kOthers.end(),
                                    [&](const SystemKind& row) { return row.system == system; });
    if (kind == kOthers.end()) {
      return usage_problem("system-options." + system +
                           ": no such system; there are squid, nginx, varnish, trafficserver, "
                           "static:nginx, static:lighttpd and static:origin");
    }
    for (const auto& [name, value] : values) {
      const std::string fault = fault_of_option(*kind, name, value);
      if (!fault.empty()) {
        return usage_problem("system-options." + system + "." + name + ": " + fault);
      }
    }
  }
  return {};
}

std::vector<std::pair<std::string, std::string>> system_versions(
    const std::vector<std::string>& schemes) {
  std::vector<std::pair<std::string, std::string>> versions;
  for (const auto& scheme : schemes) {
    const auto* kind = find_other(scheme);
    if (kind == nullptr || kind->is_ours) continue;
    // A program that serves files is the same that others cache with: `nginx` of `static:nginx`.
    const std::string_view system = kind->system;
    const std::string name(system.substr(system.find(':') + 1));
    const bool known = std::any_of(versions.begin(), versions.end(),
                                   [&](const auto& version) { return version.first == name; });
    if (!known) versions.emplace_back(name, version_of(*kind));
  }
  return versions;
}

}  // namespace workload
