#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "tests/support/temp_dir.h"
#include "workload/ab/options.h"
#include "workload/ab/request.h"

namespace workload::ab {
namespace {

constexpr const char* kTestUrl = "http://127.0.0.1:8080/a?b=c";

Options options_of(std::vector<std::string> arguments) {
  arguments.emplace_back(kTestUrl);
  const auto options = parse_options(arguments);
  EXPECT_TRUE(options) << (options ? "" : options.error().text);
  return options ? *options : Options();
}

std::string complaint_of(std::vector<std::string> arguments, const std::string& url = kTestUrl) {
  arguments.push_back(url);
  const auto options = parse_options(arguments);
  EXPECT_FALSE(options);
  if (options) return {};
  EXPECT_TRUE(options.error().usage);
  EXPECT_EQ(options.error().text.find('\n'), std::string::npos);
  return options.error().text;
}

TEST(AbOptions, ValuesMayStandInTheSameWordAsTheirOption) {
  const auto apart = options_of({"-k", "-c", "10", "-n", "100000"});
  const auto together = options_of({"-kc10", "-n100000"});
  for (const auto& options : {apart, together}) {
    EXPECT_TRUE(options.keep_alive);
    EXPECT_EQ(options.concurrency, 10U);
    EXPECT_EQ(options.requests, 100000U);
  }
}

TEST(AbOptions, OwnOptionsAreLong) {
  const auto options = options_of({"-c4", "-n9", "--threads", "2", "--repeat=7", "--json", "f"});
  EXPECT_EQ(options.threads, 2U);
  EXPECT_EQ(options.repeat, 7U);
  EXPECT_EQ(options.json_file, "f");
}

TEST(AbOptions, TimeLimitSetsTheRequestsUnlessTheyStandBehindIt) {
  EXPECT_EQ(options_of({"-n", "9", "-t", "3"}).requests, 50000U);
  EXPECT_TRUE(options_of({"-t", "3"}).requests_from_t);
  const auto options = options_of({"-t", "3", "-n", "9"});
  EXPECT_EQ(options.requests, 9U);
  EXPECT_FALSE(options.requests_from_t);
  EXPECT_EQ(options.time_limit, std::chrono::seconds(3));
}

TEST(AbOptions, WrongOnesAreNamedInOneLine) {
  EXPECT_NE(complaint_of({"-Q"}).find("'-Q'"), std::string::npos);
  EXPECT_NE(complaint_of({"--nothing"}).find("'--nothing'"), std::string::npos);
  EXPECT_NE(complaint_of({"-n", "x"}).find("-n 'x'"), std::string::npos);
  EXPECT_NE(complaint_of({"-n", "-1"}).find("-n '-1'"), std::string::npos);
  EXPECT_NE(complaint_of({"-n", "0"}).find("-n '0'"), std::string::npos);
  EXPECT_NE(complaint_of({"-c", "20001", "-n", "30000"}).find("-c '20001'"), std::string::npos);
  EXPECT_NE(complaint_of({"-n", "5", "-c", "6"}).find("-c 6"), std::string::npos);
  EXPECT_NE(complaint_of({"-n5", "-c2", "--threads", "3"}).find("--threads 3"), std::string::npos);
  EXPECT_NE(complaint_of({"-H", "no colon"}).find("-H"), std::string::npos);
  EXPECT_NE(complaint_of({"-H", "A: b\r\nC: d"}).find("-H"), std::string::npos);
  EXPECT_NE(complaint_of({"-C", "a=b\nc"}).find("-C"), std::string::npos);
  EXPECT_NE(complaint_of({"-X", "proxy"}).find("-X 'proxy'"), std::string::npos);
  EXPECT_NE(complaint_of({"-i", "-p", "/dev/null"}).find("-i"), std::string::npos);
  EXPECT_NE(complaint_of({"-p", "/does/not/exist"}).find("/does/not/exist"), std::string::npos);
  EXPECT_NE(complaint_of({"-p", "a", "-u", "b"}).find("-u"), std::string::npos);
  for (const std::string tls : {"-fTLS1", "-Zall", "-Ecert", "-I"}) {
    EXPECT_NE(complaint_of({tls}).find("TLS is not there"), std::string::npos) << tls;
  }
}

TEST(AbOptions, OneUrlIsNeeded) {
  EXPECT_FALSE(parse_options({}));
  EXPECT_FALSE(parse_options({"http://a/", "http://b/"}));
  EXPECT_FALSE(parse_options({"-n"}));
  EXPECT_NE(complaint_of({}, "https://a/").find("TLS"), std::string::npos);
  for (const std::string url : {"http://a", "a", "http:///", "http://a:0/", "http://a:99999/",
                                "http://a b/", "http://u:p@a/", "http://a/\r\nX: y"}) {
    EXPECT_FALSE(parse_url(url)) << url;
  }
}

TEST(AbOptions, UrlsMayLackSchemeAndPort) {
  const auto url = parse_url("localhost/x?y");
  ASSERT_TRUE(url);
  EXPECT_EQ(url->server, (storage::HostPort{"localhost", 80}));
  EXPECT_EQ(url->host_text, "localhost");
  EXPECT_EQ(url->path, "/x?y");
  EXPECT_EQ(url->whole, "http://localhost/x?y");
  const auto six = parse_url("http://[::1]:81/");
  ASSERT_TRUE(six);
  EXPECT_EQ(six->server, (storage::HostPort{"::1", 81}));
}

TEST(AbRequest, IsHttp10WithTheFieldsOfApacheBench) {
  EXPECT_EQ(make_request(options_of({"-H", "User-Agent: u"})),
            "GET /a?b=c HTTP/1.0\r\nUser-Agent: u\r\nHost: 127.0.0.1:8080\r\nAccept: */*\r\n\r\n");
  EXPECT_EQ(make_request(options_of({"-k", "-i", "-C", "a=1", "-C", "b=2", "-A", "u:p", "-P", "x:y",
                                     "-H", "accept: text/html", "-H", "USER-AGENT: u"})),
            "HEAD /a?b=c HTTP/1.0\r\nConnection: Keep-Alive\r\nCookie: a=1; b=2\r\n"
            "Authorization: Basic dTpw\r\nProxy-Authorization: Basic eDp5\r\n"
            "accept: text/html\r\nUSER-AGENT: u\r\nHost: 127.0.0.1:8080\r\n\r\n");
  const auto request = make_request(options_of({"-X", "127.0.0.1:3128"}));
  EXPECT_EQ(request.rfind("GET http://127.0.0.1:8080/a?b=c HTTP/1.0\r\n", 0), 0U);
  EXPECT_NE(request.find("\r\nUser-Agent: cacheoff-ab/"), std::string::npos);
}

TEST(AbRequest, CarriesTheFile) {
  const testing_support::TempDir folder;
  const std::string file = folder / "body";
  std::ofstream(file) << "a=1";
  const auto put = make_request(options_of({"-u", file, "-T", "text/x", "-H", "User-Agent: u"}));
  EXPECT_EQ(put,
            "PUT /a?b=c HTTP/1.0\r\nContent-length: 3\r\nContent-type: text/x\r\nUser-Agent: u\r\n"
            "Host: 127.0.0.1:8080\r\nAccept: */*\r\n\r\na=1");
  const auto patch = make_request(options_of({"-m", "PATCH", "-p", file}));
  EXPECT_EQ(patch.rfind("PATCH ", 0), 0U);
}

}  // namespace
}  // namespace workload::ab
