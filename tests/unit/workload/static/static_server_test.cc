// Files as a running server sends them, to peers of all kinds.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "tests/support/fake_clock.h"
#include "tests/support/peer.h"
#include "tests/support/temp_dir.h"
#include "workload/origin/origin_server.h"

namespace workload {
namespace {

namespace fs = std::filesystem;
using testing_support::Ending;
using testing_support::ReceivedMessage;

std::string pattern_of(size_t size) {
  std::string text(size, '\0');
  uint32_t state = static_cast<uint32_t>(size);
  for (auto& byte : text) {
    state = state * 1664525 + 1013904223;
    byte = static_cast<char>(state >> 24);
  }
  return text;
}

std::string text_of_lines(size_t lines) {
  std::string text;
  for (size_t line = 0; line < lines; ++line) text += "line " + std::to_string(line) + "\n";
  return text;
}

/// A server of a temporary folder, whose clock says that all files are old.
class StaticServerTest : public testing::Test {
 protected:
  StaticServerTest() {
    const auto now = std::chrono::system_clock::now().time_since_epoch() + std::chrono::hours(1);
    clock_.set_wall(storage::WallTime(now));
  }

  void start(StaticSiteOptions options = {}, OriginOptions origin = {}) {
    options.root = folder_.path().string();
    origin.files = *StaticSite::open(options);
    origin.request_body_bytes_max = 65536;
    server_ = std::make_unique<OriginServer>(origin, clock_);
    ASSERT_TRUE(server_->start().has_value());
  }
  void start_with_gzip(GzipMode mode) {
    StaticSiteOptions options;
    options.gzip = mode;
    start(options);
  }

  void write(const std::string& name, const std::string& text) {
    fs::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name, std::ios::binary) << text;
  }
  testing_support::Peer connect(int receive_buffer_bytes = 0) {
    return testing_support::Peer::connect(server_->address().port, receive_buffer_bytes);
  }
  static std::string request(const std::string& target, const std::string& fields = {},
                             const std::string& method = "GET") {
    return method + ' ' + target + " HTTP/1.1\r\nHost: a\r\n" + fields + "\r\n";
  }
  /// One request on a connection of its own.
  ReceivedMessage fetch(const std::string& target, const std::string& fields = {},
                        const std::string& method = "GET") {
    auto peer = connect();
    EXPECT_TRUE(peer.send(request(target, fields, method)));
    return peer.read_message(method == "HEAD");
  }
  /// Moves the clock on, a second a millisecond, until it goes out of scope.
  std::jthread hurry() {
    return std::jthread([this](const std::stop_token& stop) {
      while (!stop.stop_requested()) {
        clock_.advance(std::chrono::seconds(1));
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
    });
  }

  const testing_support::TempDir folder_;
  testing_support::FakeClock clock_;
  std::unique_ptr<OriginServer> server_;
};

TEST_F(StaticServerTest, SendsEveryByteWhateverTheSize) {
  start();
  auto peer = connect();
  for (const size_t size : {0, 1, 151, 4096, 16383, 16384, 16385, 57244, 65536, 3'000'000}) {
    const auto text = pattern_of(size);
    write("file", text);
    ASSERT_TRUE(peer.send(request("/file")));
    const auto got = peer.read_message();
    EXPECT_EQ(got.status(), 200);
    EXPECT_TRUE(got.whole);
    EXPECT_EQ(got.field("Content-Length"), std::to_string(size));
    EXPECT_TRUE(got.body == text) << size;
  }
}

TEST_F(StaticServerTest, PipelinedRequestsAndHttp10) {
  write("a", "first");
  write("b", "second");
  start();
  auto peer = connect();
  peer.send(request("/a") + request("/b") + "GET /a HTTP/1.0\r\n\r\n");
  EXPECT_EQ(peer.read_message().body, "first");
  EXPECT_EQ(peer.read_message().body, "second");
  const auto last = peer.read_message();
  EXPECT_EQ(last.body, "first");
  EXPECT_EQ(last.field("Connection"), "close");
  EXPECT_EQ(peer.wait_for_end(), Ending::kClosed);
}

TEST_F(StaticServerTest, HeadHasTheHeadOfGet) {
  write("a.txt", text_of_lines(1000));
  for (const auto mode : {GzipMode::kOff, GzipMode::kOn}) {
    start_with_gzip(mode);
    for (const char* target : {"/a.txt", "/nothing", "/", "/.git"}) {
      const std::string fields = "Accept-Encoding: gzip\r\n";
      const auto got = fetch(target, fields);
      EXPECT_EQ(fetch(target, fields, "HEAD").head, got.head) << target;
    }
  }
}

TEST_F(StaticServerTest, Ranges) {
  const auto text = pattern_of(100'000);
  write("file", text);
  start();
  auto part = fetch("/file", "Range: bytes=10-19\r\n");
  EXPECT_EQ(part.status(), 206);
  EXPECT_EQ(part.body, text.substr(10, 10));
  part = fetch("/file", "Range: bytes=20000-90000\r\n");
  EXPECT_TRUE(part.body == text.substr(20000, 70001));
  part = fetch("/file", "Range: bytes=100000-\r\n");
  EXPECT_EQ(part.status(), 416);
  EXPECT_EQ(part.field("Content-Range"), "bytes */100000");
}

TEST_F(StaticServerTest, SeveralRangesSmallAndLarge) {
  const auto text = pattern_of(200'000);
  write("file", text);
  start();
  const auto parts = fetch("/file", "Range: bytes=150000-199999,0-9,-1,20-29,100-80000\r\n");
  EXPECT_EQ(parts.status(), 206);
  ASSERT_TRUE(parts.whole);
  const auto type = parts.field("Content-Type");
  const auto boundary = "--" + type.substr(type.find("boundary=") + 9);
  std::string expected;
  for (const auto& [first, last] :
       std::vector<std::pair<size_t, size_t>>{{0, 9}, {150000, 199999}, {20, 29}, {100, 80000}}) {
    expected += std::to_string(first) + '-' + std::to_string(last) + ' ';
    const auto head = "\r\n" + boundary + "\r\nContent-Type: application/octet-stream\r\n" +
                      "Content-Range: bytes " + std::to_string(first) + '-' + std::to_string(last) +
                      "/200000\r\n\r\n";
    EXPECT_NE(parts.body.find(head + text.substr(first, last - first + 1) + "\r\n"),
              std::string::npos)
        << first;
  }
  EXPECT_TRUE(parts.body.ends_with("\r\n" + boundary + "--\r\n"));
  EXPECT_NE(fetch("/file", "Range: bytes=0-1,4-5\r\n").field("Content-Type"), type);
}

TEST_F(StaticServerTest, ValidatorsComeBackAsConditions) {
  write("file", "some text");
  start();
  const auto got = fetch("/file");
  const auto tag = got.field("ETag");
  ASSERT_TRUE(tag.starts_with('"')) << tag;
  const auto modified = got.field("Last-Modified");
  EXPECT_EQ(fetch("/file", "If-None-Match: " + tag + "\r\n").status(), 304);
  EXPECT_EQ(fetch("/file", "If-Modified-Since: " + modified + "\r\n").status(), 304);
  EXPECT_EQ(fetch("/file", "If-Match: " + tag + "\r\n").status(), 200);
  EXPECT_EQ(fetch("/file", "If-Match: \"x\"\r\n").status(), 412);
  EXPECT_EQ(fetch("/file", "If-Unmodified-Since: " + modified + "\r\n").status(), 200);
  EXPECT_EQ(fetch("/file", "If-Unmodified-Since: Sun, 06 Nov 1994 08:49:37 GMT\r\n").status(), 412);
  EXPECT_EQ(fetch("/file", "Range: bytes=0-1\r\nIf-Range: " + tag + "\r\n").status(), 206);
  EXPECT_EQ(fetch("/file", "Range: bytes=0-1\r\nIf-Range: \"x\"\r\n").status(), 200);
  write("file", "other text");
  EXPECT_NE(fetch("/file").field("ETag"), tag);
  EXPECT_EQ(fetch("/file", "If-None-Match: " + tag + "\r\n").status(), 200);
  EXPECT_EQ(fetch("/file", "Range: bytes=0-1\r\nIf-Range: " + tag + "\r\n").status(), 200);
}

TEST_F(StaticServerTest, Methods) {
  write("file", "text");
  start();
  for (const char* target : {"/file", "*", "/nothing"}) {
    const auto options = fetch(target, "", "OPTIONS");
    EXPECT_EQ(options.status(), 204) << target;
    EXPECT_EQ(options.field("Allow"), "GET, HEAD, OPTIONS");
  }
  for (const char* method : {"POST", "PUT", "DELETE", "PATCH", "TRACE", "X-NEW"}) {
    const auto refused = fetch("/file", "Content-Length: 0\r\n", method);
    EXPECT_EQ(refused.status(), 405) << method;
    EXPECT_EQ(refused.field("Allow"), "GET, HEAD, OPTIONS");
  }
}

TEST_F(StaticServerTest, NoPathLeadsOut) {
  write("inside/file", "text");
  fs::create_symlink("/etc/passwd", folder_ / "link");
  fs::create_symlink("/etc", folder_ / "inside/etc");
  start();
  for (const char* target : {"/../../../../etc/passwd",
                             "/inside/../../../../../etc/passwd",
                             "/%2e%2e/%2e%2e/etc/passwd",
                             "/..%2f..%2f..%2fetc%2fpasswd",
                             "/%2e%2e%2f%2e%2e%2fetc/passwd",
                             "//etc/passwd",
                             "/%252e%252e/etc/passwd",
                             "/..%5c..%5cetc/passwd",
                             "/..\\..\\etc\\passwd",
                             "/%c0%ae%c0%ae/%c0%ae%c0%ae/etc/passwd",
                             "/%c0%afetc/passwd",
                             "/%e0%80%ae%e0%80%ae/etc/passwd",
                             "/link",
                             "/link/",
                             "/inside/etc/passwd",
                             "/inside/etc",
                             "/file%00.txt",
                             "/inside/file%00",
                             "/.%00./etc/passwd",
                             "http://a/../etc/passwd",
                             "/proc/self/root/etc/passwd",
                             "/inside/file/../../../etc/passwd",
                             "/inside/file/",
                             "/%2fetc/passwd"}) {
    const auto got = fetch(target);
    EXPECT_GE(got.status(), 400) << target;
    EXPECT_LE(got.status(), 404) << target;
    EXPECT_EQ(got.body.find("root:"), std::string::npos) << target;
  }
  EXPECT_EQ(fetch("/inside//./file").body, "text");
  EXPECT_EQ(fetch("http://any.host/inside/file?query").body, "text");
}

TEST_F(StaticServerTest, NothingInATargetBecomesALineOfAHead) {
  fs::create_directories(folder_ / "a\r\nX-Evil: 1");
  fs::create_directories(folder_ / "evil.example");
  start();
  const auto got = fetch("/a%0d%0aX-Evil:%201?q=%0d%0aX-Evil:1");
  EXPECT_EQ(got.status(), 301);
  EXPECT_FALSE(got.has_field("X-Evil"));
  EXPECT_EQ(got.field("Location"), "/a%0D%0AX-Evil%3A%201/?q=%0d%0aX-Evil:1");
  // A location that began with two slashes would name another host.
  EXPECT_EQ(fetch("//evil.example").field("Location"), "/evil.example/");
  for (const std::string target : {"/a\r\nX-Evil: 1", "/a\nX-Evil: 1", "/\x01", "/a\tb"}) {
    EXPECT_EQ(fetch(target).status(), 400) << target;
  }
}

TEST_F(StaticServerTest, Directories) {
  write("with/index.html", "<p>index");
  write("without/<b>.txt", "text");
  start();
  EXPECT_EQ(fetch("/with?a=b").field("Location"), "/with/?a=b");
  EXPECT_EQ(fetch("/with/").body, "<p>index");
  EXPECT_EQ(fetch("/with/").field("Content-Type"), "text/html");
  EXPECT_EQ(fetch("/without/").status(), 403);
  EXPECT_EQ(fetch("/").status(), 403);
  StaticSiteOptions options;
  options.listing = true;
  start(options);
  const auto page = fetch("/without/");
  EXPECT_EQ(page.status(), 200);
  EXPECT_EQ(page.field("Content-Type"), "text/html; charset=utf-8");
  EXPECT_NE(page.body.find("href=\"./%3Cb%3E.txt\">&lt;b&gt;.txt"), std::string::npos) << page.body;
  EXPECT_EQ(fetch("/with/").body, "<p>index");
}

TEST_F(StaticServerTest, GzipBesideAFileIsTakenWhileItIsNoOlder) {
  write("a.txt", "plain");
  write("a.txt.gz", "coded");
  start_with_gzip(GzipMode::kStatic);
  auto got = fetch("/a.txt", "Accept-Encoding: gzip\r\n");
  EXPECT_EQ(got.body, "coded");
  EXPECT_EQ(got.field("Content-Encoding"), "gzip");
  EXPECT_EQ(got.field("Content-Type"), "text/plain");
  EXPECT_EQ(got.field("Vary"), "Accept-Encoding");
  const auto coded_tag = got.field("ETag");
  EXPECT_EQ(fetch("/a.txt", "Accept-Encoding: gzip\r\nRange: bytes=1-2\r\n").body, "od");
  got = fetch("/a.txt");
  EXPECT_EQ(got.body, "plain");
  EXPECT_EQ(got.field("Vary"), "Accept-Encoding");
  EXPECT_FALSE(got.has_field("Content-Encoding"));
  EXPECT_NE(got.field("ETag"), coded_tag);
  EXPECT_EQ(fetch("/a.txt", "Accept-Encoding: gzip;q=0\r\n").body, "plain");
  EXPECT_EQ(fetch("/a.txt", "Accept-Encoding: identity;q=0\r\n").status(), 406);
  EXPECT_EQ(fetch("/a.txt.gz").field("Content-Type"), "application/gzip");
  fs::last_write_time(folder_ / "a.txt.gz",
                      fs::last_write_time(folder_ / "a.txt") - std::chrono::seconds(1));
  EXPECT_EQ(fetch("/a.txt", "Accept-Encoding: gzip\r\n").body, "plain");
  start_with_gzip(GzipMode::kOff);
  got = fetch("/a.txt", "Accept-Encoding: gzip\r\n");
  EXPECT_EQ(got.body, "plain");
  EXPECT_FALSE(got.has_field("Vary"));
}

TEST_F(StaticServerTest, CompressesWhatShrinksWithinItsBounds) {
  write("a.txt", text_of_lines(20000));
  write("small.txt", "small");
  write("a.png", text_of_lines(1000));
  StaticSiteOptions options;
  options.gzip = GzipMode::kOn;
  options.gzip_size_bytes_max = 300'000;
  start(options);
  write("long.txt", text_of_lines(40000));
  const std::string fields = "Accept-Encoding: gzip\r\n";
  const auto got = fetch("/a.txt", fields);
  EXPECT_EQ(got.field("Content-Encoding"), "gzip");
  EXPECT_TRUE(got.field("ETag").starts_with("W/"));
  EXPECT_LT(got.body.size(), 100'000u);
  EXPECT_EQ(got.field("Content-Length"), std::to_string(got.body.size()));
  EXPECT_EQ(fetch("/a.txt", fields + "If-None-Match: " + got.field("ETag") + "\r\n").status(), 304);
  EXPECT_EQ(fetch("/a.txt", fields + "Range: bytes=0-1\r\n").status(), 200);
  EXPECT_EQ(fetch("/a.txt", "Range: bytes=0-1\r\n").status(), 206);
  for (const char* target : {"/small.txt", "/a.png", "/long.txt"}) {
    const auto plain = fetch(target, fields);
    EXPECT_FALSE(plain.has_field("Content-Encoding")) << target;
    EXPECT_EQ(plain.field("Vary"), "Accept-Encoding") << target;
  }
}

TEST_F(StaticServerTest, FewResponsesAreMadeAtOnce) {
  write("a.txt", text_of_lines(20000));
  StaticSiteOptions options;
  options.gzip = GzipMode::kOn;
  options.listing = true;
  options.made_at_once_max = 0;
  start(options);
  EXPECT_FALSE(fetch("/a.txt", "Accept-Encoding: gzip\r\n").has_field("Content-Encoding"));
  EXPECT_EQ(fetch("/").status(), 503);
}

TEST_F(StaticServerTest, ASlowReaderHindersNobodyAndIsGivenUp) {
  write("large", "");
  fs::resize_file(folder_ / "large", uint64_t{1} << 30);
  write("small", "text");
  start();
  auto slow = connect(4096);
  slow.send(request("/large"));
  EXPECT_EQ(slow.read_head().status(), 200);
  for (int round = 0; round < 10; ++round) EXPECT_EQ(fetch("/small").body, "text");
  const auto mover = hurry();
  std::string ignored;
  while (server_->statistics().responses_cut == 0) {
    // A little now and then is not enough either.
    ignored = slow.read_bytes(1);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  EXPECT_NE(slow.wait_for_end(), Ending::kStillOpen);
}

TEST_F(StaticServerTest, ASlowSenderOfABodyIsGivenUp) {
  write("file", "text");
  start();
  auto slow = connect();
  slow.send("POST /file HTTP/1.1\r\nHost: a\r\nContent-Length: 60000\r\n\r\n");
  const auto mover = hurry();
  int sent = 0;
  while (slow.send("x") && sent < 60000) {
    ++sent;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  EXPECT_LT(sent, 60000);
}

TEST_F(StaticServerTest, BodiesOverTheLimitAreRefused) {
  write("file", "text");
  start();
  EXPECT_EQ(fetch("/file", "Content-Length: 65537\r\n", "POST").status(), 413);
}

TEST_F(StaticServerTest, AFileThatShrinksHasNoFalseEnd) {
  constexpr uint64_t kSize = uint64_t{64} << 20;
  write("file", "");
  fs::resize_file(folder_ / "file", kSize);
  start();
  auto peer = connect(4096);
  peer.send(request("/file"));
  EXPECT_EQ(peer.read_head().field("Content-Length"), std::to_string(kSize));
  peer.read_bytes(1000);
  fs::resize_file(folder_ / "file", 100);
  Ending ending = Ending::kStillOpen;
  EXPECT_LT(peer.read_to_end(ending).size() + 1000, kSize);
  EXPECT_NE(ending, Ending::kStillOpen);
  EXPECT_EQ(server_->statistics().responses_broken_off, 1u);
}

TEST_F(StaticServerTest, AFileThatGrowsEndsWhereItWasSaidTo) {
  write("file", std::string(40'000'000, 'a'));
  start();
  auto peer = connect(4096);
  peer.send(request("/file"));
  peer.read_head();
  std::ofstream(folder_ / "file", std::ios::app) << std::string(1000, 'b');
  EXPECT_TRUE(peer.read_bytes(40'000'000) == std::string(40'000'000, 'a'));
  peer.send(request("/file", "Range: bytes=40000000-\r\n"));
  EXPECT_EQ(peer.read_message().body, std::string(1000, 'b'));
}

TEST_F(StaticServerTest, FilesOfMoreThanFourGigabytes) {
  constexpr uint64_t kSize = (uint64_t{5} << 30) + 3;
  write("file", "");
  fs::resize_file(folder_ / "file", kSize - 3);
  std::ofstream(folder_ / "file", std::ios::app) << "end";
  start();
  EXPECT_EQ(fetch("/file", "", "HEAD").field("Content-Length"), std::to_string(kSize));
  const auto part = fetch("/file", "Range: bytes=-5\r\n");
  EXPECT_EQ(part.body, std::string("\0\0end", 5));
  EXPECT_EQ(part.field("Content-Range"), "bytes 5368709118-5368709122/5368709123");
  const auto large = fetch("/file", "Range: bytes=5368689123-\r\n");
  EXPECT_EQ(large.body.size(), 20000u);
  EXPECT_TRUE(large.body.ends_with("end"));
}

TEST_F(StaticServerTest, WhatMayNotBeReadIsForbidden) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may read everything";
  write("file", "text");
  fs::permissions(folder_ / "file", fs::perms::none);
  start();
  EXPECT_EQ(fetch("/file").status(), 403);
}

TEST_F(StaticServerTest, EachRequestLeavesALineInTheLog) {
  write("file", "text");
  OriginOptions origin;
  origin.access_log = *open_access_log((folder_ / "log").string());
  start({}, origin);
  fetch("/file");
  fetch("/a\"b", "", "HEAD");
  auto peer = connect();
  peer.send("nonsense\r\n\r\n");
  peer.wait_for_end();
  server_->stop();
  std::ifstream in(folder_ / "log");
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) {
    lines.push_back(line.substr(0, line.find('[')) + line.substr(line.find(']')));
  }
  EXPECT_EQ(lines, (std::vector<std::string>{"127.0.0.1 - - ] \"GET /file HTTP/1.1\" 200 4",
                                             "127.0.0.1 - - ] \"HEAD /a\\x22b HTTP/1.1\" 404 0",
                                             "127.0.0.1 - - ] \"-\" 400 25"}));
}

}  // namespace
}  // namespace workload
