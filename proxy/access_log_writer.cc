#include "proxy/access_log_writer.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace proxy {
namespace {

constexpr mode_t kFileMode = 0640;

int open_for_append(const std::string& path) {
  return ::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, kFileMode);
}

}  // namespace

AccessLogWriter::AccessLogWriter(std::string path, size_t buffer_size_bytes)
    : path_(std::move(path)), buffer_size_bytes_(buffer_size_bytes) {}

AccessLogWriter::~AccessLogWriter() {
  flush();
  if (descriptor_ >= 0) ::close(descriptor_);
}

storage::Result<void> AccessLogWriter::open() {
  return reopen();
}

void AccessLogWriter::log(const AccessRecord& record) {
  append_access_line(record, buffer_);
  ++buffered_lines_;
  if (buffer_.size() >= buffer_size_bytes_) flush();
}

void AccessLogWriter::flush() {
  std::string_view rest = buffer_;
  while (!rest.empty()) {
    const ssize_t written = ::write(descriptor_, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      ++write_errors_;
      break;
    }
    rest.remove_prefix(static_cast<size_t>(written));
  }
  uint64_t lost_lines = 0;
  for (char c : rest) lost_lines += c == '\n' ? 1 : 0;
  // A newline that ends an earlier torn line is no line of its own.
  lost_lines = std::min(lost_lines, buffered_lines_);
  lines_dropped_ += lost_lines;
  lines_written_ += buffered_lines_ - lost_lines;
  // What is left of a torn line must not run into the next one.
  const bool torn = rest.size() < buffer_.size() && !rest.empty() &&
                    buffer_[buffer_.size() - rest.size() - 1] != '\n';
  buffered_lines_ = 0;
  buffer_.assign(torn ? 1 : 0, '\n');
}

storage::Result<void> AccessLogWriter::reopen() {
  if (descriptor_ >= 0) flush();
  const int descriptor = open_for_append(path_);
  if (descriptor < 0) return storage::Error(storage::Errc::kIo, errno);
  if (descriptor_ >= 0) ::close(descriptor_);
  descriptor_ = descriptor;
  return {};
}

}  // namespace proxy
