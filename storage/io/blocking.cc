#include "storage/io/blocking.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <string>

#include "storage/io/system_error.h"

namespace storage {

namespace {

enum Operation : size_t { kOpen, kRead, kWrite, kStat, kSync, kClose, kRename, kUnlink, kCount };

constexpr std::array<const char*, kCount> kLabels = {
    "operation=\"open\"", "operation=\"read\"",  "operation=\"write\"",  "operation=\"stat\"",
    "operation=\"sync\"", "operation=\"close\"", "operation=\"rename\"", "operation=\"unlink\""};

int open_flags(OpenMode mode) {
  // Whatever was put in a file's place must neither lead elsewhere (a link) nor block (a pipe).
  constexpr int kAlways = O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
  switch (mode) {
    case OpenMode::kRead:
      return O_RDONLY | kAlways;
    case OpenMode::kReadWrite:
      return O_RDWR | kAlways;
    case OpenMode::kCreateExclusive:
      return O_RDWR | O_CREAT | O_EXCL | kAlways;
  }
  return O_RDONLY | kAlways;
}

bool is_regular_file(int fd) {
  struct stat status {};
  return ::fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
}

// Repeats a call for as long as a signal interrupts it.
template <class Call>
auto uninterrupted(Call call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

}  // namespace

struct BlockingEngine::Statistics {
  explicit Statistics(const Clock& clock_in) : clock(clock_in) {}

  const Clock& clock;
  struct Row {
    uint64_t operations = 0;
    uint64_t errors = 0;
    uint64_t bytes = 0;
    Nanoseconds duration{0};
  };
  std::array<Row, kCount> rows;
};

namespace {

using Statistics = BlockingEngine::Statistics;

// Times one operation and counts its end.
class Measurement {
 public:
  Measurement(Statistics& statistics, Operation operation)
      : statistics_(statistics), operation_(operation), begin_(statistics.clock.steady_now()) {}

  // `result` is what the system call returned; errno is read where it is negative.
  Error end(int64_t result, uint64_t bytes = 0) {
    const int failure = result < 0 ? errno : 0;
    Statistics::Row& row = statistics_.rows[operation_];
    ++row.operations;
    row.bytes += bytes;
    row.duration += statistics_.clock.steady_now() - begin_;
    if (failure == 0) return Error();
    ++row.errors;
    return error_from_errno(failure);
  }

 private:
  Statistics& statistics_;
  Operation operation_;
  SteadyTime begin_;
};

Result<void> as_result(const Error& error) {
  if (error.code == Errc::kNone) return {};
  return error;
}

class BlockingFile final : public File {
 public:
  BlockingFile(int fd, std::shared_ptr<Statistics> statistics)
      : fd_(fd), statistics_(std::move(statistics)) {}
  ~BlockingFile() override {
    if (fd_ >= 0) (void)close_now();
  }
  BlockingFile(const BlockingFile&) = delete;
  BlockingFile& operator=(const BlockingFile&) = delete;

  Task<size_t> read(uint64_t offset_bytes, std::span<std::byte> buffer) override {
    Measurement measurement(*statistics_, kRead);
    size_t done = 0;
    while (done < buffer.size()) {
      const ssize_t got = uninterrupted([&] {
        return ::pread(fd_, buffer.data() + done, buffer.size() - done,
                       static_cast<off_t>(offset_bytes + done));
      });
      if (got < 0) co_return measurement.end(got, done);
      if (got == 0) break;
      done += static_cast<size_t>(got);
    }
    (void)measurement.end(0, done);
    co_return done;
  }

  Task<void> write(uint64_t offset_bytes, std::span<const std::byte> buffer) override {
    Measurement measurement(*statistics_, kWrite);
    size_t done = 0;
    while (done < buffer.size()) {
      ssize_t put = uninterrupted([&] {
        return ::pwrite(fd_, buffer.data() + done, buffer.size() - done,
                        static_cast<off_t>(offset_bytes + done));
      });
      if (put == 0) {  // nothing written and no reason given: never loop on it
        errno = EIO;
        put = -1;
      }
      if (put < 0) co_return as_result(measurement.end(put, done));
      done += static_cast<size_t>(put);
    }
    co_return as_result(measurement.end(0, done));
  }

  Task<uint64_t> size_bytes() override {
    struct stat status {};
    const Error error = stat_now(status);
    if (error.code != Errc::kNone) co_return error;
    co_return static_cast<uint64_t>(status.st_size);
  }

  Task<uint64_t> allocated_bytes() override {
    struct stat status {};
    const Error error = stat_now(status);
    if (error.code != Errc::kNone) co_return error;
    co_return static_cast<uint64_t>(status.st_blocks) * 512;
  }

  Task<void> sync() override {
    Measurement measurement(*statistics_, kSync);
    co_return as_result(measurement.end(uninterrupted([&] { return ::fdatasync(fd_); })));
  }

  Task<void> close() override {
    if (fd_ < 0) co_return Result<void>();
    co_return as_result(close_now());
  }

 private:
  Error stat_now(struct stat& status) {
    Measurement measurement(*statistics_, kStat);
    return measurement.end(::fstat(fd_, &status));
  }

  Error close_now() {
    Measurement measurement(*statistics_, kClose);
    int result = ::close(fd_);
    if (result < 0 && errno == EINTR) result = 0;  // Linux has closed it all the same
    fd_ = -1;
    return measurement.end(result);
  }

  int fd_;
  std::shared_ptr<Statistics> statistics_;
};

}  // namespace

BlockingEngine::BlockingEngine(const Clock& clock, int root_fd)
    : root_fd_(root_fd), statistics_(std::make_shared<Statistics>(clock)) {}

BlockingEngine::~BlockingEngine() = default;

Task<std::unique_ptr<File>> BlockingEngine::open(std::filesystem::path path, OpenMode mode) {
  Measurement measurement(*statistics_, kOpen);
  const int fd =
      uninterrupted([&] { return ::openat(root_fd_, path.c_str(), open_flags(mode), 0640); });
  const Error error = measurement.end(fd);
  if (error.code != Errc::kNone) {
    co_return error.system_errno == ELOOP ? Error(Errc::kCorrupt, ELOOP) : error;
  }
  if (!is_regular_file(fd)) {
    ::close(fd);
    co_return Error(Errc::kCorrupt);
  }
  co_return std::unique_ptr<File>(new BlockingFile(fd, statistics_));
}

Task<void> BlockingEngine::rename(std::filesystem::path from, std::filesystem::path to) {
  Measurement measurement(*statistics_, kRename);
  co_return as_result(measurement.end(
      uninterrupted([&] { return ::renameat(root_fd_, from.c_str(), root_fd_, to.c_str()); })));
}

Task<void> BlockingEngine::unlink(std::filesystem::path path) {
  Measurement measurement(*statistics_, kUnlink);
  const Error error =
      measurement.end(uninterrupted([&] { return ::unlinkat(root_fd_, path.c_str(), 0); }));
  // A folder in the file's place is somebody else's: the file itself has gone.
  if (error.system_errno == EISDIR) co_return Error(Errc::kNotFound, EISDIR);
  co_return as_result(error);
}

void BlockingEngine::visit_counters(CounterVisitor& visitor) const {
  for (size_t i = 0; i < kCount; ++i) {
    const Statistics::Row& row = statistics_->rows[i];
    visitor.counter("io_operations_total", kLabels[i], row.operations);
    visitor.counter("io_errors_total", kLabels[i], row.errors);
    visitor.counter("io_nanoseconds_total", kLabels[i],
                    static_cast<uint64_t>(row.duration.count()));
    if (i == kRead || i == kWrite) visitor.counter("io_bytes_total", kLabels[i], row.bytes);
  }
}

}  // namespace storage
