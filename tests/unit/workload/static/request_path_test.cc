#include "workload/origin/static/request_path.h"

#include <gtest/gtest.h>

namespace workload {
namespace {

std::string path_of(std::string_view target) {
  RequestPath path;
  switch (read_request_path(target, path)) {
    case PathFault::kMalformed:
      return "malformed";
    case PathFault::kHidden:
      return "hidden";
    case PathFault::kNone:
      break;
  }
  return path.relative + (path.names_directory ? "|" : "");
}

TEST(RequestPath, PlainOnes) {
  EXPECT_EQ(path_of("/"), "|");
  EXPECT_EQ(path_of("/a"), "a");
  EXPECT_EQ(path_of("/a/b.html"), "a/b.html");
  EXPECT_EQ(path_of("/a/"), "a|");
  EXPECT_EQ(path_of("/a?b=/../c"), "a");
  EXPECT_EQ(path_of("/a#b"), "a");
  EXPECT_EQ(path_of("/?x"), "|");
}

TEST(RequestPath, EncodingsAreDecodedOnce) {
  EXPECT_EQ(path_of("/%61%20b"), "a b");
  EXPECT_EQ(path_of("/%2561"), "%61");
  EXPECT_EQ(path_of("/a%3Fb"), "a?b");
  EXPECT_EQ(path_of("/%e4"), "\xe4");
  for (const char* target : {"/%", "/%4", "/%zz", "/a%2", "/%-1", "/%+1"}) {
    EXPECT_EQ(path_of(target), "malformed") << target;
  }
}

TEST(RequestPath, SlashesAndDotsAreTidied) {
  EXPECT_EQ(path_of("//a///b"), "a/b");
  EXPECT_EQ(path_of("///"), "|");
  EXPECT_EQ(path_of("/./a/./b"), "a/b");
  EXPECT_EQ(path_of("/a/."), "a|");
  EXPECT_EQ(path_of("/a/%2e"), "a|");
}

TEST(RequestPath, NothingLeadsUp) {
  for (const char* target :
       {"/..", "/../", "/../etc/passwd", "/a/../b", "/a/..", "/%2e%2e/b", "/%2E./b", "/.%2e/b",
        "/a/%2e%2e/%2e%2e/b", "/a%00", "/%00", "/..%00", "a", "", "*", "../a", "..", "http:a"}) {
    EXPECT_EQ(path_of(target), "malformed") << target;
  }
  for (const char* target : {"/a%2fb", "/a%2F..%2Fb", "/%2f", "/.%2f..", "/.git/config", "/a/.b",
                             "/...", "/..\\..\\b", "/a/.well-known/b"}) {
    EXPECT_EQ(path_of(target), "hidden") << target;
  }
  // Not one of these is two dots to a filesystem.
  EXPECT_EQ(path_of("/%c0%ae%c0%ae/b"), "\xc0\xae\xc0\xae/b");
  EXPECT_EQ(path_of("/%252e%252e/b"), "%2e%2e/b");
  EXPECT_EQ(path_of("/a\\..\\b"), "a\\..\\b");
  EXPECT_EQ(path_of("/%5c..%5cb"), "\\..\\b");
  EXPECT_EQ(path_of("/\xe2\x80\xa5/b"), "\xe2\x80\xa5/b");
}

TEST(RequestPath, OnlyWellKnownMayBeginWithADot) {
  EXPECT_EQ(path_of("/.well-known/acme"), ".well-known/acme");
  EXPECT_EQ(path_of("/.well-known/.x"), "hidden");
  EXPECT_EQ(path_of("/.well-knownx"), "hidden");
}

TEST(RequestPath, NamesHaveALength) {
  EXPECT_EQ(path_of("/" + std::string(255, 'a')), std::string(255, 'a'));
  EXPECT_EQ(path_of("/" + std::string(256, 'a')), "hidden");
}

TEST(RequestPath, QueryIsKept) {
  RequestPath path;
  EXPECT_EQ(read_request_path("/a?b=c?d#e", path), PathFault::kNone);
  EXPECT_EQ(path.query, "?b=c?d");
  EXPECT_EQ(read_request_path("/a#e?f", path), PathFault::kNone);
  EXPECT_EQ(path.query, "");
}

TEST(RequestPath, UrlPathsHoldAnyByteAndReadBackAsThemselves) {
  std::string name;
  for (int byte = 1; byte < 256; ++byte) {
    if (byte != '/') name += static_cast<char>(byte);
  }
  std::string url = "/";
  add_url_path(url, name.substr(0, 200));
  for (const char c : url) EXPECT_TRUE(c > ' ' && c < 0x7f && c != '"' && c != '<') << c;
  EXPECT_EQ(path_of(url), name.substr(0, 200));
}

}  // namespace
}  // namespace workload
