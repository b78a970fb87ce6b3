#include "workload/system/running_system.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>

#include "workload/experiment/http_fetch.h"
#include "workload/experiment/program_commands.h"
#include "workload/experiment/run_places.h"
#include "workload/filesystem/filesystem_kind.h"
#include "workload/filesystem/owned_fd.h"
#include "workload/filesystem/shared_memory.h"
#include "workload/report/json_text.h"

namespace workload {
namespace {

using std::chrono::seconds;
using SteadyClock = std::chrono::steady_clock;

constexpr auto kServingTimeMax = seconds(60);
constexpr auto kPreparedTimeMax = seconds(300);
constexpr auto kCountersTimeMax = seconds(10);
constexpr auto kConnectTimeMax = std::chrono::milliseconds(1000);
constexpr auto kLookPause = std::chrono::milliseconds(20);
constexpr int kPortsTried = 5;
constexpr uint64_t kSystemLogBytesMax = 1 << 20;
constexpr const char* kLoopback = "127.0.0.1";

sockaddr_in loopback(uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  inet_pton(AF_INET, kLoopback, &address.sin_addr);
  return address;
}

/// A port that nobody listens on now.
Expected<uint16_t> free_port() {
  const OwnedFd fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address = loopback(0);
  socklen_t size = sizeof address;
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  if (fd.get() < 0 || bind(fd.get(), generic, size) != 0 ||
      getsockname(fd.get(), generic, &size) != 0) {
    return run_problem(std::string("can't find a free port: ") + std::strerror(errno));
  }
  return ntohs(address.sin_port);
}

bool takes_connections(const storage::HostPort& server) {
  const OwnedFd fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const sockaddr_in address = loopback(server.port);
  if (fd.get() < 0) return false;
  if (connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) {
    return true;
  }
  if (errno != EINPROGRESS) return false;
  pollfd wait{fd.get(), POLLOUT, 0};
  if (poll(&wait, 1, static_cast<int>(kConnectTimeMax.count())) != 1) return false;
  int failure = 0;
  socklen_t size = sizeof failure;
  return getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &failure, &size) == 0 && failure == 0;
}

}  // namespace

uint64_t open_files_limit() {
  rlimit limit{};
  constexpr uint64_t kSensible = 1 << 20;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 1024;
  return std::min<uint64_t>(limit.rlim_max, kSensible);
}

RunningSystem::RunningSystem(SystemStart start) : start_(std::move(start)) {
  start_.run.open_files_max = open_files_limit();
  start_.run.runs_as_root = geteuid() == 0 && !start_.user;
}

RunningSystem::~RunningSystem() {
  process_.reset();
  remove_shared_memory();
  if (scratch_name_.empty()) return;
  std::error_code failure;
  std::filesystem::remove_all(start_.scratch.path() / scratch_name_, failure);
  if (!failure) start_.scratch.journal().is_gone(JournalEntry::Kind::kFolder, scratch_name_);
}

void RunningSystem::remove_shared_memory() {
  if (!start_.run.instance.empty()) {
    workload::remove_shared_memory(start_.run.instance);
    start_.scratch.journal().is_gone(JournalEntry::Kind::kSharedMemory, start_.run.instance);
  }
  if (!queues_name_.empty()) {
    const auto proxy = storage::parse_count(queues_name_.substr(0, queues_name_.find('-')));
    if (proxy) remove_diskd_queues(static_cast<pid_t>(*proxy));
    start_.scratch.journal().is_gone(JournalEntry::Kind::kQueues, queues_name_);
  }
  start_.run.instance.clear();
  queues_name_.clear();
}

Expected<void> RunningSystem::start() {
  SystemRun& run = start_.run;
  if (start_.kind.is_ours) {
    run.program = start_.kind.scheme.empty()
                      ? start_.proxy.string()
                      : (start_.proxy.parent_path() / start_.kind.program).string();
    setup_ = start_.kind.set_up(run);
    return launch();
  }
  run.program = find_program(start_.kind.program);
  if (run.program.empty()) {
    return run_problem(std::string(start_.kind.program) + " is not installed");
  }
  if (auto done = make_scratch(); !done) return done;
  for (int attempt = 1;; ++attempt) {
    const auto port = free_port();
    if (!port) return port.error();
    run.listen = {kLoopback, *port};
    setup_ = start_.kind.set_up(run);
    if (auto done = write_files(); !done) return done;
    if (attempt == 1) {
      if (auto done = prepare(); !done) return done;
    }
    auto serving = launch();
    if (serving) return serving;
    const auto log = read_file(output_log(), kSystemLogBytesMax);
    const auto own_log = read_file(run.folder / setup_.own_log, kSystemLogBytesMax);
    const std::string in_use = std::strerror(EADDRINUSE);
    const bool lost_port = (log && log->find(in_use) != std::string::npos) ||
                           (own_log && own_log->find(in_use) != std::string::npos);
    if (!lost_port || attempt == kPortsTried) return serving;
    process_.reset();
  }
}

Expected<void> RunningSystem::make_scratch() {
  RunJournal& journal = start_.scratch.journal();
  const std::string name = start_.name + ".system";
  if (auto done = journal.will_make(JournalEntry::Kind::kFolder, name); !done) return done;
  const auto folder = start_.scratch.path() / name;
  std::error_code failure;
  std::filesystem::create_directory(folder, failure);
  if (failure) return run_problem("can't make '" + folder.string() + "': " + failure.message());
  scratch_name_ = name;
  start_.run.scratch = folder;
  const std::string instance = shared_memory_name();
  auto noted = journal.will_make(JournalEntry::Kind::kSharedMemory, instance);
  if (!noted) return noted;
  start_.run.instance = instance;
  return give_to(start_.user, folder);
}

Expected<void> RunningSystem::write_files() {
  std::error_code failure;
  for (const auto& file : setup_.files) {
    const auto path = start_.run.folder / file.name;
    if (file.name.ends_with('/')) {
      std::filesystem::create_directories(path, failure);
      if (failure) return run_problem("can't make '" + path.string() + "': " + failure.message());
    } else if (auto done = write_file(path, file.text); !done) {
      return done;
    }
  }
  return {};
}

Expected<void> RunningSystem::prepare() {
  for (const auto& command : setup_.preparations) {
    if (auto done = note_command(start_.run.folder, command); !done) return done;
    auto child = ChildProcess::start({command, output_log().string(), output_log().string(),
                                      start_.user, start_.group_file, false, start_.processors});
    if (!child) return child.error();
    const auto event = ChildWaiter::wait({&*child}, start_.stop, kPreparedTimeMax);
    if (event == ChildWaiter::Event::kStopRequested) return run_problem("stopped by a signal");
    if (event == ChildWaiter::Event::kTimeout) {
      return run_problem(child->name() + " took too long to prepare");
    }
    const ChildEnd end = child->stop();
    if (end.exit_status != 0) {
      return run_problem(child->name() + " " + end.text() + " while it prepared" + said());
    }
  }
  return {};
}

Expected<void> RunningSystem::launch() {
  if (auto done = note_command(start_.run.folder, setup_.command); !done) return done;
  auto started = ChildProcess::start({setup_.command, output_log().string(), output_log().string(),
                                      start_.user, start_.group_file, false, start_.processors});
  if (!started) return started.error();
  process_ = std::move(*started);
  if (start_.kind.system == "squid" || start_.kind.scheme.empty()) {
    const std::string name = name_of_process(process_->pid());
    auto noted = start_.scratch.journal().will_make(JournalEntry::Kind::kQueues, name);
    if (!noted) return noted;
    queues_name_ = name;
  }
  if (start_.kind.prints_address) {
    auto line = process_->wait_ready(": listening on ", kServingTimeMax, start_.stop);
    if (!line) return run_problem(line.error().text + said());
    admin_ = address_behind(*line, "admin on ");
    const auto address = address_behind(*line, "listening on ");
    if (!address) return run_problem(process_->name() + " printed no address: '" + *line + "'");
    address_ = *address;
    return {};
  }
  address_ = admin_.emplace(start_.run.listen);
  return wait_until_serving();
}

Expected<void> RunningSystem::wait_until_serving() {
  const auto deadline = SteadyClock::now() + kServingTimeMax;
  while (!takes_connections(address_)) {
    const auto event = ChildWaiter::wait({&*process_}, start_.stop, kLookPause);
    if (event == ChildWaiter::Event::kStopRequested) {
      return run_problem("stopped by a signal while " + process_->name() + " was starting");
    }
    if (const auto end = process_->poll_end()) {
      return run_problem(process_->name() + " " + end->text() + " before it was ready" + said());
    }
    if (SteadyClock::now() >= deadline) {
      return run_problem(process_->name() + " took no connection within " +
                         std::to_string(kServingTimeMax.count()) + " s" + said());
    }
  }
  return {};
}

std::vector<std::string> RunningSystem::keep_counters() {
  std::vector<std::string> failures;
  for (const auto& counters : setup_.counters) {
    if (counters.command.empty() && !admin_) continue;
    auto text = counters.command.empty() ? fetch_page(*admin_, counters.page, kCountersTimeMax)
                                         : output_of(counters.command, kCountersTimeMax);
    const auto kept = text ? write_file(start_.run.folder / counters.file, *text) : text.error();
    if (!kept) failures.push_back(kept.error().text);
  }
  return failures;
}

std::map<std::string, std::string> RunningSystem::said_of_itself() const {
  if (setup_.said == nullptr) return {};
  const auto log = read_file(start_.run.folder / setup_.notices_log, kSystemLogBytesMax);
  return log ? setup_.said(*log) : std::map<std::string, std::string>();
}

std::string RunningSystem::said() const {
  const auto own =
      setup_.own_log.empty() ? std::string() : last_words(start_.run.folder / setup_.own_log);
  const auto printed = last_words(output_log());
  return own.empty() ? printed : own;
}

}  // namespace workload
