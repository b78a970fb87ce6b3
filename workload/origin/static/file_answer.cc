#include "workload/origin/static/file_answer.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>

#include "workload/model/http_date.h"
#include "workload/origin/response_head.h"

namespace workload {
namespace {

constexpr int64_t kNsPerS = 1'000'000'000;
/// Longer than a tick of any filesystem's clock (FAT has two seconds).
constexpr int64_t kSettledNs = 2 * kNsPerS;

void add_hex(std::string& out, uint64_t value) {
  std::array<char, 16> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value, 16).ptr;
  out.append(digits.data(), end);
}

/// Makes everything that was added to the text since `begin` a piece.
void end_text(FileAnswer& out, uint64_t begin) {
  out.pieces.push_back({PieceSource::kText, begin, out.text.size() - begin});
}

void begin_answer(unsigned status, const FileContext& context, FileAnswer& out) {
  out.status = status;
  out.keep_alive = context.keep_alive;
  out.pieces.clear();
  begin_head(status, context.now_unix_s, out.text);
}

/// What 200, 206 and 304 have in common.
void add_validators(const FileContext& context, const Validators& validators, std::string& head) {
  add_field(head, "Last-Modified", HttpDate(validators.last_modified_unix_s).text());
  add_field(head, "ETag", validators.etag);
  if (context.negotiated) add_field(head, "Vary", "Accept-Encoding");
}

void end_file_head(const FileContext& context, const Validators& validators, FileAnswer& out) {
  if (context.coding != FileCoding::kIdentity) add_field(out.text, "Content-Encoding", "gzip");
  if (context.coding != FileCoding::kCompressed) add_field(out.text, "Accept-Ranges", "bytes");
  add_validators(context, validators, out.text);
  end_head(context.keep_alive, out.text);
  end_text(out, 0);
}

void add_part(const ByteRange& range, FileAnswer& out) {
  out.pieces.push_back({PieceSource::kFile, range.first, range.size_bytes()});
}

void answer_one_range(const FileContext& context, const Validators& validators, FileAnswer& out) {
  const ByteRange range = out.ranges.front();
  begin_answer(206, context, out);
  add_field(out.text, "Content-Type", context.media_type);
  add_field(out.text, "Content-Length", range.size_bytes());
  out.text += "Content-Range: ";
  add_content_range(out.text, range, context.size_bytes);
  out.text += "\r\n";
  end_file_head(context, validators, out);
  add_part(range, out);
}

void add_part_head(const FileContext& context, const ByteRange& range, std::string& out) {
  out.append("\r\n--").append(context.boundary).append("\r\n");
  add_field(out, "Content-Type", context.media_type);
  out += "Content-Range: ";
  add_content_range(out, range, context.size_bytes);
  out += "\r\n\r\n";
}

/// RFC 9110 section 14.6.
void answer_several_ranges(const FileContext& context, const Validators& validators,
                           FileAnswer& out) {
  const std::string end = "\r\n--" + std::string(context.boundary) + "--\r\n";
  std::string part_head;
  uint64_t length = end.size();
  for (const auto& range : out.ranges) {
    part_head.clear();
    add_part_head(context, range, part_head);
    length += part_head.size() + range.size_bytes();
  }
  begin_answer(206, context, out);
  add_field(out.text, "Content-Type",
            "multipart/byteranges; boundary=" + std::string(context.boundary));
  add_field(out.text, "Content-Length", length);
  end_file_head(context, validators, out);
  for (const auto& range : out.ranges) {
    const uint64_t begin = out.text.size();
    add_part_head(context, range, out.text);
    end_text(out, begin);
    add_part(range, out);
  }
  const uint64_t begin = out.text.size();
  out.text += end;
  end_text(out, begin);
}

void answer_whole(const FileContext& context, const Validators& validators, FileAnswer& out) {
  begin_answer(200, context, out);
  add_field(out.text, "Content-Type", context.media_type);
  add_field(out.text, "Content-Length", context.size_bytes);
  end_file_head(context, validators, out);
  if (context.size_bytes == 0) return;
  const bool in_memory = context.coding == FileCoding::kCompressed;
  out.pieces.push_back(
      {in_memory ? PieceSource::kMemory : PieceSource::kFile, 0, context.size_bytes});
}

}  // namespace

FileVersion::FileVersion(const FileFacts& facts, FileCoding coding, int64_t now_unix_ns)
    : last_modified_unix_s_(std::min(facts.modified_unix_ns, now_unix_ns) / kNsPerS),
      is_settled_(std::max(facts.changed_unix_ns, facts.modified_unix_ns) <=
                  now_unix_ns - kSettledNs) {
  if (!is_settled_ || coding == FileCoding::kCompressed) etag_ = "W/";
  etag_ += '"';
  add_hex(etag_, facts.inode);
  etag_ += '-';
  add_hex(etag_, facts.size_bytes);
  etag_ += '-';
  add_hex(etag_, static_cast<uint64_t>(facts.changed_unix_ns));
  if (coding != FileCoding::kIdentity) etag_ += "-gzip";
  etag_ += '"';
}

Validators FileVersion::validators() const {
  return {etag_, std::max<int64_t>(0, last_modified_unix_s_), is_settled_};
}

void answer_file(const OriginRequest& request, const FileContext& context,
                 const Validators& validators, Conditions conditions, FileAnswer& out) {
  const bool head_only = request.method == OriginRequest::Method::kHead;
  if (conditions == Conditions::kFailed) {
    return answer_file_text(412, "The file is another one.\n", {}, head_only, context, out);
  }
  if (conditions == Conditions::kNotModified) {
    begin_answer(304, context, out);
    add_validators(context, validators, out.text);
    end_head(context.keep_alive, out.text);
    return end_text(out, 0);
  }
  auto kind = RangeKind::kWhole;
  if (context.coding != FileCoding::kCompressed &&
      range_applies(request, validators, context.now_unix_s)) {
    kind = select_byte_ranges(request.range, context.size_bytes, out.ranges);
  }
  if (kind == RangeKind::kUnsatisfiable) {
    std::string field = "Content-Range: bytes */";
    add_number(field, context.size_bytes);
    field += "\r\n";
    return answer_file_text(416, "The file has no such range.\n", field, head_only, context, out);
  }
  if (kind == RangeKind::kWhole) {
    answer_whole(context, validators, out);
  } else if (out.ranges.size() == 1) {
    answer_one_range(context, validators, out);
  } else {
    answer_several_ranges(context, validators, out);
  }
  if (head_only) out.pieces.resize(1);
}

void answer_file_text(unsigned status, std::string_view text, std::string_view more_fields,
                      bool head_only, const FileContext& context, FileAnswer& out) {
  out.status = status;
  out.keep_alive = context.keep_alive;
  out.pieces.clear();
  TextResponse response;
  response.status = status;
  response.text = text;
  response.more_fields = more_fields;
  response.head_only = head_only;
  write_text_response(response, context.now_unix_s, context.keep_alive, out.text);
  const uint64_t head_bytes = out.text.size() - (head_only ? 0 : text.size());
  out.pieces.push_back({PieceSource::kText, 0, head_bytes});
  if (!head_only) end_text(out, head_bytes);
}

void answer_directory_page(bool head_only, const FileContext& context, FileAnswer& out) {
  begin_answer(200, context, out);
  add_field(out.text, "Content-Type", "text/html; charset=utf-8");
  add_field(out.text, "Content-Length", context.size_bytes);
  add_field(out.text, "Cache-Control", "no-cache");
  // The page has names in it that anyone may have given; nothing in them is to run.
  add_field(out.text, "Content-Security-Policy", "default-src 'none'");
  add_field(out.text, "X-Content-Type-Options", "nosniff");
  end_head(context.keep_alive, out.text);
  end_text(out, 0);
  if (!head_only) out.pieces.push_back({PieceSource::kMemory, 0, context.size_bytes});
}

void answer_options(const FileContext& context, FileAnswer& out) {
  begin_answer(204, context, out);
  out.text += kFileMethodsField;
  end_head(context.keep_alive, out.text);
  end_text(out, 0);
}

}  // namespace workload
