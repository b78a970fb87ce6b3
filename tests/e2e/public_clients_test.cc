// curl, wget and ApacheBench through the proxy get what the origin serves, byte for byte.
#include <gtest/gtest.h>

#include "tests/support/stack.h"
#include "workload/model/object.h"

namespace {

using testing_support::command_exists;
using testing_support::read_file;
using testing_support::run_command;
using testing_support::Stack;
using testing_support::StackOptions;

workload::ObjectSpec object_of_size(uint64_t id, uint64_t size_bytes) {
  workload::ObjectSpec object;
  object.seed = 7;
  object.id = id;
  object.type = workload::ContentType::kDownload;
  object.size_bytes = size_bytes;
  object.cachable = true;
  object.last_modified_unix_s = 1'600'000'000;
  object.lifetime_s = 86'400;
  return object;
}

std::string body_of(const workload::ObjectSpec& object) {
  std::string body(object.size_bytes, '\0');
  workload::fill_body(object, 0, std::as_writable_bytes(std::span(body.data(), body.size())));
  return body;
}

/// The schemes that public clients are tried against; each is a `--cache-dir`.
class PublicClients : public testing::TestWithParam<const char*> {
 protected:
  PublicClients() : stack_(StackOptions{{}, {"--cache-dir", GetParam()}}) {}

  std::string url(const workload::ObjectSpec& object) const {
    return "http://" + stack_.origin_address() + workload::object_path(object);
  }
  std::vector<std::string> curl(std::vector<std::string> more) const {
    std::vector<std::string> command{
        "curl",      "-sS", "--max-time", "60",
        "--noproxy", "",    "--proxy",    "http://" + stack_.proxy_address()};
    command.insert(command.end(), more.begin(), more.end());
    return command;
  }
  /// The tags of the access log once it holds `count` lines.
  std::vector<std::string> tags(size_t count) {
    for (int attempt = 0; attempt < 200; ++attempt) {
      std::vector<std::string> found;
      for (const auto& line : testing_support::split_lines(read_file(stack_.access_log()))) {
        const auto words = testing_support::split_words(line);
        if (words.size() > 3) found.push_back(words[3]);
      }
      if (found.size() >= count) return found;
      run_command({"sleep", "0.05"});
    }
    return {};
  }

  Stack stack_;
};

TEST_P(PublicClients, CurlGetsTheSameBytesOnMissHitRangeAndHead) {
  if (!command_exists("curl")) GTEST_SKIP() << "curl is not installed";
  uint64_t id = 1;
  for (const uint64_t size_bytes : {0ULL, 1ULL, 151ULL, 65'536ULL, 65'537ULL, 3'000'000ULL}) {
    const auto object = object_of_size(id++, size_bytes);
    const std::string body = body_of(object);
    EXPECT_EQ(run_command(curl({url(object)})).out, body) << "miss of " << size_bytes;
    EXPECT_EQ(run_command(curl({url(object)})).out, body) << "hit of " << size_bytes;
    const auto head = run_command(curl({"-I", url(object)}));
    EXPECT_NE(head.out.find("200"), std::string::npos) << head.out << head.err;
    EXPECT_NE(head.out.find("Content-Length: " + std::to_string(size_bytes)), std::string::npos)
        << head.out;
    if (size_bytes < 151) continue;
    for (const std::string range : {"0-0", "10-99", "-1", "140-", "65535-65535"}) {
      const auto direct = run_command({"curl", "-sS", "--noproxy", "*", "-r", range, url(object)});
      const auto through = run_command(curl({"-r", range, url(object)}));
      EXPECT_EQ(through.out, direct.out) << range << " of " << size_bytes;
    }
  }
}

TEST_P(PublicClients, WgetGetsTheSameBytes) {
  if (!command_exists("wget")) GTEST_SKIP() << "wget is not installed";
  const auto object = object_of_size(100, 700'001);
  for (const char* what : {"miss", "hit"}) {
    testing_support::Process wget({"wget", "-q", "-T", "60", "-O", "-", url(object)},
                                  {{"http_proxy", "http://" + stack_.proxy_address()}});
    const auto result = wget.wait();
    EXPECT_EQ(result.exit_status, 0) << result.err;
    EXPECT_EQ(result.out, body_of(object)) << what;
  }
}

TEST_P(PublicClients, ApacheBenchCompletesWithoutFailures) {
  if (!command_exists("ab")) GTEST_SKIP() << "ab (apache2-utils) is not installed";
  const auto object = object_of_size(200, 57'244);
  for (const bool keep_alive : {false, true}) {
    std::vector<std::string> command{"ab", "-q", "-n", "2000",
                                     "-c", "10", "-X", stack_.proxy_address()};
    if (keep_alive) command.push_back("-k");
    command.push_back(url(object));
    const auto result = run_command(command);
    EXPECT_EQ(result.exit_status, 0) << result.err;
    EXPECT_NE(result.out.find("Complete requests:      2000"), std::string::npos) << result.out;
    EXPECT_NE(result.out.find("Failed requests:        0"), std::string::npos) << result.out;
    EXPECT_NE(result.out.find("HTML transferred:       114488000 bytes"), std::string::npos)
        << result.out;
    EXPECT_EQ(result.out.find("Non-2xx"), std::string::npos) << result.out;
  }
}

TEST_P(PublicClients, TheAccessLogTellsMissesFromHits) {
  if (!command_exists("curl")) GTEST_SKIP() << "curl is not installed";
  const auto object = object_of_size(300, 5'000);
  for (int round = 0; round < 3; ++round) run_command(curl({url(object)}));
  const auto found = tags(3);
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0], "TCP_MISS/200");
  for (size_t at : {1U, 2U}) EXPECT_NE(found[at].find("HIT/200"), std::string::npos) << found[at];
}

INSTANTIATE_TEST_SUITE_P(Schemes, PublicClients,
                         testing::Values("scheme=memory,size=256M",
                                         "scheme=ufs,path={folder}/cache,size=256M,l1=2,l2=4",
                                         "scheme=aufs,path={folder}/cache,size=256M,l1=2,l2=4",
                                         "scheme=coss,path={folder}/cache,size=256M"),
                         [](const auto& row) {
                           const std::string text = row.param;
                           return text.substr(7, std::min(text.find(','), text.size()) - 7);
                         });

}  // namespace
