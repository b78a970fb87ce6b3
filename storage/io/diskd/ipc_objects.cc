#include "storage/io/diskd/ipc_objects.h"

#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/shm.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <ctime>
#include <sstream>
#include <system_error>

#include "storage/base/kernel_file.h"
#include "storage/io/diskd/wire.h"

namespace storage {

namespace {

constexpr int kKeyAttempts = 16;
// Of these so many with keys that hold the number of the process, before any key will do.
constexpr int kOwnKeyAttempts = 8;
// Bits of a key below the number of the process; as in Squid's, so that whoever looks for what a
// killed process left finds both alike.
constexpr unsigned kOwnKeyBits = 10;
// A request with a path of the file-an-object layout is shorter.
constexpr size_t kUsualRequestSize = 96;

std::string limit(const char* name) {
  std::string text;
  std::istringstream(read_kernel_file(std::string("/proc/sys/kernel/") + name)) >> text;
  return text.empty() ? "unknown" : text;
}

std::string raise(const char* name, const std::string& to) {
  return std::string("the sysctl kernel.") + name + " is " + limit(name) +
         "; raise it: sysctl -w kernel." + name + "=" + to;
}

// A key that holds the number of the process, another one at each call.
int32_t own_key() {
  static std::atomic<uint32_t> taken{0};
  const uint32_t number = taken.fetch_add(1, std::memory_order_relaxed);
  return static_cast<int32_t>(static_cast<uint32_t>(::getpid()) << kOwnKeyBits |
                              (number & ((1U << kOwnKeyBits) - 1)));
}

// A key that is not 0, which would mean a private object.
int32_t draw_key(Random& random) {
  return static_cast<int32_t>(1 + random.below(0x7ffffffe));
}

HelperObjects draw_keys(Random& random, bool own_keys) {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  if (own_keys) return {::getpid(), now.tv_sec, own_key(), own_key(), own_key()};
  // Several processes may have been given the same seed.
  Random own = random.fork(mix64(static_cast<uint64_t>(now.tv_nsec)) ^
                           (static_cast<uint64_t>(::getpid()) << 32) ^ random());
  HelperObjects objects;
  objects.pid = ::getpid();
  objects.time_s = now.tv_sec;
  objects.requests_key = draw_key(own);
  objects.replies_key = draw_key(own);
  objects.memory_key = draw_key(own);
  return objects;
}

// What is wrong with the limits of the kernel's queues; empty if nothing is.
std::string check_queue(int queue_id, unsigned messages_max) {
  const size_t size_bytes = std::max(messages_max * kUsualRequestSize, kHelperRequestSizeMax);
  msqid_ds status{};
  if (::msgctl(queue_id, IPC_STAT, &status) == 0 && status.msg_qbytes < size_bytes) {
    return std::to_string(messages_max) + " messages under way do not fit into a queue: " +
           raise("msgmnb", std::to_string(size_bytes)) + ", or give a lower q2=";
  }
  size_t message_max = kHelperRequestSizeMax;
  // What is not known is as it should be.
  std::istringstream known(read_kernel_file("/proc/sys/kernel/msgmax"));
  if (!(known >> message_max) || message_max >= kHelperRequestSizeMax) return "";
  return "a message may be too long: " + raise("msgmax", "8192");
}

}  // namespace

std::string explain_ipc_failure(const std::string& call, int system_errno, size_t size_bytes) {
  const std::string size = std::to_string(size_bytes);
  if (call == "msgget" && system_errno == ENOSPC) {
    return "there are too many message queues (ipcs -q lists them): " + raise("msgmni", "1024");
  }
  if (call == "shmget" && system_errno == EINVAL) {
    return "a pool of " + size + " bytes is too large: " + raise("shmmax", size) +
           ", or give fewer slots=";
  }
  if (call == "shmget" && system_errno == ENOSPC) {
    return "there is no shared memory for a pool of " + size + " bytes: kernel.shmall (" +
           limit("shmall") + " pages) or kernel.shmmni (" + limit("shmmni") +
           " segments) is reached (ipcs -m lists them); raise them: sysctl -w "
           "kernel.shmall=4194304 kernel.shmmni=4096, or give fewer slots=";
  }
  if (call == "shmget" && system_errno == ENOMEM) {
    return "there is no memory for a pool of " + size + " bytes: give fewer slots=";
  }
  if (system_errno == ENOSYS) return "this kernel has no System V " + call;
  return call + ": " + std::generic_category().message(system_errno);
}

std::unique_ptr<IpcObjects> IpcObjects::make(HelperState& state, unsigned slots,
                                             unsigned messages_max, Random& random,
                                             std::string& error) {
  const size_t memory_size = size_t{slots} * kHelperSlotSizeBytes;
  for (int attempt = 0; attempt < kKeyAttempts; ++attempt) {
    const HelperObjects keys = draw_keys(random, attempt < kOwnKeyAttempts);
    const int failure = state.write(keys);
    if (failure != 0) {
      error = "cannot write " + std::string(kHelperStateName) + ": " +
              std::generic_category().message(failure);
      return nullptr;
    }
    std::unique_ptr<IpcObjects> objects(new IpcObjects(state));
    errno = 0;
    const char* const failed = objects->make_all(keys, memory_size);
    const int system_errno = errno;
    if (failed != nullptr && system_errno == EEXIST) continue;  // somebody has that key
    error = failed != nullptr ? explain_ipc_failure(failed, system_errno, memory_size)
                              : check_queue(objects->requests_id(), messages_max);
    if (!error.empty()) return nullptr;
    return objects;
  }
  error = "all keys that were tried are taken: ipcs lists the objects";
  return nullptr;
}

const char* IpcObjects::make_all(const HelperObjects& keys, size_t memory_size_bytes) {
  constexpr int kNew = IPC_CREAT | IPC_EXCL | 0600;
  requests_id_ = ::msgget(keys.requests_key, kNew);
  if (requests_id_ < 0) return "msgget";
  replies_id_ = ::msgget(keys.replies_key, kNew);
  if (replies_id_ < 0) return "msgget";
  memory_id_ = ::shmget(keys.memory_key, memory_size_bytes, kNew);
  if (memory_id_ < 0) return "shmget";
  void* const address = ::shmat(memory_id_, nullptr, 0);
  const int failure = errno;
  ::shmctl(memory_id_, IPC_RMID, nullptr);
  errno = failure;
  // NOLINTNEXTLINE(performance-no-int-to-ptr): how the call says that it has failed
  if (address == reinterpret_cast<void*>(-1)) return "shmat";
  memory_ = std::span(static_cast<std::byte*>(address), memory_size_bytes);
  return nullptr;
}

IpcObjects::~IpcObjects() {
  if (requests_id_ >= 0) ::msgctl(requests_id_, IPC_RMID, nullptr);
  if (replies_id_ >= 0) ::msgctl(replies_id_, IPC_RMID, nullptr);
  if (!memory_.empty()) ::shmdt(memory_.data());
  (void)state_.write(HelperObjects());  // else the next start looks for what has gone
}

}  // namespace storage
