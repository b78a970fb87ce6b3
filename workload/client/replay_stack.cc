#include "workload/client/replay_stack.h"

#include <cstdlib>
#include <system_error>

#include "workload/experiment/plan.h"
#include "workload/experiment/program_commands.h"
#include "workload/report/json_text.h"

namespace workload {

namespace fs = std::filesystem;

namespace {

constexpr std::chrono::seconds kReadyWaitMax{60};
constexpr uint64_t kLogBytesMax = 16 * storage::kMiB;

}  // namespace

ReplayStack::Folder::~Folder() {
  std::error_code ignored;  // Nothing is lost where a temporary folder stays behind.
  if (!path.empty()) fs::remove_all(path, ignored);
}

ReplayStack::~ReplayStack() = default;

Expected<ReplayStack> ReplayStack::start(const ReplayStackOptions& options, StopSignals& stop) {
  ReplayStack stack;
  std::error_code error;
  const fs::path temporary = fs::temp_directory_path(error);
  std::string pattern = (temporary / "cacheoff-replay-XXXXXX").string();
  if (error || ::mkdtemp(pattern.data()) == nullptr) {
    return run_problem("can't make a temporary folder in " + temporary.string());
  }
  stack.folder_.path = pattern;
  if (options.origin) {
    stack.origin_address_ = *options.origin;
  } else {
    auto address = stack.start_program(
        "origin", {(options.programs / "cacheoff").string(), "origin", "--listen", "127.0.0.1:0"},
        stack.origin_, stop);
    if (!address) return address.error();
    stack.origin_address_ = *address;
  }
  if (options.proxy) {
    stack.proxy_address_ = *options.proxy;
    return stack;
  }
  auto cache = stack.cache_directory(options, stop);
  if (!cache) return cache.error();
  auto address = stack.start_program("proxy",
                                     {(options.programs / "cacheoff-proxy").string(), "--listen",
                                      "127.0.0.1:0", "--cache-dir", *cache},
                                     stack.proxy_, stop);
  if (!address) return address.error();
  stack.proxy_address_ = *address;
  return stack;
}

Expected<storage::HostPort> ReplayStack::start_program(const std::string& name,
                                                       std::vector<std::string> command,
                                                       std::optional<ChildProcess>& child,
                                                       StopSignals& stop) {
  ChildOptions options;
  options.command = std::move(command);
  options.stdout_path = (folder_.path / (name + ".out")).string();
  options.stderr_path = (folder_.path / (name + ".err")).string();
  auto started = ChildProcess::start(options);
  if (!started) return started.error();
  child.emplace(std::move(*started));
  const auto line = child->wait_ready("listening on ", kReadyWaitMax, &stop);
  if (!line) return with_log(line.error(), name);
  const auto address = address_behind(*line, "listening on ");
  if (!address) return run_problem("the " + name + " printed no address: '" + *line + "'");
  return *address;
}

Expected<std::string> ReplayStack::cache_directory(const ReplayStackOptions& options,
                                                   StopSignals& stop) {
  ChildOptions asked;
  asked.command = {(options.programs / "cacheoff-proxy").string(), "--list-schemes"};
  asked.stdout_path = (folder_.path / "schemes.out").string();
  asked.stderr_path = (folder_.path / "schemes.err").string();
  auto child = ChildProcess::start(asked);
  if (!child) return child.error();
  const auto event = ChildWaiter::wait({&*child}, &stop, kReadyWaitMax);
  const ChildEnd end = child->stop();
  if (event != ChildWaiter::Event::kChildEnded || end.exit_status != 0) {
    return with_log(run_problem("cacheoff-proxy --list-schemes " + end.text()), "schemes");
  }
  auto text = read_file(asked.stdout_path, kLogBytesMax);
  if (!text) return text.error();
  const auto rows = parse_scheme_list(*text);
  if (!rows) return rows.error();
  std::string names;
  for (const auto& scheme : *rows) {
    names += " " + scheme.name;
    if (scheme.name != options.scheme) continue;
    std::string cache = "scheme=" + scheme.name;
    if (scheme.name == "none") return cache;
    if (scheme.needs_path) cache += ",path=" + (folder_.path / "cache").string();
    return cache + ",size=" + std::to_string(options.cache_size_bytes);
  }
  return usage_problem("--scheme: no such scheme: '" + options.scheme + "' (there are:" + names +
                       ")");
}

Problem ReplayStack::with_log(Problem problem, const std::string& name) const {
  problem.text += last_words(folder_.path / (name + ".err"));
  return problem;
}

std::string ReplayStack::stop() {
  std::string complaints;
  for (auto* child : {&proxy_, &origin_}) {
    if (!*child) continue;
    const ChildEnd end = (*child)->stop();
    if (end.exit_status == 0) continue;
    complaints += (complaints.empty() ? "" : "; ") + (*child)->name() + " " + end.text();
  }
  return complaints;
}

}  // namespace workload
