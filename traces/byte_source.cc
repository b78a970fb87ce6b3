#include "traces/byte_source.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace traces {

namespace {

constexpr size_t kChunkBytes = 64 * 1024;
/// A writer that is being started takes a while.
constexpr int kQuietWaitMs = 1000;

std::string reason_of(int system_errno) {
  return std::error_code(system_errno, std::generic_category()).message();
}

/// Of a descriptor that does not block; where that says so, it is waited for here.
class FileSource final : public ByteSource {
 public:
  FileSource(int fd, std::string path, WaitNotice on_wait)
      : fd_(fd), path_(std::move(path)), on_wait_(std::move(on_wait)) {}
  ~FileSource() override { ::close(fd_); }
  FileSource(const FileSource&) = delete;
  FileSource& operator=(const FileSource&) = delete;

  /// A named pipe that nobody has opened for writing yet reads as one that is at its end.
  void await_writer() { awaits_writer_ = true; }

  LogResult<size_t> read(std::span<char> out) override {
    if (std::exchange(awaits_writer_, false)) wait();
    for (;;) {
      const ssize_t got = ::read(fd_, out.data(), out.size());
      if (got >= 0) return static_cast<size_t>(got);
      if (errno == EAGAIN) {
        wait();
      } else if (errno != EINTR) {
        return LogError{"can't read " + path_ + ": " + reason_of(errno)};
      }
    }
  }

 private:
  /// Until there is something to read or the last writer has gone.
  void wait() {
    pollfd event{fd_, POLLIN, 0};
    int ready = ::poll(&event, 1, kQuietWaitMs);
    if (ready == 0 && on_wait_) {
      std::exchange(on_wait_, nullptr)("waiting for somebody to write to " + path_);
    }
    while (ready == 0 || (ready < 0 && errno == EINTR)) ready = ::poll(&event, 1, -1);
  }

  int fd_;
  std::string path_;
  WaitNotice on_wait_;  ///< Told once.
  bool awaits_writer_ = false;
};

/// Gives the bytes that were read for a look at the beginning, then the rest.
class PrefixedSource final : public ByteSource {
 public:
  PrefixedSource(std::string prefix, std::unique_ptr<ByteSource> rest)
      : prefix_(std::move(prefix)), rest_(std::move(rest)) {}

  LogResult<size_t> read(std::span<char> out) override {
    if (given_ == prefix_.size()) return rest_->read(out);
    const size_t count = std::min(out.size(), prefix_.size() - given_);
    std::memcpy(out.data(), prefix_.data() + given_, count);
    given_ += count;
    return count;
  }

 private:
  std::string prefix_;
  size_t given_ = 0;
  std::unique_ptr<ByteSource> rest_;
};

class GzipSource final : public ByteSource {
 public:
  explicit GzipSource(std::unique_ptr<ByteSource> inner)
      : inner_(std::move(inner)), input_(kChunkBytes) {
    // 16 above the largest window: gzip headers only.
    usable_ = ::inflateInit2(&stream_, 16 + MAX_WBITS) == Z_OK;
    if (!usable_) failure_ = LogError{"no memory to unpack gzip"};
  }
  ~GzipSource() override {
    if (usable_) ::inflateEnd(&stream_);
  }
  GzipSource(const GzipSource&) = delete;
  GzipSource& operator=(const GzipSource&) = delete;

  LogResult<size_t> read(std::span<char> out) override {
    while (!failure_ && !ended_) {
      const size_t made = step(out);
      if (made > 0) return made;
    }
    if (failure_) return *failure_;
    return size_t{0};
  }

 private:
  /// Unpacks once into `out`; 0 where more input, the end or a failure came first.
  size_t step(std::span<char> out) {
    if (stream_.avail_in == 0 && !refill()) return 0;
    if (between_members_ && !begin_member()) return 0;
    stream_.next_out = reinterpret_cast<Bytef*>(out.data());
    const auto room = static_cast<uInt>(std::min<size_t>(out.size(), kChunkBytes));
    stream_.avail_out = room;
    const int status = ::inflate(&stream_, Z_NO_FLUSH);
    if (status == Z_STREAM_END) {
      between_members_ = true;
    } else if (status != Z_OK && status != Z_BUF_ERROR) {
      failure_ = LogError{"compressed data is damaged"};
    }
    return room - stream_.avail_out;
  }

  bool refill() {
    const auto got = inner_->read(input_);
    if (!got) {
      failure_ = got.error();
    } else if (*got == 0) {
      ended_ = true;
      if (!between_members_) {
        failure_ = LogError{"compressed data ends early"};
      }
    } else {
      stream_.next_in = reinterpret_cast<Bytef*>(input_.data());
      stream_.avail_in = static_cast<uInt>(*got);
    }
    return got && *got > 0;
  }

  /// Another member may follow; zeros are padding (RFC 1952 leaves them open, tapes have them).
  bool begin_member() {
    while (stream_.avail_in > 0 && *stream_.next_in == 0) {
      ++stream_.next_in;
      --stream_.avail_in;
    }
    if (stream_.avail_in == 0) return false;
    between_members_ = false;
    if (::inflateReset(&stream_) == Z_OK) return true;
    failure_ = LogError{"can't unpack the next gzip member"};
    return false;
  }

  std::unique_ptr<ByteSource> inner_;
  std::vector<char> input_;
  z_stream stream_{};
  bool usable_ = false;
  bool between_members_ = false;
  bool ended_ = false;
  std::optional<LogError> failure_;
};

struct Magic {
  std::string_view bytes;
  std::string_view name;
};

constexpr std::string_view kGzipMagic("\x1f\x8b", 2);
constexpr Magic kOtherCompressions[] = {
    {std::string_view("\x28\xb5\x2f\xfd", 4), "zstd"},
    {std::string_view("\xfd"
                      "7zXZ",
                      5),
     "xz"},
    {std::string_view("BZh", 3), "bzip2"},
};

}  // namespace

LogResult<std::unique_ptr<ByteSource>> open_file_source(const std::string& path,
                                                        WaitNotice on_wait) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return LogError{"can't open " + path + ": " + reason_of(errno)};
  auto source = std::make_unique<FileSource>(fd, path, std::move(on_wait));
  struct stat status {};
  if (::fstat(fd, &status) != 0) return LogError{"can't read " + path + ": " + reason_of(errno)};
  if (S_ISDIR(status.st_mode)) return LogError{path + " is a folder, not a log"};
  if (S_ISCHR(status.st_mode) || S_ISBLK(status.st_mode)) {
    // Some of them never end.
    return LogError{path + " is a device, not a log"};
  }
  if (S_ISFIFO(status.st_mode)) source->await_writer();
  return std::unique_ptr<ByteSource>(std::move(source));
}

LogResult<std::unique_ptr<ByteSource>> unpack_source(std::unique_ptr<ByteSource> inner) {
  std::string prefix;
  while (prefix.size() < 6) {
    char bytes[6];
    const auto got = inner->read(std::span<char>(bytes, 6 - prefix.size()));
    if (!got) return got.error();
    if (*got == 0) break;
    prefix.append(bytes, *got);
  }
  for (const auto& other : kOtherCompressions) {
    if (prefix.compare(0, other.bytes.size(), other.bytes) != 0) continue;
    return LogError{"the log is compressed with " + std::string(other.name) +
                    "; give it unpacked, or packed with gzip"};
  }
  const bool gzip = prefix.compare(0, kGzipMagic.size(), kGzipMagic) == 0;
  std::unique_ptr<ByteSource> whole =
      std::make_unique<PrefixedSource>(std::move(prefix), std::move(inner));
  if (gzip) whole = std::make_unique<GzipSource>(std::move(whole));
  return whole;
}

}  // namespace traces
