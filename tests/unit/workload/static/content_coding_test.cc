#include "workload/origin/static/content_coding.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include "workload/origin/static/gzip_writer.h"

namespace workload {
namespace {

AcceptedCodings accepted_by(const std::string& value) {
  OriginRequest request;
  request.accept_encoding_given = true;
  request.accept_encoding = value;
  return read_accept_encoding(request);
}

TEST(ContentCoding, WithoutTheFieldFilesAreSentAsTheyAre) {
  const auto accepted = read_accept_encoding({});
  EXPECT_FALSE(accepted.gzip);
  EXPECT_TRUE(accepted.identity);
}

TEST(ContentCoding, WeightsDecide) {
  for (const char* value : {"gzip", "GZIP", "x-gzip", "deflate, gzip;q=0.5, br", "*",
                            "gzip;q=1.0, identity; q=0.5, *;q=0", "gzip ; Q=0.001", "gzip,,",
                            "identity;q=0, gzip;q=0.1", "gzip;q=0.5, identity;q=0.5"}) {
    EXPECT_TRUE(accepted_by(value).gzip) << value;
  }
  for (const char* value :
       {"", "identity", "br", "gzip;q=0", "gzip;q=0.000", "gzip;q=0.5, identity;q=0.8", "*;q=0",
        "gzip;q=0, *", "gzipx", "gzip;q=2", "gzip;q=-1", "gzip;q=0.5555", "gzip;q=", "gzip;x=1",
        "gzip;q=1;x", "*;q=0.5, identity"}) {
    EXPECT_FALSE(accepted_by(value).gzip) << value;
  }
}

TEST(ContentCoding, IdentityCanBeForbidden) {
  EXPECT_FALSE(accepted_by("identity;q=0").identity);
  EXPECT_FALSE(accepted_by("gzip, *;q=0").identity);
  EXPECT_TRUE(accepted_by("*;q=0, identity;q=0.1").identity);
  EXPECT_TRUE(accepted_by("gzip").identity);
  EXPECT_TRUE(accepted_by("").identity);
}

std::string gunzipped(std::string_view coded) {
  z_stream stream{};
  EXPECT_EQ(inflateInit2(&stream, 15 + 16), Z_OK);
  std::string text(4'000'000, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(coded.data()));
  stream.avail_in = static_cast<uInt>(coded.size());
  stream.next_out = reinterpret_cast<Bytef*>(text.data());
  stream.avail_out = static_cast<uInt>(text.size());
  EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
  EXPECT_EQ(stream.avail_in, 0u);
  text.resize(stream.total_out);
  inflateEnd(&stream);
  return text;
}

TEST(GzipWriter, GivesTheSameTextBackWhateverThePieces) {
  std::string text;
  uint32_t state = 1;
  for (int word = 0; word < 100'000; ++word) {
    state = state * 1664525 + 1013904223;
    text += std::to_string(state >> (word % 2 == 0 ? 30 : 4));
  }
  for (const size_t piece_bytes : {size_t{1000}, size_t{32768}, text.size()}) {
    for (const int level : {1, 9}) {
      GzipWriter writer(level);
      std::string coded;
      const auto bytes = std::as_bytes(std::span(text));
      for (size_t at = 0; at < bytes.size(); at += piece_bytes) {
        const auto piece = bytes.subspan(at, std::min(piece_bytes, bytes.size() - at));
        writer.add(piece, at + piece.size() == bytes.size(), coded);
      }
      EXPECT_LT(coded.size(), text.size());
      EXPECT_EQ(gunzipped(coded), text);
    }
  }
}

}  // namespace
}  // namespace workload
