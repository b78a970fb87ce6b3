#ifdef CACHEOFF_HAS_LIBURING

#include "storage/io/io_uring.h"

#include <fcntl.h>
#include <liburing.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <fstream>
#include <system_error>

#include "storage/io/kernel_queue.h"

namespace storage {

namespace {

constexpr std::array kOperationsNeeded = {
    IORING_OP_OPENAT, IORING_OP_READ,     IORING_OP_WRITE,    IORING_OP_FSYNC,
    IORING_OP_CLOSE,  IORING_OP_RENAMEAT, IORING_OP_UNLINKAT, IORING_OP_ASYNC_CANCEL};
// What one call may transfer: its length is 32 bits wide, and its result is an int.
constexpr size_t kTransferSizeMax = size_t{1} << 30;

class UringQueue final : public KernelQueue {
 public:
  UringQueue(const boost::asio::any_io_executor& executor, unsigned depth_max)
      : KernelQueue(executor, depth_max), depth_max_(depth_max) {}
  ~UringQueue() override { stop(); }
  UringQueue(const UringQueue&) = delete;
  UringQueue& operator=(const UringQueue&) = delete;

  std::string open();

  const char* name() const override { return "io_uring"; }
  bool takes(const IoCall& call) const override { return call.kind != IoKind::kStat; }

 private:
  int start(IoCall& call) override;
  void try_to_stop(IoCall& call) override;
  void reap(size_t minimum) override;
  void release() override {
    if (open_) io_uring_queue_exit(&ring_);
    open_ = false;
  }
  bool knows_all_operations();

  const unsigned depth_max_;
  io_uring ring_{};
  bool open_ = false;
};

std::string refusal(int failure) {
  if (failure == ENOSYS) return "this kernel has none (5.11 or later is needed)";
  if (failure == ENOMEM) return "no memory may be locked for it: raise ulimit -l";
  if (failure != EPERM) return std::generic_category().message(failure);
  std::string disabled;
  std::getline(std::ifstream("/proc/sys/kernel/io_uring_disabled"), disabled);
  return "the kernel forbids it: the sysctl kernel.io_uring_disabled is " +
         (disabled.empty() ? "unknown" : disabled) +
         " and must be 0, and the system call filter of a container must allow it";
}

std::string line_of(const std::string& reason) {
  return "engine io_uring: " + reason + "; engine=thread_pool works everywhere";
}

std::string UringQueue::open() {
  const int failure = -io_uring_queue_init(depth_max_, &ring_, IORING_SETUP_CLAMP);
  if (failure != 0) return line_of(refusal(failure));
  open_ = true;
  if (!knows_all_operations()) return line_of("this kernel is too old, 5.11 or later is needed");
  const int no_event = open_event();
  if (no_event != 0) return line_of("eventfd: " + std::generic_category().message(no_event));
  const int not_registered = -io_uring_register_eventfd(&ring_, event_fd());
  if (not_registered != 0) return line_of(refusal(not_registered));
  return "";
}

bool UringQueue::knows_all_operations() {
  io_uring_probe* const probe = io_uring_get_probe_ring(&ring_);
  if (probe == nullptr) return false;
  const bool all = std::ranges::all_of(kOperationsNeeded, [probe](int operation) {
    return io_uring_opcode_supported(probe, operation) != 0;
  });
  io_uring_free_probe(probe);
  return all;
}

void prepare(io_uring_sqe* entry, const IoCall& call) {
  const auto length = static_cast<unsigned>(std::min(call.size_bytes, kTransferSizeMax));
  switch (call.kind) {
    case IoKind::kOpen:
      io_uring_prep_openat(entry, call.fd, call.path.c_str(), open_flags(call.mode), 0640);
      return;
    case IoKind::kRead:
      io_uring_prep_read(entry, call.fd, call.data, length, call.offset_bytes);
      return;
    case IoKind::kWrite:
      io_uring_prep_write(entry, call.fd, call.data, length, call.offset_bytes);
      return;
    case IoKind::kSync:
      io_uring_prep_fsync(entry, call.fd, IORING_FSYNC_DATASYNC);
      return;
    case IoKind::kClose:
      io_uring_prep_close(entry, call.fd);
      return;
    case IoKind::kRename:
      io_uring_prep_renameat(entry, call.fd, call.path.c_str(), call.fd, call.new_path.c_str(), 0);
      return;
    case IoKind::kUnlink:
      io_uring_prep_unlinkat(entry, call.fd, call.path.c_str(), 0);
      return;
    case IoKind::kStat:
      io_uring_prep_nop(entry);  // not taken
      return;
  }
}

int UringQueue::start(IoCall& call) {
  io_uring_sqe* const entry = io_uring_get_sqe(&ring_);
  if (entry == nullptr) return EAGAIN;
  prepare(entry, call);
  io_uring_sqe_set_data(entry, &call);
  int taken = 0;
  do {
    taken = io_uring_submit(&ring_);
  } while (taken == -EINTR);
  if (io_uring_sq_ready(&ring_) == 0) return 0;
  // Still in the ring, and cannot be taken back: let it be nothing.
  io_uring_prep_nop(entry);
  io_uring_sqe_set_data(entry, nullptr);
  return taken < 0 ? -taken : EAGAIN;
}

void UringQueue::try_to_stop(IoCall& call) {
  io_uring_sqe* const entry = io_uring_get_sqe(&ring_);
  if (entry == nullptr) return;
  io_uring_prep_cancel(entry, &call, 0);
  io_uring_sqe_set_data(entry, nullptr);
  (void)io_uring_submit(&ring_);  // if not now, then with the next call
}

void UringQueue::reap(size_t minimum) {
  for (size_t reaped = 0;;) {
    io_uring_cqe* entry = nullptr;
    const int failure =
        reaped < minimum ? -io_uring_wait_cqe(&ring_, &entry) : -io_uring_peek_cqe(&ring_, &entry);
    if (failure == EINTR) continue;
    if (failure != 0 || entry == nullptr) return;
    auto* const call = static_cast<IoCall*>(io_uring_cqe_get_data(entry));
    const int result = entry->res;
    io_uring_cqe_seen(&ring_, entry);
    if (call == nullptr) continue;  // the end of a request to stop another one
    ++reaped;
    ended(*call,
          result < 0 ? CallOutcome(-result, 0) : CallOutcome(0, static_cast<uint64_t>(result)));
  }
}

}  // namespace

std::shared_ptr<CallQueue> make_io_uring_queue(const boost::asio::any_io_executor& executor,
                                               unsigned depth_max, std::string& error) {
  auto queue = std::make_shared<UringQueue>(executor, depth_max);
  error = queue->open();
  if (!error.empty()) return nullptr;
  return queue;
}

}  // namespace storage

#endif  // CACHEOFF_HAS_LIBURING
