// Types of files, pages about directories, lines of the access log.
#include <fcntl.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/support/temp_dir.h"
#include "workload/origin/access_log.h"
#include "workload/origin/static/directory_page.h"
#include "workload/origin/static/media_type.h"

namespace workload {
namespace {

TEST(MediaType, FollowsTheExtension) {
  EXPECT_EQ(file_type_of("a/b.html").media_type, "text/html");
  EXPECT_EQ(file_type_of("a/B.HTML").media_type, "text/html");
  EXPECT_EQ(file_type_of("a.tar.gz").media_type, "application/gzip");
  EXPECT_EQ(file_type_of("a.woff2").media_type, "font/woff2");
  EXPECT_EQ(file_type_of("a.webmanifest").media_type, "application/manifest+json");
  EXPECT_TRUE(file_type_of("a.svg").compresses);
  EXPECT_FALSE(file_type_of("a.png").compresses);
  for (const char* name : {"a", "", ".html", "a.", "a.html/b", "a.nosuch", "a.html ",
                           "a.aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}) {
    EXPECT_EQ(file_type_of(name).media_type, "application/octet-stream") << name;
  }
}

TEST(DirectoryPage, EscapesWhateverANameHolds) {
  const std::vector<DirectoryEntry> entries{
      {"<script>alert(1)</script>", false}, {"\"onload=x \xff\n", true}, {"javascript:x", false}};
  std::string page;
  write_directory_page("a<b", entries, false, page);
  EXPECT_EQ(page.find("<script"), std::string::npos);
  EXPECT_EQ(page.find("a<b"), std::string::npos);
  EXPECT_NE(page.find("href=\"./%3Cscript%3Ealert%281%29%3C/script%3E\""), std::string::npos);
  EXPECT_NE(page.find("href=\"./%22onload%3Dx%20%FF%0A/\""), std::string::npos);
  EXPECT_NE(page.find("href=\"./javascript%3Ax\""), std::string::npos);
  EXPECT_NE(page.find("Only "), std::string::npos);
  EXPECT_NE(page.find("../"), std::string::npos);
  write_directory_page("", {}, true, page);
  EXPECT_EQ(page.find("../"), std::string::npos);
}

TEST(DirectoryPage, ReadsSortedWithoutHiddenNamesUpToItsLimit) {
  const testing_support::TempDir folder;
  for (const char* name : {"b", "a", ".hidden"}) std::ofstream(folder / name).put('x');
  std::filesystem::create_directory(folder / "c");
  const OwnedFd fd(::open(folder.path().c_str(), O_RDONLY | O_DIRECTORY));
  std::vector<DirectoryEntry> entries;
  bool whole = false;
  for (int again = 0; again < 2; ++again) {
    ASSERT_EQ(read_directory(fd.get(), entries, whole), 0);
    EXPECT_TRUE(whole);
    ASSERT_EQ(entries.size(), 3u);
    EXPECT_EQ(entries[0].name, "a");
    EXPECT_FALSE(entries[0].is_directory);
    EXPECT_TRUE(entries[2].is_directory);
  }
  for (size_t at = 0; at < kDirectoryEntriesMax; ++at) {
    std::ofstream(folder / ("many" + std::to_string(at))).put('x');
  }
  ASSERT_EQ(read_directory(fd.get(), entries, whole), 0);
  EXPECT_FALSE(whole);
  EXPECT_EQ(entries.size(), kDirectoryEntriesMax);
}

TEST(OriginAccessLog, ALineIsOneRequestWhateverItHolds) {
  AccessLogEntry entry;
  entry.client_address = "::1";
  entry.unix_s = 784111777;
  entry.method = "GET";
  entry.target = "/a\"b\\c\nd\xff";
  entry.status = 206;
  entry.body_bytes = 12;
  std::string line;
  append_access_log_line(entry, line);
  EXPECT_EQ(line,
            "::1 - - [06/Nov/1994:08:49:37 +0000] \"GET /a\\x22b\\x5Cc\\x0Ad\\xFF HTTP/1.1\" 206 "
            "12\n");
  line.clear();
  append_access_log_line(AccessLogEntry{}, line);
  EXPECT_EQ(line, "- - - [01/Jan/1970:00:00:00 +0000] \"-\" 0 0\n");
}

}  // namespace
}  // namespace workload
