#include "proxy/access_log_writer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/support/temp_dir.h"

namespace proxy {
namespace {

std::string contents_of(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

AccessRecord record_of(uint64_t sent_bytes) {
  AccessRecord record;
  record.sent_bytes = sent_bytes;
  return record;
}

std::string line_of(uint64_t sent_bytes) {
  std::string out;
  append_access_line(record_of(sent_bytes), out);
  return out;
}

class AccessLogWriterTest : public testing::Test {
 protected:
  testing_support::TempDir dir_;
  std::filesystem::path path_ = std::filesystem::path(dir_.path()) / "access.log";
};

TEST_F(AccessLogWriterTest, WritesAtFlushAndAppends) {
  {
    AccessLogWriter writer(path_.string());
    ASSERT_TRUE(writer.open());
    writer.log(record_of(1));
    EXPECT_EQ(contents_of(path_), "");
    writer.flush();
    EXPECT_EQ(contents_of(path_), line_of(1));
    writer.log(record_of(2));
    EXPECT_EQ(writer.lines_written(), 1u);
  }
  AccessLogWriter again(path_.string());
  ASSERT_TRUE(again.open());
  again.log(record_of(3));
  again.flush();
  EXPECT_EQ(contents_of(path_), line_of(1) + line_of(2) + line_of(3));
}

TEST_F(AccessLogWriterTest, WritesByItselfWhenTheBufferIsFull) {
  AccessLogWriter writer(path_.string(), 100);
  ASSERT_TRUE(writer.open());
  std::string expected;
  for (uint64_t i = 0; i < 50; ++i) {
    writer.log(record_of(i));
    expected += line_of(i);
  }
  EXPECT_GT(writer.lines_written(), 45u);
  writer.flush();
  EXPECT_EQ(contents_of(path_), expected);
}

TEST_F(AccessLogWriterTest, ReopensAfterRotation) {
  const auto rotated = path_.string() + ".1";
  AccessLogWriter writer(path_.string());
  ASSERT_TRUE(writer.open());
  writer.log(record_of(1));
  std::filesystem::rename(path_, rotated);
  ASSERT_TRUE(writer.reopen());
  writer.log(record_of(2));
  writer.flush();
  EXPECT_EQ(contents_of(rotated), line_of(1));
  EXPECT_EQ(contents_of(path_), line_of(2));
}

TEST_F(AccessLogWriterTest, FailedReopenKeepsTheOldFile) {
  AccessLogWriter writer(path_.string());
  ASSERT_TRUE(writer.open());
  const auto rotated = path_.string() + ".1";
  std::filesystem::rename(path_, rotated);
  std::filesystem::create_directory(path_);
  const auto result = writer.reopen();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, storage::Errc::kIo);
  EXPECT_EQ(result.error().system_errno, EISDIR);
  writer.log(record_of(1));
  writer.flush();
  EXPECT_EQ(contents_of(rotated), line_of(1));
}

TEST_F(AccessLogWriterTest, MissingFolderIsAnError) {
  AccessLogWriter writer((path_ / "no" / "folder").string());
  const auto result = writer.open();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().system_errno, ENOENT);
}

TEST_F(AccessLogWriterTest, FullDeviceIsCountedAndForgotten) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  AccessLogWriter writer("/dev/full");
  ASSERT_TRUE(writer.open());
  writer.log(record_of(1));
  writer.log(record_of(2));
  writer.flush();
  writer.flush();
  EXPECT_EQ(writer.lines_written(), 0u);
  EXPECT_EQ(writer.lines_dropped(), 2u);
  EXPECT_EQ(writer.write_errors(), 1u);
}

}  // namespace
}  // namespace proxy
