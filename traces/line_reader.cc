#include "traces/line_reader.h"

#include <algorithm>
#include <utility>

namespace traces {

namespace {

constexpr size_t kReadBytes = 64 * 1024;
constexpr std::string_view kByteOrderMark("\xef\xbb\xbf", 3);

}  // namespace

LineReader::LineReader(std::unique_ptr<ByteSource> source, size_t line_bytes_max)
    : source_(std::move(source)), line_bytes_max_(line_bytes_max), chunk_(kReadBytes) {}

LogResult<std::optional<Line>> LineReader::next() {
  line_.clear();
  too_long_ = false;
  line_begun_ = false;
  while (!unread_.empty() || refill()) {
    line_begun_ = true;
    const size_t end = unread_.find('\n');
    keep(unread_.substr(0, end));
    if (end == std::string_view::npos) {
      unread_ = {};
      continue;
    }
    unread_.remove_prefix(end + 1);
    return std::optional<Line>(finish_line(true));
  }
  if (line_begun_) return std::optional<Line>(finish_line(false));
  if (failure_) {
    return LogError{failure_->text + " at line " + std::to_string(number_) +
                    "; what lies before was read"};
  }
  return std::optional<Line>();
}

bool LineReader::refill() {
  if (ended_ || failure_) return false;
  const auto got = source_->read(chunk_);
  if (!got) {
    failure_ = got.error();
    return false;
  }
  ended_ = *got == 0;
  unread_ = std::string_view(chunk_.data(), *got);
  return !ended_;
}

void LineReader::keep(std::string_view part) {
  const size_t room = line_bytes_max_ - line_.size();
  too_long_ = too_long_ || part.size() > room;
  line_.append(part.substr(0, std::min(part.size(), room)));
}

Line LineReader::finish_line(bool ended) {
  ++number_;
  std::string_view text = line_;
  if (!too_long_ && text.ends_with('\r')) text.remove_suffix(1);
  if (number_ == 1 && text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  Line line;
  line.text = text;
  line.number = number_;
  line.too_long = too_long_;
  line.ended = ended;
  return line;
}

LogResult<std::unique_ptr<LineReader>> open_log(const std::string& path, WaitNotice on_wait) {
  auto file = open_file_source(path, std::move(on_wait));
  if (!file) return file.error();
  auto bytes = unpack_source(std::move(*file));
  if (!bytes) return LogError{path + ": " + bytes.error().text};
  return std::make_unique<LineReader>(std::move(*bytes));
}

}  // namespace traces
