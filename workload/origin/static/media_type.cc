#include "workload/origin/static/media_type.h"

#include <algorithm>
#include <array>

namespace workload {
namespace {

struct KnownExtension {
  std::string_view extension;
  FileType type;
};

/// In the order of their extensions, which are looked for by halves.
constexpr auto kKnownExtensions = std::to_array<KnownExtension>({
    {"7z", {"application/x-7z-compressed"}},
    {"aac", {"audio/aac"}},
    {"atom", {"application/atom+xml", true}},
    {"avi", {"video/x-msvideo"}},
    {"avif", {"image/avif"}},
    {"bmp", {"image/bmp", true}},
    {"bz2", {"application/x-bzip2"}},
    {"css", {"text/css", true}},
    {"csv", {"text/csv", true}},
    {"deb", {"application/vnd.debian.binary-package"}},
    {"doc", {"application/msword", true}},
    {"epub", {"application/epub+zip"}},
    {"flac", {"audio/flac"}},
    {"gif", {"image/gif"}},
    {"gz", {"application/gzip"}},
    {"htm", {"text/html", true}},
    {"html", {"text/html", true}},
    {"ico", {"image/vnd.microsoft.icon", true}},
    {"ics", {"text/calendar", true}},
    {"jar", {"application/java-archive"}},
    {"jpeg", {"image/jpeg"}},
    {"jpg", {"image/jpeg"}},
    {"js", {"text/javascript", true}},
    {"json", {"application/json", true}},
    {"jxl", {"image/jxl"}},
    {"m4a", {"audio/mp4"}},
    {"m4v", {"video/mp4"}},
    {"map", {"application/json", true}},
    {"md", {"text/markdown", true}},
    {"mjs", {"text/javascript", true}},
    {"mkv", {"video/matroska"}},
    {"mov", {"video/quicktime"}},
    {"mp3", {"audio/mpeg"}},
    {"mp4", {"video/mp4"}},
    {"mpeg", {"video/mpeg"}},
    {"mpg", {"video/mpeg"}},
    {"oga", {"audio/ogg"}},
    {"ogg", {"audio/ogg"}},
    {"ogv", {"video/ogg"}},
    {"otf", {"font/otf", true}},
    {"pdf", {"application/pdf"}},
    {"png", {"image/png"}},
    {"ps", {"application/postscript", true}},
    {"rss", {"application/rss+xml", true}},
    {"rtf", {"application/rtf", true}},
    {"svg", {"image/svg+xml", true}},
    {"tar", {"application/x-tar", true}},
    {"tif", {"image/tiff"}},
    {"tiff", {"image/tiff"}},
    {"ts", {"video/mp2t"}},
    {"ttf", {"font/ttf", true}},
    {"txt", {"text/plain", true}},
    {"wasm", {"application/wasm", true}},
    {"wav", {"audio/wav"}},
    {"webm", {"video/webm"}},
    {"webmanifest", {"application/manifest+json", true}},
    {"webp", {"image/webp"}},
    {"woff", {"font/woff"}},
    {"woff2", {"font/woff2"}},
    {"xhtml", {"application/xhtml+xml", true}},
    {"xml", {"text/xml", true}},
    {"xz", {"application/x-xz"}},
    {"zip", {"application/zip"}},
    {"zst", {"application/zstd"}},
});

constexpr bool in_order() {
  for (size_t at = 1; at < kKnownExtensions.size(); ++at) {
    if (kKnownExtensions[at - 1].extension >= kKnownExtensions[at].extension) return false;
  }
  return true;
}
static_assert(in_order());

constexpr size_t kExtensionLengthMax = 11;

}  // namespace

FileType file_type_of(std::string_view path) {
  constexpr FileType kUnknown{"application/octet-stream", false};
  const auto name = path.substr(path.rfind('/') + 1);
  const auto dot = name.rfind('.');
  // A dot that is first is none of an extension's.
  if (dot == std::string_view::npos || dot == 0) return kUnknown;
  const auto written = name.substr(dot + 1);
  if (written.size() > kExtensionLengthMax) return kUnknown;
  std::array<char, kExtensionLengthMax> letters;
  std::transform(written.begin(), written.end(), letters.begin(), [](char letter) {
    return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
  });
  const std::string_view extension(letters.data(), written.size());
  const auto found = std::lower_bound(kKnownExtensions.begin(), kKnownExtensions.end(), extension,
                                      [](const KnownExtension& known, std::string_view wanted) {
                                        return known.extension < wanted;
                                      });
  if (found == kKnownExtensions.end() || found->extension != extension) return kUnknown;
  return found->type;
}

}  // namespace workload
