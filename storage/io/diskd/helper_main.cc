#include "storage/io/diskd/helper_main.h"

#include <fcntl.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <limits>
#include <optional>
#include <string>
#include <system_error>
#include <thread>

#include "storage/base/units.h"
#include "storage/io/diskd/helper_files.h"
#include "storage/io/diskd/helper_precautions.h"
#include "storage/io/diskd/helper_process.h"
#include "storage/io/diskd/message_queue.h"
#include "storage/io/diskd/wire.h"

namespace storage {

namespace {

constexpr int kCannotBegin = 1;
constexpr int kWrongArguments = 2;
constexpr int kWrongMessage = 3;

struct Arguments {
  int requests_id = -1;
  int replies_id = -1;
  int memory_id = -1;
  size_t slots = 0;
};

std::optional<Arguments> parse(int count, const char* const* texts) {
  if (count != 5) return std::nullopt;
  std::array<int, 4> numbers{};
  for (size_t i = 0; i < numbers.size(); ++i) {
    const std::optional<uint64_t> number = parse_count(texts[i + 1]);
    if (!number || *number > std::numeric_limits<int>::max()) return std::nullopt;
    numbers[i] = static_cast<int>(*number);
  }
  if (numbers[3] == 0) return std::nullopt;
  return Arguments{numbers[0], numbers[1], numbers[2], static_cast<size_t>(numbers[3])};
}

void tell(const std::string& line) {
  // Whoever does not listen has gone, or will see the end of this process.
  (void)!::write(kHelperSocketFd, line.data(), line.size());
}

int give_up(const std::string& why) {
  tell(why + "\n");
  return kCannotBegin;
}

void ignore_signals() {
  // A terminal or a service manager sends these to every process; the store has yet to write its
  // log through this one.
  for (const int number : {SIGINT, SIGTERM, SIGQUIT, SIGHUP, SIGPIPE, SIGUSR1, SIGUSR2}) {
    ::signal(number, SIG_IGN);
  }
}

// Whichever thread comes first ends both, and has removed both queues before.
[[noreturn]] void end_process(const Arguments& ids, int status) {
  ::msgctl(ids.replies_id, IPC_RMID, nullptr);
  ::msgctl(ids.requests_id, IPC_RMID, nullptr);
  ::_exit(status);
}

// Ends the process when the store has closed its end of the socket, however that came. In a thread
// of its own, since the other one may wait for a disk.
void end_with_the_store(Arguments ids) {
  ::fcntl(kHelperSocketFd, F_SETFL, ::fcntl(kHelperSocketFd, F_GETFL) & ~O_NONBLOCK);
  char byte = 0;
  ssize_t got = 1;
  while (got > 0 || (got < 0 && errno == EINTR)) got = ::read(kHelperSocketFd, &byte, 1);
  end_process(ids, 0);
}

// Wakes the store. The socket is full only where it has as many bytes to read as it needs.
void wake_store() {
  const char byte = '!';
  (void)!::send(kHelperSocketFd, &byte, 1, MSG_DONTWAIT | MSG_NOSIGNAL);
}

int serve(const Arguments& ids, HelperFiles& files) {
  std::array<std::byte, kMessageSizeMax> buffer;
  while (true) {
    const ReceivedMessage received = receive_message_waiting(ids.requests_id, buffer);
    if (received.system_errno == E2BIG) return kWrongMessage;
    if (received.system_errno != 0) return 0;  // EIDRM, EINVAL: the queue has gone
    const std::optional<HelperRequest> request =
        decode_request(std::span(buffer).first(received.size_bytes));
    if (!request) return kWrongMessage;
    if (send_message_waiting(ids.replies_id, encode_reply(files.handle(*request))) != 0) return 0;
    wake_store();
  }
}

}  // namespace

int run_helper(int argument_count, const char* const* arguments) {
  const std::optional<Arguments> ids = parse(argument_count, arguments);
  if (!ids) {
    std::fputs("cacheoff-diskd is started by a store of the scheme diskd, not by hand\n", stderr);
    return kWrongArguments;
  }
  ignore_signals();
  close_from((ProcessEnd::is_held_by_children() ? kHelperEndFd : kHelperLockFd) + 1);
  take_precautions();
  const auto slots_size = ids->slots * kHelperSlotSizeBytes;
  shmid_ds segment{};
  void* const address = ::shmat(ids->memory_id, nullptr, 0);
  // NOLINTNEXTLINE(performance-no-int-to-ptr): how the call says that it has failed
  if (address == reinterpret_cast<void*>(-1)) {
    return give_up("shmat: " + std::generic_category().message(errno));
  }
  const bool sound = ::shmctl(ids->memory_id, IPC_STAT, &segment) == 0;
  if (!sound || segment.shm_segsz < slots_size) return give_up("the shared memory is too small");
  HelperFiles files(kHelperFolderFd, std::span(static_cast<std::byte*>(address), slots_size));
  const int refused = files.check_kernel();
  if (refused != 0) {
    return give_up("openat2 (Linux 5.6 or later, and not filtered) does not work: " +
                   std::generic_category().message(refused));
  }
  tell(std::string(kHelperGreeting));
  std::thread(end_with_the_store, *ids).detach();
  end_process(*ids, serve(*ids, files));
}

}  // namespace storage
