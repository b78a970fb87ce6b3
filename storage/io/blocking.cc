#include "storage/io/blocking.h"

#include <cerrno>
#include <utility>

#include "storage/io/file_calls.h"

namespace storage {

namespace {

Result<void> as_result(const Error& error) {
  if (error.code == Errc::kNone) return {};
  return error;
}

class BlockingFile final : public File {
 public:
  BlockingFile(int fd, size_t alignment_bytes, std::shared_ptr<IoStatistics> statistics)
      : fd_(fd), alignment_bytes_(alignment_bytes), statistics_(std::move(statistics)) {}
  ~BlockingFile() override {
    if (fd_ >= 0) (void)close_now();
  }
  BlockingFile(const BlockingFile&) = delete;
  BlockingFile& operator=(const BlockingFile&) = delete;

  Task<size_t> read(uint64_t offset_bytes, std::span<std::byte> buffer) override {
    IoMeasurement measurement(*statistics_, IoKind::kRead);
    const CallOutcome outcome = read_file(fd_, offset_bytes, buffer, alignment_bytes_);
    const Error error = measurement.end(outcome);
    if (error.code != Errc::kNone) co_return error;
    co_return outcome.value;
  }

  Task<void> write(uint64_t offset_bytes, std::span<const std::byte> buffer) override {
    IoMeasurement measurement(*statistics_, IoKind::kWrite);
    co_return as_result(measurement.end(write_file(fd_, offset_bytes, buffer)));
  }

  Task<uint64_t> size_bytes() override { co_return stat_now(size_of_file); }
  Task<uint64_t> allocated_bytes() override { co_return stat_now(allocated_to_file); }

  Task<void> sync() override {
    IoMeasurement measurement(*statistics_, IoKind::kSync);
    co_return as_result(measurement.end(sync_file(fd_)));
  }

  size_t alignment_bytes() const override { return alignment_bytes_; }

  Task<void> close() override {
    if (fd_ < 0) co_return Result<void>();
    co_return as_result(close_now());
  }

 private:
  Result<uint64_t> stat_now(CallOutcome (*call)(int fd)) {
    IoMeasurement measurement(*statistics_, IoKind::kStat);
    const CallOutcome outcome = call(fd_);
    const Error error = measurement.end(outcome);
    if (error.code != Errc::kNone) return error;
    return outcome.value;
  }

  Error close_now() {
    IoMeasurement measurement(*statistics_, IoKind::kClose);
    return measurement.end(close_file(std::exchange(fd_, -1)));
  }

  int fd_;
  const size_t alignment_bytes_;
  std::shared_ptr<IoStatistics> statistics_;
};

}  // namespace

BlockingEngine::BlockingEngine(const Clock& clock, int root_fd)
    : root_fd_(root_fd), statistics_(std::make_shared<IoStatistics>(clock)) {}

Task<std::unique_ptr<File>> BlockingEngine::open(std::filesystem::path path, OpenMode mode) {
  IoMeasurement measurement(*statistics_, IoKind::kOpen);
  CallOutcome outcome = open_file(root_fd_, path.c_str(), mode);
  const auto fd = static_cast<int>(outcome.value);
  size_t alignment = 1;
  if (outcome.system_errno == 0) {
    const OpenedFile opened = inspect_opened(fd, mode);
    alignment = opened.alignment_bytes;
    if (opened.system_errno != 0) {
      (void)close_file(fd);
      outcome = CallOutcome(opened.system_errno, 0);
    }
  }
  const Error error = measurement.end(outcome);
  if (error.code != Errc::kNone) co_return error;
  co_return std::make_unique<BlockingFile>(fd, alignment, statistics_);
}

Task<void> BlockingEngine::rename(std::filesystem::path from, std::filesystem::path to) {
  IoMeasurement measurement(*statistics_, IoKind::kRename);
  co_return as_result(measurement.end(rename_file(root_fd_, from.c_str(), to.c_str())));
}

Task<void> BlockingEngine::unlink(std::filesystem::path path) {
  IoMeasurement measurement(*statistics_, IoKind::kUnlink);
  co_return as_result(measurement.end(unlink_file(root_fd_, path.c_str())));
}

void BlockingEngine::visit_counters(CounterVisitor& visitor) const {
  statistics_->visit(visitor);
}

}  // namespace storage
