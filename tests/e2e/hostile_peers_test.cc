// Peers that are slow, silent, gone or lying: the proxy keeps serving others, keeps its memory
// bounded, and never stores a truncated response as whole.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <fstream>
#include <thread>

#include "tests/support/stack.h"
#include "workload/model/object.h"

namespace {

using testing_support::run_command;
using testing_support::Stack;
using testing_support::StackOptions;

workload::ObjectSpec object_of_size(uint64_t id, uint64_t size_bytes) {
  workload::ObjectSpec object;
  object.seed = 9;
  object.id = id;
  object.type = workload::ContentType::kDownload;
  object.size_bytes = size_bytes;
  object.last_modified_unix_s = 1'600'000'000;
  object.lifetime_s = 86'400;
  return object;
}

/// A blocking socket to the proxy; -1 when it could not be had.
int connect_to(uint16_t port) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return -1;
  timeval limit{30, 0};
  ::setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return fd;
  ::close(fd);
  return -1;
}

bool send_all(int fd, const std::string& text) {
  return ::send(fd, text.data(), text.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(text.size());
}

uint64_t resident_kib(pid_t pid) {
  std::ifstream in("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(in, line);) {
    if (line.rfind("VmRSS:", 0) == 0) return std::strtoull(line.c_str() + 6, nullptr, 10);
  }
  return 0;
}

class HostilePeers : public testing::Test {
 protected:
  explicit HostilePeers(std::vector<std::string> more = {})
      : stack_(StackOptions{{"--test-faults"}, with_cache(std::move(more))}) {}

  static std::vector<std::string> with_cache(std::vector<std::string> more) {
    more.insert(more.end(), {"--cache-dir", "scheme=ufs,path={folder}/cache,size=64M,l1=2,l2=4"});
    return more;
  }
  std::string url(const workload::ObjectSpec& object, const std::string& query = "") const {
    return "http://" + stack_.origin_address() + workload::object_path(object) + query;
  }
  testing_support::ProcessResult curl(std::vector<std::string> more) const {
    std::vector<std::string> command{
        "curl",      "-sS", "--max-time", "60",
        "--noproxy", "",    "--proxy",    "http://" + stack_.proxy_address()};
    command.insert(command.end(), more.begin(), more.end());
    return run_command(command);
  }
  /// The proxy still serves a whole, right object.
  void expect_serving(uint64_t id) {
    const auto object = object_of_size(id, 20'000);
    std::string body(object.size_bytes, '\0');
    workload::fill_body(object, 0, std::as_writable_bytes(std::span(body.data(), body.size())));
    EXPECT_EQ(curl({url(object)}).out, body);
    EXPECT_TRUE(stack_.proxy().running());
  }

  Stack stack_;
};

TEST_F(HostilePeers, TenThousandIdleConnectionsLeaveRoomForOthers) {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
  const size_t wanted = std::min<size_t>(10'000, limit.rlim_max > 500 ? limit.rlim_max - 500 : 0);
  if (wanted < 10'000) {
    GTEST_SKIP() << "needs 10,500 descriptors, the hard limit is " << limit.rlim_max;
  }
  const uint64_t before_kib = resident_kib(stack_.proxy().pid());
  std::vector<int> idle;
  for (size_t at = 0; at < wanted; ++at) {
    const int fd = connect_to(stack_.proxy_port());
    ASSERT_GE(fd, 0) << "connection " << at;
    idle.push_back(fd);
  }
  expect_serving(1);
  // An idle connection must cost kilobytes, not a full set of buffers.
  [[maybe_unused]] const uint64_t grown_kib = resident_kib(stack_.proxy().pid()) - before_kib;
#ifndef CACHEOFF_SANITIZED
  EXPECT_LT(grown_kib / wanted, 32U) << grown_kib << " KiB for " << wanted << " connections";
#endif
  for (const int fd : idle) ::close(fd);
  expect_serving(2);
}

TEST_F(HostilePeers, ClientsThatVanishInMidBodyLeaveNothingBehind) {
  const auto object = object_of_size(10, 8'000'000);
  for (int round = 0; round < 50; ++round) {
    const int fd = connect_to(stack_.proxy_port());
    ASSERT_GE(fd, 0);
    ASSERT_TRUE(
        send_all(fd, "GET " + url(object_of_size(1000 + static_cast<uint64_t>(round), 8'000'000)) +
                         " HTTP/1.1\r\nHost: x\r\n\r\n"));
    char byte = 0;
    EXPECT_EQ(::recv(fd, &byte, 1, 0), 1);
    ::close(fd);
  }
  expect_serving(11);
  EXPECT_LT(resident_kib(stack_.proxy().pid()), 1'500'000U);
  const auto whole = curl({"-o", "/dev/null", "-w", "%{size_download}", url(object)});
  EXPECT_EQ(whole.out, "8000000");
}

TEST_F(HostilePeers, ATruncatedResponseIsNeverStoredAsWhole) {
  uint64_t id = 20;
  for (const std::string fault : {"truncate", "chunked-no-end"}) {
    const auto object = object_of_size(id++, 300'000);
    const std::string path = url(object, "?fault=" + fault);
    for (int round = 0; round < 2; ++round) {
      const auto result = curl({"-o", "/dev/null", path});
      EXPECT_NE(result.exit_status, 0) << fault << ": a cut body must not look whole";
    }
  }
  const std::string log = testing_support::read_file(stack_.access_log());
  EXPECT_EQ(log.find("HIT/200"), std::string::npos) << log;
  expect_serving(30);
}

class SlowPeers : public HostilePeers {
 protected:
  SlowPeers() : HostilePeers({"--header-timeout", "3s"}) {}
};

TEST_F(SlowPeers, AHeaderThatNeverEndsIsCutOffAndOthersAreServed) {
  std::vector<int> slow;
  for (int at = 0; at < 200; ++at) {
    const int fd = connect_to(stack_.proxy_port());
    ASSERT_GE(fd, 0);
    ASSERT_TRUE(
        send_all(fd, "GET http://" + stack_.origin_address() + "/ HTTP/1.1\r\nHost: x\r\n"));
    slow.push_back(fd);
  }
  // A byte a second from each: an idle timer alone would never fire.
  size_t closed = 0;
  for (int second = 0; second < 20 && closed < slow.size(); ++second) {
    std::this_thread::sleep_for(std::chrono::seconds(1));
    closed = 0;
    for (const int fd : slow) {
      send_all(fd, "a");
      char buffer[4096];
      const ssize_t got = ::recv(fd, buffer, sizeof buffer, MSG_DONTWAIT);
      if (got == 0 || (got < 0 && errno != EAGAIN)) ++closed;
    }
    if (second == 0) expect_serving(40);
  }
  EXPECT_EQ(closed, slow.size());
  for (const int fd : slow) ::close(fd);
  expect_serving(41);
}

}  // namespace
