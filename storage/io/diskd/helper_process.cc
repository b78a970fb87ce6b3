#include "storage/io/diskd/helper_process.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <system_error>

#include "storage/base/own_program.h"
#include "storage/io/diskd/wire.h"

namespace storage {

namespace {

constexpr auto kEndWaitMax = std::chrono::seconds(1);
// Above all numbers that the helper expects something under.
constexpr int kFirstFreeFd = 10;

std::string reason(int system_errno) {
  return std::generic_category().message(system_errno);
}

OwnedFd duplicate_high(int fd) {
  return OwnedFd(::fcntl(fd, F_DUPFD_CLOEXEC, kFirstFreeFd));
}

// What posix_spawn() is told: the descriptors, a process group, signals as they are by default.
class SpawnPlan {
 public:
  SpawnPlan() {
    posix_spawn_file_actions_init(&actions_);
    posix_spawnattr_init(&attributes_);
    sigset_t signals;
    sigfillset(&signals);
    posix_spawnattr_setsigdefault(&attributes_, &signals);
    sigemptyset(&signals);
    posix_spawnattr_setsigmask(&attributes_, &signals);
    posix_spawnattr_setpgroup(&attributes_, 0);
    posix_spawnattr_setflags(
        &attributes_, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
    for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
      posix_spawn_file_actions_addopen(&actions_, fd, "/dev/null", O_RDWR, 0);
    }
  }
  ~SpawnPlan() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;

  void hand_over(const OwnedFd& fd, int as) {
    posix_spawn_file_actions_adddup2(&actions_, fd.get(), as);
  }
  int run(const std::string& program, char* const arguments[], pid_t& pid) const {
    return ::posix_spawn(&pid, program.c_str(), &actions_, &attributes_, arguments, environ);
  }

 private:
  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
};

}  // namespace

std::string default_helper_program() {
  return (own_program().parent_path() / "cacheoff-diskd").string();
}

std::unique_ptr<HelperProcess> HelperProcess::start(const std::string& program,
                                                    const IpcObjects& objects, int folder_fd,
                                                    int lock_fd, std::string& error) {
  int ends[2] = {-1, -1};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) != 0) {
    error = "socketpair: " + reason(errno);
    return nullptr;
  }
  std::unique_ptr<HelperProcess> process(new HelperProcess());
  process->socket_ = OwnedFd(ends[0]);
  const OwnedFd its_end(ends[1]);
  const OwnedFd socket = duplicate_high(its_end.get());
  const OwnedFd folder = duplicate_high(folder_fd);
  const OwnedFd lock = duplicate_high(lock_fd);
  const bool ready = process->end_.begin() == 0;
  const bool holds_end = ProcessEnd::is_held_by_children();
  const OwnedFd end(holds_end ? duplicate_high(process->end_.held_by_child()) : OwnedFd());
  if (!ready || socket.get() < 0 || folder.get() < 0 || lock.get() < 0 ||
      (holds_end && end.get() < 0)) {
    error = "no descriptors are left for it: raise ulimit -n";
    return nullptr;
  }
  SpawnPlan plan;
  plan.hand_over(socket, kHelperSocketFd);
  plan.hand_over(folder, kHelperFolderFd);
  plan.hand_over(lock, kHelperLockFd);
  if (holds_end) plan.hand_over(end, kHelperEndFd);
  std::array<std::string, 5> arguments = {
      program, std::to_string(objects.requests_id()), std::to_string(objects.replies_id()),
      std::to_string(objects.memory_id()),
      std::to_string(objects.memory().size() / kHelperSlotSizeBytes)};
  std::array<char*, arguments.size() + 1> pointers{};
  for (size_t i = 0; i < arguments.size(); ++i) pointers[i] = arguments[i].data();
  const int failure = plan.run(program, pointers.data(), process->pid_);
  if (failure != 0) {
    process->pid_ = -1;
    error = "cannot run the helper program " + program + " (" + reason(failure) +
            "): give its path, program=";
    return nullptr;
  }
  const int unwatched = process->end_.watch(process->pid_);
  if (unwatched == 0) return process;
  error = "it cannot be watched: " + reason(unwatched);
  // Not reaped yet, so the number is still its own.
  ::kill(process->pid_, SIGKILL);
  ::waitpid(process->pid_, nullptr, 0);
  process->gone_ = true;
  return nullptr;
}

HelperProcess::~HelperProcess() {
  socket_.reset();
  if (pid_ < 0 || gone_) return;
  kill();
  (void)wait(kEndWaitMax);
}

void HelperProcess::kill() {
  if (!gone_) end_.kill();
}

bool HelperProcess::wait(std::chrono::milliseconds wait_max) {
  if (gone_) return true;
  const auto deadline = std::chrono::steady_clock::now() + wait_max;
  while (true) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline - std::chrono::steady_clock::now());
    pollfd event{end_.fd(), POLLIN, 0};
    const int ready = ::poll(&event, 1, static_cast<int>(std::max<int64_t>(left.count(), 0)));
    if (ready > 0) break;
    if (ready == 0 || errno != EINTR) return false;
  }
  end_.reap();
  gone_ = true;
  return true;
}

}  // namespace storage
