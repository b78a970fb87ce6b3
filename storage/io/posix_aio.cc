#include "storage/io/posix_aio.h"

#include <aio.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <system_error>
#include <utility>
#include <vector>

#include "storage/io/kernel_queue.h"

namespace storage {

namespace {

constexpr auto kNoticeWaitMax = std::chrono::seconds(1);

// What the threads share that the system tells ends in: they may come when the queue has gone.
struct Notices {
  OwnedFd event;
  std::mutex mutex;
  std::condition_variable came;
  size_t expected = 0;  // by mutex
};

void tell_end(sigval value) {
  const std::unique_ptr<std::shared_ptr<Notices>> own(
      static_cast<std::shared_ptr<Notices>*>(value.sival_ptr));
  Notices& notices = **own;
  const std::lock_guard lock(notices.mutex);
  const uint64_t one = 1;
  // Where it is full, the loop is about to look.
  if (notices.event.get() >= 0) (void)!::write(notices.event.get(), &one, sizeof one);
  --notices.expected;
  notices.came.notify_all();
}

class PosixAioQueue final : public KernelQueue {
 public:
  PosixAioQueue(const boost::asio::any_io_executor& executor, unsigned depth_max)
      : KernelQueue(executor, depth_max) {}
  ~PosixAioQueue() override { stop(); }
  PosixAioQueue(const PosixAioQueue&) = delete;
  PosixAioQueue& operator=(const PosixAioQueue&) = delete;

  std::string open();

  const char* name() const override { return "posix_aio"; }
  bool takes(const IoCall& call) const override {
    return call.kind == IoKind::kRead || call.kind == IoKind::kWrite || call.kind == IoKind::kSync;
  }

 private:
  struct Transfer {
    explicit Transfer(IoCall& call_in) : call(call_in) {}
    IoCall& call;
    const std::unique_ptr<aiocb> block = std::make_unique<aiocb>();
  };

  int start(IoCall& call) override;
  void try_to_stop(IoCall& call) override;
  void reap(size_t minimum) override;
  size_t reap_ended();
  void release() override;

  std::vector<std::unique_ptr<Transfer>> under_way_;
  const std::shared_ptr<Notices> notices_ = std::make_shared<Notices>();
};

std::string PosixAioQueue::open() {
  int failure = open_event();
  if (failure == 0) {
    notices_->event = OwnedFd(::fcntl(event_fd(), F_DUPFD_CLOEXEC, 0));
    if (notices_->event.get() < 0) failure = errno;
  }
  if (failure == 0) return "";
  return "engine posix_aio: no event: " + std::generic_category().message(failure);
}

int PosixAioQueue::start(IoCall& call) {
  auto transfer = std::make_unique<Transfer>(call);
  aiocb& block = *transfer->block;
  block.aio_fildes = call.fd;
  block.aio_offset = static_cast<off_t>(call.offset_bytes);
  block.aio_buf = call.data;
  block.aio_nbytes = call.size_bytes;
  auto notice = std::make_unique<std::shared_ptr<Notices>>(notices_);
  block.aio_sigevent.sigev_notify = SIGEV_THREAD;
  block.aio_sigevent.sigev_notify_function = tell_end;
  block.aio_sigevent.sigev_value.sival_ptr = notice.get();
  const std::lock_guard lock(notices_->mutex);
  const int result = call.kind == IoKind::kRead    ? ::aio_read(&block)
                     : call.kind == IoKind::kWrite ? ::aio_write(&block)
                                                   : ::aio_fsync(O_DSYNC, &block);
  if (result != 0) return errno;
  (void)notice.release();  // tell_end() has it now
  ++notices_->expected;
  under_way_.push_back(std::move(transfer));
  return 0;
}

void PosixAioQueue::try_to_stop(IoCall& call) {
  const auto found = std::ranges::find_if(
      under_way_, [&call](const auto& transfer) { return &transfer->call == &call; });
  // Its end is told as that of any other.
  if (found != under_way_.end()) (void)::aio_cancel(call.fd, (*found)->block.get());
}

size_t PosixAioQueue::reap_ended() {
  std::vector<std::unique_ptr<Transfer>> gone;
  const auto is_over = [](const auto& transfer) {
    return ::aio_error(transfer->block.get()) != EINPROGRESS;
  };
  for (auto& transfer : under_way_) {
    if (is_over(transfer)) gone.push_back(std::move(transfer));
  }
  std::erase(under_way_, nullptr);
  for (const auto& transfer : gone) {
    const int failure = ::aio_error(transfer->block.get());
    const ssize_t result = ::aio_return(transfer->block.get());
    ended(transfer->call,
          failure != 0 ? CallOutcome(failure, 0)
                       : CallOutcome(0, static_cast<uint64_t>(std::max<ssize_t>(result, 0))));
  }
  return gone.size();
}

void PosixAioQueue::reap(size_t minimum) {
  size_t reaped = reap_ended();
  while (reaped < minimum && !under_way_.empty()) {
    std::vector<const aiocb*> blocks;
    for (const auto& transfer : under_way_) blocks.push_back(transfer->block.get());
    // Interrupted or not: what has ended is found by looking.
    (void)::aio_suspend(blocks.data(), static_cast<int>(blocks.size()), nullptr);
    reaped += reap_ended();
  }
}

// All has ended, but a thread may yet be about to say so. One that the system could not start says
// nothing.
void PosixAioQueue::release() {
  std::unique_lock lock(notices_->mutex);
  notices_->came.wait_for(lock, kNoticeWaitMax, [this] { return notices_->expected == 0; });
  notices_->event.reset();
}

}  // namespace

std::shared_ptr<CallQueue> make_posix_aio_queue(const boost::asio::any_io_executor& executor,
                                                unsigned depth_max, std::string& error) {
  auto queue = std::make_shared<PosixAioQueue>(executor, depth_max);
  error = queue->open();
  if (!error.empty()) return nullptr;
  return queue;
}

}  // namespace storage
