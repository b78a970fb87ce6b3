#include "workload/experiment/static_page.h"

#include <xxhash.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <vector>

#include "storage/base/random.h"

namespace workload {
namespace {

constexpr std::string_view kPageBegin =
    "<!DOCTYPE html>\n<html lang=\"en\">\n<head><title>A page</title></head>\n<body>\n";
constexpr std::string_view kPageEnd = "</body>\n</html>\n";
constexpr std::string_view kParagraphBegin = "<p>";
constexpr std::string_view kParagraphEnd = "</p>\n";
/// From this on a paragraph ends.
constexpr size_t kParagraphBytes = 600;
constexpr size_t kPageWords = 2000;

/// Words as they might be, so that a page shrinks about as much as texts do.
std::vector<std::string> make_words(storage::Random& random) {
  constexpr std::array<std::string_view, 16> kBegins{"",  "b",  "d", "f",  "g", "l",  "m", "n",
                                                     "p", "pr", "r", "st", "t", "th", "v", "w"};
  constexpr std::array<std::string_view, 8> kMiddles{"a", "e", "i", "o", "u", "ai", "ea", "ou"};
  constexpr std::array<std::string_view, 8> kEnds{"", "", "n", "r", "s", "t", "l", "nd"};
  std::vector<std::string> words(kPageWords);
  for (auto& word : words) {
    for (uint64_t syllables = 1 + random.below(3); syllables > 0; --syllables) {
      word += kBegins[random.below(kBegins.size())];
      word += kMiddles[random.below(kMiddles.size())];
    }
    word += kEnds[random.below(kEnds.size())];
  }
  return words;
}

/// Running text of exactly `size_bytes`; paragraphs where there is room for them.
std::string make_text(uint64_t size_bytes, storage::Random& random) {
  const auto words = make_words(random);
  std::string text;
  text.reserve(size_bytes + kParagraphBytes);
  size_t paragraph_at = 0;
  while (text.size() < size_bytes) {
    if (text.size() == paragraph_at) text += kParagraphBegin;
    // The square makes some words frequent and most of them rare.
    const double place = random.uniform();
    text += words[static_cast<size_t>(place * place * static_cast<double>(words.size()))];
    if (text.size() - paragraph_at < kParagraphBytes) {
      text += ' ';
    } else {
      text += kParagraphEnd;
      paragraph_at = text.size();
    }
  }
  // Half a mark would be no HTML.
  text.resize(size_bytes);
  const size_t last_mark = text.rfind('<');
  const bool is_cut = last_mark != std::string::npos && text.find('>', last_mark) == text.npos;
  if (is_cut) std::fill(text.begin() + static_cast<std::ptrdiff_t>(last_mark), text.end(), ' ');
  return text;
}

}  // namespace

std::string make_static_page(uint64_t size_bytes, uint64_t seed) {
  storage::Random random = storage::Random(seed).fork(size_bytes);
  const size_t frame_bytes = kPageBegin.size() + kPageEnd.size();
  // Less than a page's frame is a text without one.
  if (size_bytes < frame_bytes) return make_text(size_bytes, random);
  std::string page(kPageBegin);
  page += make_text(size_bytes - frame_bytes, random);
  page += kPageEnd;
  return page;
}

PageCoding coding_of_page(std::string_view body, const std::string& page) {
  if (body == page) return PageCoding::kPlain;
  z_stream stream{};
  constexpr int kGzipOnly = 15 + 16;
  if (inflateInit2(&stream, kGzipOnly) != Z_OK) return PageCoding::kAnother;
  // One byte more than the page shows what is longer.
  std::string content(page.size() + 1, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(body.data()));
  stream.avail_in = static_cast<uInt>(body.size());
  stream.next_out = reinterpret_cast<Bytef*>(content.data());
  stream.avail_out = static_cast<uInt>(content.size());
  const bool is_whole = inflate(&stream, Z_FINISH) == Z_STREAM_END && stream.avail_in == 0;
  const auto unpacked = std::string_view(content).substr(0, stream.total_out);
  inflateEnd(&stream);
  return is_whole && unpacked == page ? PageCoding::kGzip : PageCoding::kAnother;
}

std::string xxh3_text(std::string_view bytes) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%016llx",
                static_cast<unsigned long long>(XXH3_64bits(bytes.data(), bytes.size())));
  return text.data();
}

}  // namespace workload
