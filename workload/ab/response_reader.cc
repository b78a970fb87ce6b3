#include "workload/ab/response_reader.h"

#include <algorithm>
#include <array>

#include "storage/base/units.h"

namespace workload::ab {

namespace {

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

/// Whether `text` is `name` (in lower case), whatever its case.
bool is_name(std::string_view text, std::string_view name) {
  return text.size() == name.size() &&
         std::equal(text.begin(), text.end(), name.begin(),
                    [](char left, char right) { return lower(left) == right; });
}

std::string_view stripped(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

/// Whether a comma-separated list holds `name` (in lower case).
bool holds(std::string_view list, std::string_view name) {
  while (true) {
    const auto comma = list.find(',');
    if (is_name(stripped(list.substr(0, comma)), name)) return true;
    if (comma == std::string_view::npos) return false;
    list.remove_prefix(comma + 1);
  }
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

struct HeadFields {
  bool close = false;
  bool keep = false;
};

/// Takes one field; false where it can't be.
bool take_field(std::string_view name, std::string_view value, ResponseHead& head,
                HeadFields& fields) {
  if (is_name(name, "content-length")) {
    const auto length = storage::parse_count(value);
    if (!length || *length > INT64_MAX) return false;
    if (head.content_length && *head.content_length != *length) return false;
    head.content_length = *length;
  } else if (is_name(name, "transfer-encoding")) {
    // Another coding, or two of them, is nothing that this client asked for.
    if (head.chunked || !is_name(value, "chunked")) return false;
    head.chunked = true;
  } else if (is_name(name, "connection")) {
    fields.close = fields.close || holds(value, "close");
    fields.keep = fields.keep || holds(value, "keep-alive");
  } else if (is_name(name, "server")) {
    head.server = value;
  }
  return true;
}

}  // namespace

std::optional<ResponseHead> parse_head(std::string_view text) {
  // `HTTP/1.x NNN`
  if (text.size() < 12 || text.substr(0, 7) != "HTTP/1." || !is_digit(text[7]) || text[8] != ' ' ||
      text[9] < '1' || text[9] > '9' || !is_digit(text[10]) || !is_digit(text[11]) ||
      (text.size() > 12 && text[12] != ' ' && text[12] != '\r' && text[12] != '\n')) {
    return std::nullopt;
  }
  ResponseHead head;
  head.status = (text[9] - '0') * 100 + (text[10] - '0') * 10 + (text[11] - '0');
  const bool persistent_version = text[7] >= '1';
  HeadFields fields;
  size_t at = text.find('\n');
  while (at != std::string_view::npos && at + 1 < text.size()) {
    const size_t begin = at + 1;
    at = text.find('\n', begin);
    std::string_view line = text.substr(begin, at == std::string_view::npos ? at : at - begin);
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    if (line.empty()) break;
    const auto colon = line.find(':');
    if (colon == 0 || colon == std::string_view::npos) return std::nullopt;
    const auto name = line.substr(0, colon);
    if (name.find_first_of(" \t") != std::string_view::npos) return std::nullopt;
    const auto value = stripped(line.substr(colon + 1));
    if (!take_field(name, value, head, fields)) return std::nullopt;
    if (is_name(name, "date") && !value.empty()) {
      head.date_at = static_cast<size_t>(value.data() - text.data());
      head.date_size = value.size();
    }
  }
  if (head.chunked && head.content_length) return std::nullopt;
  head.keep = !fields.close && (fields.keep || persistent_version);
  return head;
}

void ResponseReader::begin(bool head_only) {
  state_ = State::kHead;
  head_only_ = head_only;
  begun_ = false;
  interim_ = 0;
  text_.clear();
}

void ResponseReader::begin_behind(const ResponseHead& head, bool head_only) {
  begin(head_only);
  begun_ = true;
  head_ = head;
  frame();
}

void ResponseReader::fail(const char* reason) {
  state_ = State::kBroken;
  reason_ = reason;
}

std::string_view ResponseReader::take(std::string_view& input) {
  if (input.empty()) return {};
  begun_ = true;
  if (state_ == State::kHead) {
    take_head(input);
    return {};
  }
  if (state_ != State::kBody) return {};
  if (head_.chunked) return take_chunked(input);
  const size_t size = until_close_ ? input.size() : std::min<uint64_t>(left_, input.size());
  const auto body = input.substr(0, size);
  input.remove_prefix(size);
  if (!until_close_) {
    left_ -= size;
    if (left_ == 0) state_ = State::kDone;
  }
  return body;
}

void ResponseReader::take_head(std::string_view& input) {
  const size_t before = text_.size();
  // A little at a time, so that not much of the body is copied with it.
  constexpr size_t kPieceBytes = 2048;
  const size_t taken = std::min({kHeadBytesMax - before, kPieceBytes, input.size()});
  text_.append(input.substr(0, taken));
  // The end may have begun in the bytes before.
  for (size_t at = text_.find('\n', before > 3 ? before - 3 : 0); at != std::string::npos;
       at = text_.find('\n', at + 1)) {
    size_t end = at + 1;
    if (end < text_.size() && text_[end] == '\r') ++end;
    if (end >= text_.size()) break;
    if (text_[end] != '\n') continue;
    text_.resize(end + 1);
    input.remove_prefix(text_.size() - before);
    head_is_whole();
    return;
  }
  // Told early, as a server that speaks something else may never end a line.
  constexpr std::string_view kStart = "HTTP/1.";
  const size_t seen = std::min(kStart.size(), text_.size());
  if (std::string_view(text_).substr(0, seen) != kStart.substr(0, seen)) {
    fail("what came is no HTTP/1 response");
  } else if (text_.size() >= kHeadBytesMax) {
    fail("the head is longer than 64 KiB");
  } else {
    input.remove_prefix(taken);
  }
}

void ResponseReader::head_is_whole() {
  auto parsed = parse_head(text_);
  if (!parsed) return fail("the head is malformed or contradicts itself");
  if (parsed->status < 200) {
    // 101 would be another protocol, which nobody asked for.
    if (parsed->status == 101 || ++interim_ > kInterimMax) {
      return fail("an interim response that nobody asked for");
    }
    text_.clear();
    return;
  }
  head_ = std::move(*parsed);
  frame();
}

void ResponseReader::frame() {
  until_close_ = false;
  left_ = 0;
  chunk_ = Chunk::kSize;
  line_.clear();
  state_ = State::kBody;
  if (head_only_ || head_.status == 204 || head_.status == 304) {
    state_ = State::kDone;
  } else if (head_.chunked) {
    trailer_bytes_ = 0;
  } else if (head_.content_length) {
    left_ = *head_.content_length;
    if (left_ == 0) state_ = State::kDone;
  } else {
    until_close_ = true;
    head_.keep = false;
  }
}

bool ResponseReader::take_line(std::string_view& input) {
  const auto newline = input.find('\n');
  const size_t size = newline == std::string_view::npos ? input.size() : newline + 1;
  if (line_.size() + size > kChunkLineBytesMax) {
    fail("a line between chunks is longer than 4 KiB");
    return false;
  }
  line_.append(input.substr(0, size));
  input.remove_prefix(size);
  if (newline == std::string_view::npos) return false;
  if (line_.size() < 2 || line_[line_.size() - 2] != '\r') {
    fail("a line between chunks ends without CR LF");
    return false;
  }
  line_.resize(line_.size() - 2);
  return true;
}

void ResponseReader::chunk_size_line() {
  size_t digits = 0;
  left_ = 0;
  for (; digits < line_.size(); ++digits) {
    const char c = lower(line_[digits]);
    if (!is_digit(c) && (c < 'a' || c > 'f')) break;
    if (digits >= 15) return fail("a chunk's size is too large");
    left_ = left_ * 16 + static_cast<uint64_t>(is_digit(c) ? c - '0' : c - 'a' + 10);
  }
  if (digits == 0 || (digits < line_.size() && line_[digits] != ';' && line_[digits] != ' ' &&
                      line_[digits] != '\t')) {
    return fail("a chunk's size is no number");
  }
  chunk_ = left_ == 0 ? Chunk::kTrailer : Chunk::kData;
}

std::string_view ResponseReader::take_chunked(std::string_view& input) {
  if (chunk_ == Chunk::kData) {
    const size_t size = std::min<uint64_t>(left_, input.size());
    const auto body = input.substr(0, size);
    input.remove_prefix(size);
    left_ -= size;
    if (left_ == 0) chunk_ = Chunk::kDataEnd;
    return body;
  }
  if (!take_line(input)) return {};
  if (chunk_ == Chunk::kSize) {
    chunk_size_line();
  } else if (chunk_ == Chunk::kDataEnd) {
    if (!line_.empty()) fail("a chunk is longer than its size");
    chunk_ = Chunk::kSize;
  } else {
    trailer_bytes_ += line_.size();
    if (line_.empty()) {
      state_ = State::kDone;
    } else if (trailer_bytes_ > kHeadBytesMax) {
      fail("the trailer is longer than 64 KiB");
    }
  }
  line_.clear();
  return {};
}

void ResponseReader::end_of_stream() {
  if (state_ == State::kBody && until_close_) state_ = State::kDone;
}

}  // namespace workload::ab
