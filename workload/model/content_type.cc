#include "workload/model/content_type.h"

#include "storage/base/random.h"

namespace workload {
namespace {

struct KnownFile {
  std::string_view type;
  unsigned percent_end;  ///< The kind serves percents below this one, from the row before on.
  FileKind file;
};

/// The shares of the first four types are those of PolyMix-4.
constexpr KnownFile kKnownFiles[] = {
    {"image", 34, {".gif", "image/gif"}},
    {"image", 67, {".jpeg", "image/jpeg"}},
    {"image", 100, {".png", "image/png"}},
    {"html", 60, {".html", "text/html"}},
    {"html", 100, {".htm", "text/html"}},
    {"download", 40, {".exe", "application/octet-stream"}},
    {"download", 70, {".zip", "application/zip"}},
    {"download", 100, {".gz", "application/gzip"}},
    {"script", 100, {".js", "text/javascript"}},
    {"style", 100, {".css", "text/css"}},
    {"font", 100, {".woff2", "font/woff2"}},
    {"json", 100, {".json", "application/json"}},
    {"video", 100, {".mp4", "video/mp4"}},
    {"audio", 100, {".mp3", "audio/mpeg"}},
};

}  // namespace

std::string_view ContentType::name() const {
  size_t length = 0;
  while (name_[length] != '\0') ++length;
  return {name_.data(), length};
}

uint64_t ContentType::code() const {
  if (*this == kImage) return 0;
  if (*this == kHtml) return 1;
  if (*this == kDownload) return 2;
  if (*this == kOther) return 3;
  uint64_t code = 0;
  for (const char c : name()) code = storage::mix64(code + static_cast<unsigned char>(c));
  return code | uint64_t{1} << 63;
}

FileKind ContentType::file_kind(unsigned percent) const {
  for (const auto& row : kKnownFiles) {
    if (row.type == name() && percent < row.percent_end) return row.file;
  }
  return {"", "application/octet-stream"};
}

}  // namespace workload
