#include "storage/io/libaio.h"

#include <libaio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>
#include <fstream>
#include <system_error>

#include "storage/io/kernel_queue.h"

namespace storage {

namespace {

constexpr size_t kEventsAtOnce = 64;

class LibaioQueue final : public KernelQueue {
 public:
  LibaioQueue(const boost::asio::any_io_executor& executor, unsigned depth_max)
      : KernelQueue(executor, depth_max), depth_max_(depth_max) {}
  ~LibaioQueue() override { stop(); }
  LibaioQueue(const LibaioQueue&) = delete;
  LibaioQueue& operator=(const LibaioQueue&) = delete;

  std::string open();

  const char* name() const override { return "libaio"; }
  bool takes(const IoCall& call) const override {
    const bool possible =
        call.kind == IoKind::kRead || call.kind == IoKind::kWrite || call.kind == IoKind::kSync;
    return possible && call.alignment_bytes > 1;
  }

 private:
  int start(IoCall& call) override;
  void try_to_stop(IoCall&) override {}
  void reap(size_t minimum) override;
  void release() override {
    if (context_ != nullptr) io_destroy(context_);
    context_ = nullptr;
  }

  const unsigned depth_max_;
  io_context_t context_ = nullptr;
};

std::string number_in(const char* path) {
  std::string text;
  std::getline(std::ifstream(path) >> std::ws, text);
  return text.empty() ? "unknown" : text;
}

std::string LibaioQueue::open() {
  const std::string engine = "engine libaio: ";
  const int failure = -io_setup(static_cast<int>(depth_max_), &context_);
  if (failure == EAGAIN) {
    return engine + "the kernel grants no " + std::to_string(depth_max_) +
           " operations at once: fs.aio-max-nr is " + number_in("/proc/sys/fs/aio-max-nr") +
           ", of which " + number_in("/proc/sys/fs/aio-nr") +
           " are in use; raise it: sysctl -w fs.aio-max-nr=1048576";
  }
  if (failure == ENOSYS) return engine + "this kernel has no io_submit: give another engine=";
  if (failure != 0) return engine + "io_setup: " + std::generic_category().message(failure);
  const int no_event = open_event();
  if (no_event != 0) return engine + "eventfd: " + std::generic_category().message(no_event);
  return "";
}

int LibaioQueue::start(IoCall& call) {
  iocb block{};
  const auto offset = static_cast<long long>(call.offset_bytes);
  if (call.kind == IoKind::kRead) {
    io_prep_pread(&block, call.fd, call.data, call.size_bytes, offset);
  } else if (call.kind == IoKind::kWrite) {
    io_prep_pwrite(&block, call.fd, call.data, call.size_bytes, offset);
  } else {
    io_prep_fdsync(&block, call.fd);
  }
  io_set_eventfd(&block, event_fd());
  block.data = &call;
  iocb* blocks[] = {&block};
  const int taken = io_submit(context_, 1, blocks);  // copies the block
  if (taken == 1) return 0;
  return taken < 0 ? -taken : EAGAIN;
}

void LibaioQueue::reap(size_t minimum) {
  size_t reaped = 0;
  for (;;) {
    std::array<io_event, kEventsAtOnce> events;
    // Computed anew each time: an interrupted wait may come after a part of them was reaped.
    const size_t missing = std::min(minimum - std::min(minimum, reaped), events.size());
    timespec at_once{};
    const int got =
        io_getevents(context_, static_cast<long>(missing), static_cast<long>(events.size()),
                     events.data(), missing > 0 ? nullptr : &at_once);
    if (got == -EINTR) continue;
    if (got <= 0) return;
    for (const io_event& event : std::span(events).first(static_cast<size_t>(got))) {
      const auto result = static_cast<int64_t>(event.res);
      const CallOutcome outcome = result < 0 ? CallOutcome(static_cast<int>(-result), 0)
                                             : CallOutcome(0, static_cast<uint64_t>(result));
      ended(*static_cast<IoCall*>(event.data), outcome);
    }
    reaped += static_cast<size_t>(got);
    if (reaped >= minimum && static_cast<size_t>(got) < events.size()) return;
  }
}

}  // namespace

std::shared_ptr<CallQueue> make_libaio_queue(const boost::asio::any_io_executor& executor,
                                             unsigned depth_max, std::string& error) {
  auto queue = std::make_shared<LibaioQueue>(executor, depth_max);
  error = queue->open();
  if (!error.empty()) return nullptr;
  return queue;
}

}  // namespace storage
