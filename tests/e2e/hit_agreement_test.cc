// A hit that the robots count is a hit in the cache's own access log, to the request: for our
// proxy with every scheme, and for a real Squid in its place.
#include <gtest/gtest.h>
#include <pwd.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <fstream>
#include <map>

#include "tests/support/stack.h"

namespace {

using testing_support::read_file;
using testing_support::split_lines;
using testing_support::split_words;
using testing_support::Stack;
using testing_support::StackOptions;
namespace fs = std::filesystem;
namespace json = boost::json;

/// Robots against `proxy`; returns run.json.
json::object drive(const Stack& stack, const std::string& proxy, const fs::path& out,
                   const std::string& requests, const std::string& workload = "polymix4") {
  const auto result = testing_support::run_command(
      {testing_support::program_path("cacheoff"), "load", "--proxy", proxy, "--origin",
       stack.origin_address(), "--workload", workload, "--load", "best-effort=16", "--until",
       "requests=" + requests, "--seed", "11", "--time-scale", "1000", "--out", out.string()},
      std::chrono::minutes(5));
  EXPECT_EQ(result.exit_status, 0) << result.out << result.err;
  boost::system::error_code failed;
  const auto value = json::parse(read_file(out / "run.json"), failed);
  EXPECT_FALSE(failed) << "run.json: " << failed.message();
  return value.is_object() ? value.as_object() : json::object();
}

uint64_t number(const json::value& value) {
  return value.to_number<uint64_t>();
}

void expect_clean(const json::object& run) {
  for (const auto& [kind, count] : run.at("errors").as_object()) {
    EXPECT_EQ(number(count), 0U) << kind;
  }
  EXPECT_EQ(number(run.at("wrong_bodies")), 0U);
}

/// Requests by result tag, the status left out. Squid logs a request that shared another's fetch
/// as TCP_MISS without a server (HIER_NONE): here that is TCP_CF_HIT, as our proxy says it.
std::map<std::string, uint64_t> count_tags(const std::string& log) {
  std::map<std::string, uint64_t> counts;
  for (const auto& line : split_lines(log)) {
    const auto words = split_words(line);
    if (words.size() < 10) continue;
    const std::string tag = words[3].substr(0, words[3].find('/'));
    const bool shared = tag == "TCP_MISS" && words[8] == "HIER_NONE/-";
    ++counts[shared ? "TCP_CF_HIT" : tag];
  }
  return counts;
}

/// What a tag says: whether the response came from the cache.
bool is_hit_tag(const std::string& tag) {
  return tag.find("HIT") != std::string::npos || tag == "TCP_REFRESH_UNMODIFIED";
}

uint64_t count_hits(const std::map<std::string, uint64_t>& tags) {
  uint64_t hits = 0;
  for (const auto& [tag, count] : tags) hits += is_hit_tag(tag) ? count : 0;
  return hits;
}

uint64_t count_lines(const std::map<std::string, uint64_t>& tags) {
  uint64_t lines = 0;
  for (const auto& [tag, count] : tags) lines += count;
  return lines;
}

/// PolyMix-4 with every other kind of request, and with aborts on both sides: many, and of objects
/// large enough that an abort comes before the end.
std::string every_kind(const Stack& stack) {
  const fs::path file = stack.folder() / "every_kind.toml";
  std::ofstream(file) << "base = \"polymix4\"\nname = \"every kind\"\n"
                         "[content.video]\nshare_percent = 5\nsize = \"lognormal:500KB,300KB\"\n"
                         "life_cycle = \"constant:365d\"\n"
                         "[requests]\netag_200_percent = 5\netag_304_percent = 10\n"
                         "range_percent = 10\nrange_size = \"exponential:20KB\"\n"
                         "[robot]\nabort_percent = 1\n[server]\nabort_percent = 2\n";
  return file.string();
}

/// What must hold of a run with every kind, whatever the proxy.
void expect_every_kind(const json::object& run) {
  expect_clean(run);
  EXPECT_GT(number(run.at("ranges")), 100U);
  EXPECT_GT(number(run.at("aborted")), 20U);
  EXPECT_GT(number(run.at("cut")), 20U);
  EXPECT_EQ(number(run.at("completed")),
            number(run.at("good")) + number(run.at("aborted")) + number(run.at("cut")));
}

class HitAgreement : public testing::TestWithParam<const char*> {};

TEST_P(HitAgreement, RobotsAndAccessLogCountTheSameHits) {
  Stack stack(StackOptions{{}, {"--cache-dir", GetParam()}});
  const auto run = drive(stack, stack.proxy_address(), stack.folder() / "out", "6000");
  ASSERT_EQ(stack.stop_proxy().exit_status, 0);
  expect_clean(run);
  const auto tags = count_tags(read_file(stack.access_log()));
  EXPECT_EQ(count_lines(tags), number(run.at("requests")));
  EXPECT_EQ(count_hits(tags), number(run.at("hits")));
  if (std::string(GetParam()) == "scheme=none") {
    EXPECT_EQ(number(run.at("hits")), tags.contains("TCP_CF_HIT") ? tags.at("TCP_CF_HIT") : 0U);
  } else {
    EXPECT_GT(number(run.at("hits")), 1500U);
  }
}

TEST_P(HitAgreement, NothingBrokenOffIsStored) {
  Stack stack(StackOptions{{}, {"--cache-dir", GetParam()}});
  const auto run =
      drive(stack, stack.proxy_address(), stack.folder() / "out", "6000", every_kind(stack));
  ASSERT_EQ(stack.stop_proxy().exit_status, 0);
  expect_every_kind(run);
  EXPECT_EQ(count_lines(count_tags(read_file(stack.access_log()))), number(run.at("requests")));
}

INSTANTIATE_TEST_SUITE_P(Schemes, HitAgreement,
                         testing::Values("scheme=none", "scheme=memory,size=512M",
                                         "scheme=ufs,path={folder}/cache,size=512M,l1=2,l2=4",
                                         "scheme=aufs,path={folder}/cache,size=512M,l1=2,l2=4",
                                         "scheme=diskd,path={folder}/cache,size=512M,l1=2,l2=4",
                                         "scheme=coss,path={folder}/cache,size=512M",
                                         "scheme=rock,path={folder}/cache,size=512M"),
                         [](const auto& row) {
                           const std::string text = row.param;
                           return text.substr(7, std::min(text.find(','), text.size()) - 7);
                         });

/// A real Squid (Debian's package) on a free port, in a folder of its own.
class Squid {
 public:
  explicit Squid(const fs::path& folder) : folder_(folder) {
    fs::create_directories(folder_);
    fs::permissions(folder_, fs::perms::all);
    // Squid gives up root by itself; its folder must then be open to that user.
    fs::permissions(folder_.parent_path(), fs::perms::others_exec | fs::perms::others_read,
                    fs::perm_options::add);
    const auto probe = testing_support::run_command(
        {"sh", "-c", "ss -Htln 2>/dev/null | awk '{print $4}' | sed 's/.*://' | sort -n | uniq"});
    std::map<std::string, bool> taken;
    for (const auto& port : split_lines(probe.out)) taken[port] = true;
    port_ = 20000 + static_cast<uint16_t>(::getpid() % 9000);
    while (taken.contains(std::to_string(port_))) ++port_;
    write_configuration();
    process_ = std::make_unique<testing_support::Process>(
        // Its shared memory has the service's name: another Squid may be running.
        std::vector<std::string>{"squid", "-N", "-n", "cacheoff" + std::to_string(::getpid()), "-f",
                                 (folder_ / "squid.conf").string()});
  }

  bool wait_until_ready() {
    for (int attempt = 0; attempt < 300 && process_->running(); ++attempt) {
      const auto probe = testing_support::run_command(
          {"bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/" + std::to_string(port_)});
      if (probe.exit_status == 0) return true;
      testing_support::run_command({"sleep", "0.1"});
    }
    return false;
  }
  void stop() { stopped_ = process_->terminate(std::chrono::seconds(90)); }
  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }
  std::string log() const { return read_file(folder_ / "access.log"); }
  std::string said() const { return read_file(folder_ / "cache.log") + stopped_.err; }

 private:
  void write_configuration() const {
    std::ofstream out(folder_ / "squid.conf");
    out << "http_port 127.0.0.1:" << port_ << "\nhttp_access allow all\n"
        << "cache_mem 256 MB\nmaximum_object_size_in_memory 64 MB\nmaximum_object_size 64 MB\n"
        << "cache_log " << (folder_ / "cache.log").string() << "\npid_filename none\n"
        << "access_log stdio:" << (folder_ / "access.log").string() << " squid\n"
        << "coredump_dir " << folder_.string() << "\nshutdown_lifetime 1 seconds\n"
        << "netdb_filename none\nvisible_hostname squid.test\npinger_enable off\n"
        << "refresh_pattern . 0 20% 4320\n";
  }

  fs::path folder_;
  uint16_t port_ = 0;
  std::unique_ptr<testing_support::Process> process_;
  testing_support::ProcessResult stopped_;
};

TEST(HitAgreementWithSquid, RobotsAndSquidsAccessLogCountTheSameHits) {
  if (!testing_support::command_exists("squid")) GTEST_SKIP() << "squid is not installed";
  Stack stack(StackOptions{});
  Squid squid(stack.folder() / "squid");
  ASSERT_TRUE(squid.wait_until_ready()) << squid.said();
  const auto run = drive(stack, squid.address(), stack.folder() / "out", "6000");
  squid.stop();
  expect_clean(run);
  auto tags = count_tags(squid.log());
  tags.erase("NONE_NONE");  // the readiness probe, and connections closed between requests
  EXPECT_EQ(count_lines(tags), number(run.at("requests")));
  EXPECT_EQ(count_hits(tags), number(run.at("hits")));
  EXPECT_GT(number(run.at("hits")), 1500U);
}

TEST(HitAgreementWithSquid, NothingBrokenOffIsStored) {
  if (!testing_support::command_exists("squid")) GTEST_SKIP() << "squid is not installed";
  Stack stack(StackOptions{});
  Squid squid(stack.folder() / "squid");
  ASSERT_TRUE(squid.wait_until_ready()) << squid.said();
  const auto run = drive(stack, squid.address(), stack.folder() / "out", "6000", every_kind(stack));
  squid.stop();
  expect_every_kind(run);
}

}  // namespace
