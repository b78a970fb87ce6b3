#include "storage/io/diskd/helper_state.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/shm.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <system_error>
#include <thread>

namespace storage {

namespace {

constexpr const char* kFormat =
    "cacheoff diskd state, version 1\npid=%010ld\ntime=%020lld\nrequests=%08x\nreplies=%08x\n"
    "memory=%08x\n";
constexpr int64_t kClockSlackSeconds = 2;
constexpr int64_t kMakingSecondsMax = 10;
constexpr auto kLockRetry = std::chrono::milliseconds(1);

bool ours(const ipc_perm& permissions, int64_t changed_s, const HelperObjects& objects) {
  const uid_t user = ::geteuid();
  return permissions.uid == user && permissions.cuid == user && (permissions.mode & 0777) == 0600 &&
         changed_s >= objects.time_s - kClockSlackSeconds &&
         changed_s <= objects.time_s + kMakingSecondsMax;
}

// A queue does not say who made it, but who sent to it and received from it last.
bool remove_queue(int32_t key, const HelperObjects& objects, bool requests) {
  if (key == 0) return false;
  const int id = ::msgget(key, 0);
  msqid_ds status{};
  if (id < 0 || ::msgctl(id, IPC_STAT, &status) != 0) return false;
  const pid_t user = requests ? status.msg_lspid : status.msg_lrpid;
  if (!ours(status.msg_perm, status.msg_ctime, objects)) return false;
  if (user != 0 && user != objects.pid) return false;
  return ::msgctl(id, IPC_RMID, nullptr) == 0;
}

bool remove_segment(int32_t key, const HelperObjects& objects) {
  if (key == 0) return false;
  const int id = ::shmget(key, 0, 0);
  shmid_ds status{};
  if (id < 0 || ::shmctl(id, IPC_STAT, &status) != 0) return false;
  if (!ours(status.shm_perm, status.shm_ctime, objects) || status.shm_cpid != objects.pid) {
    return false;
  }
  return ::shmctl(id, IPC_RMID, nullptr) == 0;
}

std::string read_text(int fd) {
  std::string text(1024, '\0');
  const ssize_t got = ::pread(fd, text.data(), text.size(), 0);
  text.resize(got < 0 ? 0 : static_cast<size_t>(got));
  return text;
}

bool lock_within(int fd, std::chrono::milliseconds wait_max) {
  const auto deadline = std::chrono::steady_clock::now() + wait_max;
  while (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) return false;
    if (std::chrono::steady_clock::now() >= deadline) return false;
    std::this_thread::sleep_for(kLockRetry);
  }
  return true;
}

}  // namespace

std::string encode_helper_objects(const HelperObjects& objects) {
  char text[256];
  const int length = std::snprintf(
      text, sizeof text, kFormat, static_cast<long>(objects.pid),
      static_cast<long long>(objects.time_s), static_cast<unsigned>(objects.requests_key),
      static_cast<unsigned>(objects.replies_key), static_cast<unsigned>(objects.memory_key));
  return std::string(text, static_cast<size_t>(length));
}

std::optional<HelperObjects> decode_helper_objects(std::string_view text) {
  long pid = 0;
  long long time_s = 0;
  unsigned keys[3] = {};
  const std::string terminated(text);
  const int fields = std::sscanf(terminated.c_str(),
                                 "cacheoff diskd state, version 1\npid=%10ld\ntime=%20lld\n"
                                 "requests=%8x\nreplies=%8x\nmemory=%8x\n",
                                 &pid, &time_s, &keys[0], &keys[1], &keys[2]);
  if (fields != 5) return std::nullopt;
  HelperObjects objects;
  objects.pid = static_cast<pid_t>(pid);
  objects.time_s = time_s;
  objects.requests_key = static_cast<int32_t>(keys[0]);
  objects.replies_key = static_cast<int32_t>(keys[1]);
  objects.memory_key = static_cast<int32_t>(keys[2]);
  if (encode_helper_objects(objects) != text) return std::nullopt;
  return objects;
}

unsigned remove_helper_objects(const HelperObjects& objects) {
  unsigned removed = 0;
  removed += remove_queue(objects.requests_key, objects, true) ? 1 : 0;
  removed += remove_queue(objects.replies_key, objects, false) ? 1 : 0;
  removed += remove_segment(objects.memory_key, objects) ? 1 : 0;
  return removed;
}

std::unique_ptr<HelperState> HelperState::open(int folder_fd, std::chrono::milliseconds wait_max,
                                               std::string& error) {
  const std::string name(kHelperStateName);
  OwnedFd fd(::openat(folder_fd, name.c_str(),
                      O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600));
  if (fd.get() < 0) {
    error = "cannot open " + name + ": " + std::generic_category().message(errno);
    return nullptr;
  }
  std::unique_ptr<HelperState> state(new HelperState(std::move(fd)));
  // First, since a helper that waits for a request ends when its queue goes.
  const std::optional<HelperObjects> left = decode_helper_objects(read_text(state->fd()));
  if (left) state->leftovers_ = remove_helper_objects(*left);
  if (!lock_within(state->fd(), wait_max)) {
    error = "a helper process of an earlier run still has " + name +
            " locked: end the cacheoff-diskd that lsof finds for it, then start again";
    return nullptr;
  }
  return state;
}

int HelperState::write(const HelperObjects& objects) {
  const std::string text = encode_helper_objects(objects);
  const ssize_t put = ::pwrite(fd_.get(), text.data(), text.size(), 0);
  if (put < 0) return errno;
  if (static_cast<size_t>(put) != text.size()) return EIO;
  // A longer one was not ours.
  return ::ftruncate(fd_.get(), static_cast<off_t>(text.size())) == 0 ? 0 : errno;
}

}  // namespace storage
