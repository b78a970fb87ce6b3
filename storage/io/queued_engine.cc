#include "storage/io/queued_engine.h"

#include <cerrno>
#include <utility>

#include "storage/io/io_statistics.h"
#include "storage/io/system_error.h"

namespace storage {
namespace asio = boost::asio;

struct QueuedEngine::Shared {
  Shared(std::shared_ptr<CallQueue> queue_in, const Clock& clock, int root_fd_in)
      : queue(std::move(queue_in)), statistics(clock), root_fd(root_fd_in) {}

  const std::shared_ptr<CallQueue> queue;
  IoStatistics statistics;
  const int root_fd;
};

namespace {

using SharedState = std::shared_ptr<QueuedEngine::Shared>;

asio::awaitable<CallOutcome> make_call(SharedState shared, std::shared_ptr<IoCall> call) {
  if (shared->queue->takes(*call)) co_return co_await await_call(shared->queue, call);
  const CallOutcome outcome = perform(*call);
  (void)end_call(*call, outcome);
  co_return outcome;
}

Task<void> make_counted(SharedState shared, std::shared_ptr<IoCall> call) {
  IoMeasurement measurement(shared->statistics, call->kind);
  const CallOutcome outcome = co_await make_call(shared, call);
  const Error error = measurement.end(outcome);
  if (error.code == Errc::kNone) co_return Result<void>();
  co_return error;
}

Task<uint64_t> stat(SharedState shared, std::shared_ptr<IoCall> call) {
  IoMeasurement measurement(shared->statistics, IoKind::kStat);
  const CallOutcome outcome = co_await make_call(shared, call);
  const Error error = measurement.end(outcome);
  if (error.code == Errc::kNone) co_return outcome.value;
  co_return error;
}

// A read or a write of `size_bytes`, in as many calls as it takes.
struct Transfer {
  Transfer(IoKind kind_in, int fd_in, uint64_t offset_in, std::byte* data_in, size_t size_in,
           size_t alignment_in)
      : kind(kind_in),
        fd(fd_in),
        offset_bytes(offset_in),
        data(data_in),
        size_bytes(size_in),
        alignment_bytes(alignment_in) {}

  IoKind kind;
  int fd;
  uint64_t offset_bytes;
  std::byte* data;
  size_t size_bytes;
  size_t alignment_bytes;

  std::shared_ptr<IoCall> rest(size_t done_bytes) const {
    auto call = std::make_shared<IoCall>(kind, fd);
    call->offset_bytes = offset_bytes + done_bytes;
    call->data = data + done_bytes;
    call->size_bytes = size_bytes - done_bytes;
    call->alignment_bytes = alignment_bytes;
    return call;
  }
};

Task<size_t> carry_out(SharedState shared, Transfer transfer) {
  IoMeasurement measurement(shared->statistics, transfer.kind);
  CallOutcome total;
  while (total.value < transfer.size_bytes) {
    const std::shared_ptr<IoCall> call = transfer.rest(total.value);
    if (shared->queue->refuses(*call)) co_return Error(Errc::kOverloaded, EAGAIN);
    const CallOutcome outcome = co_await make_call(shared, call);
    if (outcome.system_errno == EINTR) continue;
    total.value += outcome.value;
    total.system_errno = outcome.system_errno;
    if (total.system_errno != 0 || shared->queue->transfers_whole()) break;
    const bool unaligned_end = outcome.value % transfer.alignment_bytes != 0;
    if (transfer.kind == IoKind::kRead && (outcome.value == 0 || unaligned_end)) break;
    // Nothing written and no reason given: never loop on it.
    if (outcome.value == 0) total.system_errno = EIO;
    if (outcome.value == 0) break;
  }
  const Error error = measurement.end(total);
  if (error.code == Errc::kNone) co_return total.value;
  co_return error;
}

Task<void> carry_out_write(SharedState shared, Transfer transfer) {
  const Result<size_t> written = co_await carry_out(std::move(shared), transfer);
  if (!written) co_return written.error();
  co_return Result<void>();
}

class QueuedFile final : public File {
 public:
  QueuedFile(SharedState shared, int fd, size_t alignment_bytes)
      : shared_(std::move(shared)), fd_(fd), alignment_bytes_(alignment_bytes) {}
  ~QueuedFile() override { close_in_background(); }
  QueuedFile(const QueuedFile&) = delete;
  QueuedFile& operator=(const QueuedFile&) = delete;

  Task<size_t> read(uint64_t offset_bytes, std::span<std::byte> buffer) override {
    return carry_out(shared_, Transfer(IoKind::kRead, fd_, offset_bytes, buffer.data(),
                                       buffer.size(), alignment_bytes_));
  }
  Task<void> write(uint64_t offset_bytes, std::span<const std::byte> buffer) override {
    // The kernel's interfaces know one pointer for both directions.
    auto* const data = const_cast<std::byte*>(buffer.data());
    return carry_out_write(shared_, Transfer(IoKind::kWrite, fd_, offset_bytes, data, buffer.size(),
                                             alignment_bytes_));
  }
  Task<uint64_t> size_bytes() override { return stat(shared_, make(IoKind::kStat)); }
  Task<uint64_t> allocated_bytes() override {
    auto call = make(IoKind::kStat);
    call->of_space = true;
    return stat(shared_, std::move(call));
  }
  Task<void> sync() override { return make_counted(shared_, make(IoKind::kSync)); }
  size_t alignment_bytes() const override { return alignment_bytes_; }
  Task<void> close() override {
    if (fd_ < 0) co_return Result<void>();
    auto call = make(IoKind::kClose);
    fd_ = -1;
    co_return co_await make_counted(shared_, std::move(call));
  }

 private:
  std::shared_ptr<IoCall> make(IoKind kind) const {
    auto call = std::make_shared<IoCall>(kind, fd_);
    call->alignment_bytes = alignment_bytes_;
    return call;
  }

  void close_in_background() {
    if (fd_ < 0) return;
    auto call = make(IoKind::kClose);
    IoMeasurement measurement(shared_->statistics, IoKind::kClose);
    CallOutcome outcome;  // of one that the queue makes, the queue counts an error
    if (shared_->queue->takes(*call)) {
      shared_->queue->submit(std::move(call));
    } else {
      outcome = perform(*call);
    }
    (void)measurement.end(outcome);
  }

  SharedState shared_;
  int fd_;
  const size_t alignment_bytes_;
};

Task<std::unique_ptr<File>> open_queued(SharedState shared, std::shared_ptr<IoCall> call) {
  if (shared->queue->refuses(*call)) co_return Error(Errc::kOverloaded, EAGAIN);
  IoMeasurement measurement(shared->statistics, IoKind::kOpen);
  CallOutcome outcome = co_await make_call(shared, call);
  size_t alignment = 1;
  if (outcome.system_errno == 0) {
    const OpenedFile opened = inspect_opened(call->opened_fd, call->mode);
    alignment = opened.alignment_bytes;
    // The call closes a file that cannot be used.
    if (opened.system_errno != 0) outcome = CallOutcome(opened.system_errno, 0);
  }
  const Error error = measurement.end(outcome);
  if (error.code != Errc::kNone) co_return error;
  auto file = std::make_unique<QueuedFile>(shared, call->opened_fd, alignment);
  call->opened_fd = -1;
  co_return file;
}

}  // namespace

QueuedEngine::QueuedEngine(std::shared_ptr<CallQueue> queue, const asio::any_io_executor& executor,
                           const Clock& clock, int root_fd)
    : shared_(std::make_shared<Shared>(std::move(queue), clock, root_fd)) {
  stop_with_context(shared_->queue, executor);
}

QueuedEngine::~QueuedEngine() {
  shared_->queue->stop();
}

const char* QueuedEngine::name() const {
  return shared_->queue->name();
}

Task<std::unique_ptr<File>> QueuedEngine::open(std::filesystem::path path, OpenMode mode) {
  auto call = std::make_shared<IoCall>(IoKind::kOpen, shared_->root_fd);
  call->path = path.string();
  call->mode = mode;
  return open_queued(shared_, std::move(call));
}

Task<void> QueuedEngine::rename(std::filesystem::path from, std::filesystem::path to) {
  auto call = std::make_shared<IoCall>(IoKind::kRename, shared_->root_fd);
  call->path = from.string();
  call->new_path = to.string();
  return make_counted(shared_, std::move(call));
}

Task<void> QueuedEngine::unlink(std::filesystem::path path) {
  auto call = std::make_shared<IoCall>(IoKind::kUnlink, shared_->root_fd);
  call->path = path.string();
  return make_counted(shared_, std::move(call));
}

bool QueuedEngine::overloaded() const {
  return shared_->queue->overloaded();
}

void QueuedEngine::visit_counters(CounterVisitor& visitor) const {
  shared_->statistics.visit(visitor);
  shared_->queue->visit_counters(visitor);
}

}  // namespace storage
