#include "traces/line_reader.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <zlib.h>

#include <fstream>
#include <thread>
#include <vector>

#include "tests/support/temp_dir.h"
#include "tests/support/text_source.h"

namespace {

using testing_support::TextSource;
using traces::LineReader;

struct ReadLine {
  std::string text;
  uint64_t number;
  bool too_long;
  bool ended;
};

struct ReadAll {
  std::vector<ReadLine> lines;
  std::string error;
};

ReadAll read_all(LineReader& reader) {
  ReadAll all;
  for (;;) {
    const auto line = reader.next();
    if (!line) {
      all.error = line.error().text;
      return all;
    }
    if (!*line) return all;
    all.lines.push_back(
        {std::string((*line)->text), (*line)->number, (*line)->too_long, (*line)->ended});
  }
}

ReadAll read_text(const std::string& text, size_t piece_bytes = 1 << 20,
                  size_t line_bytes_max = traces::kLineBytesMax) {
  LineReader reader(std::make_unique<TextSource>(text, piece_bytes), line_bytes_max);
  return read_all(reader);
}

std::string gzipped(const std::string& text) {
  z_stream stream{};
  EXPECT_EQ(::deflateInit2(&stream, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string packed(::deflateBound(&stream, text.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  EXPECT_EQ(::deflate(&stream, Z_FINISH), Z_STREAM_END);
  packed.resize(stream.total_out);
  ::deflateEnd(&stream);
  return packed;
}

ReadAll read_packed(const std::string& bytes, size_t piece_bytes = 1 << 20) {
  auto source = traces::unpack_source(std::make_unique<TextSource>(bytes, piece_bytes));
  if (!source) return ReadAll{{}, source.error().text};
  LineReader reader(std::move(*source));
  return read_all(reader);
}

TEST(LineReader, SplitsAtEveryPieceSizeAlike) {
  const std::string text = "one\r\ntwo\n\n\r\nfive\rstays\nlast";
  for (size_t piece = 1; piece <= text.size(); ++piece) {
    const auto all = read_text(text, piece);
    ASSERT_EQ(all.lines.size(), 6U) << piece;
    EXPECT_EQ(all.lines[0].text, "one");
    EXPECT_EQ(all.lines[1].text, "two");
    EXPECT_EQ(all.lines[2].text, "");
    EXPECT_EQ(all.lines[3].text, "");
    EXPECT_EQ(all.lines[4].text, "five\rstays");
    EXPECT_EQ(all.lines[5].text, "last");
    EXPECT_EQ(all.lines[5].number, 6U);
    EXPECT_TRUE(all.lines[4].ended);
    EXPECT_FALSE(all.lines[5].ended);
  }
}

TEST(LineReader, AnEmptyFileHasNoLineAndAFinalLineEndAddsNone) {
  EXPECT_TRUE(read_text("").lines.empty());
  EXPECT_EQ(read_text("\n").lines.size(), 1U);
  EXPECT_EQ(read_text("a\n").lines.size(), 1U);
}

TEST(LineReader, KeepsNulAndHighBytesAndDropsAByteOrderMark) {
  const std::string text(
      "\xef\xbb\xbf"
      "a\0b\xff\n\xef\xbb\xbf"
      "c\n",
      12);
  const auto all = read_text(text, 2);
  ASSERT_EQ(all.lines.size(), 2U);
  EXPECT_EQ(all.lines[0].text, std::string("a\0b\xff", 4));
  EXPECT_EQ(all.lines[1].text,
            "\xef\xbb\xbf"
            "c")
      << "only the file's first bytes are a mark";
}

TEST(LineReader, CutsALongLineAndGoesOnBehindIt) {
  const std::string exact(10, 'x');
  const auto all = read_text(exact + "\n" + exact + "y\nnext\n" + std::string(25, 'z'), 3, 10);
  ASSERT_EQ(all.lines.size(), 4U);
  EXPECT_FALSE(all.lines[0].too_long);
  EXPECT_EQ(all.lines[0].text, exact);
  EXPECT_TRUE(all.lines[1].too_long);
  EXPECT_EQ(all.lines[1].text.size(), 10U);
  EXPECT_EQ(all.lines[2].text, "next");
  EXPECT_TRUE(all.lines[3].too_long);
  EXPECT_EQ(all.lines[3].number, 4U);
}

TEST(LineReader, GivesTheLinesBeforeAnErrorAndThenTheError) {
  LineReader reader(std::make_unique<TextSource>("a\nbc", 1, "the disk is gone"));
  const auto all = read_all(reader);
  ASSERT_EQ(all.lines.size(), 2U);
  EXPECT_EQ(all.lines[1].text, "bc");
  EXPECT_FALSE(all.lines[1].ended);
  EXPECT_EQ(all.error, "the disk is gone at line 2; what lies before was read");
  EXPECT_FALSE(reader.next()) << "and again";
}

TEST(Gzip, IsUnpackedWhateverThePieces) {
  std::string text;
  for (int line = 0; line < 20000; ++line) text += "line " + std::to_string(line) + "\n";
  const std::string packed = gzipped(text);
  for (const size_t piece : {size_t{1}, size_t{7}, size_t{4096}, packed.size()}) {
    const auto all = read_packed(packed, piece);
    EXPECT_EQ(all.error, "");
    ASSERT_EQ(all.lines.size(), 20000U) << piece;
    EXPECT_EQ(all.lines.back().text, "line 19999");
  }
}

TEST(Gzip, SeveralMembersAndPaddingAreOneLog) {
  const auto all = read_packed(gzipped("a\nb") + gzipped("c\n") + std::string(600, '\0'), 5);
  EXPECT_EQ(all.error, "");
  ASSERT_EQ(all.lines.size(), 2U);
  EXPECT_EQ(all.lines[1].text, "bc");
}

TEST(Gzip, CutAtAnyByteIsAnErrorAfterTheLinesBefore) {
  const std::string packed = gzipped("first line\nsecond line\n");
  for (size_t length = 2; length < packed.size(); ++length) {
    const auto all = read_packed(packed.substr(0, length));
    EXPECT_EQ(all.error, "compressed data ends early at line " + std::to_string(all.lines.size()) +
                             "; what lies before was read");
  }
  EXPECT_EQ(read_packed(packed).error, "");
}

TEST(Gzip, DamageIsAnErrorAndNeverMoreLinesThanThereWere) {
  const std::string packed = gzipped("first line\nsecond line\n");
  size_t errors = 0;
  for (size_t at = 2; at < packed.size(); ++at) {
    std::string damaged = packed;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x55);
    if (!read_packed(damaged).error.empty()) ++errors;
  }
  // Bytes 4 to 9 of the header (time, level, system) may be anything.
  EXPECT_GE(errors, packed.size() - 2 - 6);
  EXPECT_NE(read_packed(packed + "rest").error, "");
}

TEST(Gzip, OtherCompressionsAreRefusedByName) {
  EXPECT_NE(read_packed("\x28\xb5\x2f\xfd....").error.find("zstd"), std::string::npos);
  EXPECT_NE(read_packed("BZh91AY").error.find("bzip2"), std::string::npos);
  EXPECT_NE(read_packed(std::string("\xfd"
                                    "7zXZ\0",
                                    6))
                .error.find("xz"),
            std::string::npos);
  EXPECT_EQ(read_packed("x").lines.size(), 1U) << "shorter than any magic";
}

TEST(OpenLog, NamesTheFileInItsErrors) {
  const testing_support::TempDir folder;
  const std::string missing = (folder.path() / "no such.log").string();
  const auto none = traces::open_log(missing);
  ASSERT_FALSE(none);
  EXPECT_NE(none.error().text.find(missing), std::string::npos);
  const auto directory = traces::open_log(folder.path().string());
  ASSERT_FALSE(directory);
  EXPECT_NE(directory.error().text.find("folder"), std::string::npos);

  const std::string packed = (folder.path() / "plain-name.log").string();
  std::ofstream(packed, std::ios::binary) << gzipped("by magic, not by name\n");
  auto reader = traces::open_log(packed);
  ASSERT_TRUE(reader);
  EXPECT_EQ(read_all(**reader).lines.at(0).text, "by magic, not by name");
}

TEST(FileSource, APipeIsWaitedForAloudAndOnlyOnce) {
  const testing_support::TempDir folder;
  const std::string path = (folder.path() / "pipe").string();
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  std::vector<std::string> notices;
  std::thread writing;
  // The writer comes when the reader has said that it waits, so no clock decides.
  auto source = traces::open_file_source(path, [&](const std::string& line) {
    notices.push_back(line);
    writing = std::thread([path] { std::ofstream(path) << "a line\n"; });
  });
  ASSERT_TRUE(source);
  LineReader reader(std::move(*source));
  const auto all = read_all(reader);
  writing.join();
  ASSERT_EQ(all.lines.size(), 1U);
  EXPECT_EQ(all.lines[0].text, "a line");
  EXPECT_EQ(all.error, "");
  ASSERT_EQ(notices.size(), 1U);
  EXPECT_NE(notices[0].find(path), std::string::npos);
}

TEST(FileSource, ADeviceOrAFolderIsNoLog) {
  for (const char* const path : {"/dev/zero", "/"}) {
    const auto source = traces::open_file_source(path);
    ASSERT_FALSE(source) << path;
    EXPECT_NE(source.error().text.find("not a log"), std::string::npos) << source.error().text;
  }
}

}  // namespace
