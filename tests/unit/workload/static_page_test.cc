// The page that static servers serve: its size, its words, and what counts as having it.
#include "workload/experiment/static_page.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <vector>

namespace workload {
namespace {

std::string gzipped(const std::string& text) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string out(text.size() + 1000, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(out.size() - stream.avail_out);
  deflateEnd(&stream);
  return out;
}

TEST(StaticPage, HasExactlySoManyBytesAndIsHtmlWhereThereIsRoom) {
  for (const uint64_t size :
       std::vector<uint64_t>{1, 2, 80, 89, 90, 91, 92, 151, 500, 600, 4096, 57'244, 1'000'000}) {
    const auto page = make_static_page(size, 1);
    EXPECT_EQ(page.size(), size);
    EXPECT_TRUE(std::all_of(page.begin(), page.end(), [](char c) {
      return c == '\n' || (c >= 0x20 && c < 0x7f);
    })) << size;
    EXPECT_EQ(std::count(page.begin(), page.end(), '<'), std::count(page.begin(), page.end(), '>'));
    if (size < 151) continue;
    EXPECT_TRUE(page.starts_with("<!DOCTYPE html>\n")) << size;
    EXPECT_TRUE(page.ends_with("</body>\n</html>\n")) << size;
  }
}

TEST(StaticPage, FollowsFromItsSeed) {
  EXPECT_EQ(make_static_page(57'244, 3), make_static_page(57'244, 3));
  EXPECT_NE(make_static_page(57'244, 3), make_static_page(57'244, 4));
  // What later versions make must be the same, or results could not be compared with older ones.
  EXPECT_EQ(xxh3_text(make_static_page(57'244, 1)), "3a12ec0e7546bd7a");
}

TEST(StaticPage, ShrinksAsTextsDo) {
  const auto page = make_static_page(57'244, 1);
  const auto small = gzipped(page);
  EXPECT_GT(page.size(), 2 * small.size());
  EXPECT_LT(page.size(), 5 * small.size());
}

TEST(StaticPage, IsThereAsItIsOrInGzipOrNotAtAll) {
  const auto page = make_static_page(5000, 1);
  const auto small = gzipped(page);
  EXPECT_EQ(coding_of_page(page, page), PageCoding::kPlain);
  EXPECT_EQ(coding_of_page(small, page), PageCoding::kGzip);
  EXPECT_EQ(coding_of_page("", page), PageCoding::kAnother);
  EXPECT_EQ(coding_of_page(page.substr(0, 4999), page), PageCoding::kAnother);
  EXPECT_EQ(coding_of_page(page + "x", page), PageCoding::kAnother);
  EXPECT_EQ(coding_of_page(small.substr(0, small.size() - 1), page), PageCoding::kAnother);
  EXPECT_EQ(coding_of_page(small + "x", page), PageCoding::kAnother);
  for (const auto& another : {page + "x", page.substr(1), std::string(5000, 'x')}) {
    EXPECT_EQ(coding_of_page(gzipped(another), page), PageCoding::kAnother);
  }
}

}  // namespace
}  // namespace workload
