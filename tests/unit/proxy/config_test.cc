// The command line and its file.
#include "proxy/config.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/temp_dir.h"

namespace {

using proxy::Action;
using proxy::AddressRange;
using proxy::parse_command_line;

std::string error_of(std::vector<std::string> arguments) {
  return parse_command_line(arguments).error;
}

TEST(ConfigTest, DefaultsServeOnLoopbackWithoutACache) {
  const auto line = parse_command_line({});
  EXPECT_EQ(line.error, "");
  EXPECT_EQ(line.action, Action::kServe);
  EXPECT_EQ(line.config.listen.text(), "127.0.0.1:3128");
  EXPECT_TRUE(line.config.cache_dirs.empty());
  EXPECT_TRUE(line.config.connect_ports.contains(443));
}

TEST(ConfigTest, OptionsAreRead) {
  const auto line = parse_command_line(
      {"--listen", "127.0.0.1:0", "--origin=example.org:80", "--cache-dir",
       "scheme=ufs,path=/tmp/x,size=1G,l1=4", "--memory-cache", "64M", "--access-log", "log",
       "--admin", "127.0.0.1:9", "--connect-ports", "563,8443", "--header-timeout", "5s",
       "--max-connections", "7", "--fill-window", "128K"});
  ASSERT_EQ(line.error, "");
  EXPECT_EQ(line.config.origin->text(), "example.org:80");
  EXPECT_EQ(line.config.cache_dirs.at(0).scheme, "ufs");
  EXPECT_EQ(line.config.cache_dirs.at(0).options.at("l1"), "4");
  EXPECT_EQ(line.config.memory_cache_bytes, 64U << 20);
  EXPECT_EQ(line.config.admin->port, 9);
  EXPECT_TRUE(line.config.connect_ports.contains(8443));
  EXPECT_EQ(line.config.timeouts.header, std::chrono::seconds(5));
  EXPECT_EQ(line.config.limits.connections_max, 7U);
  EXPECT_EQ(line.config.limits.fill_window_bytes, 128U << 10);
}

TEST(ConfigTest, ErrorsNameTheOptionTheValueAndWhatIsRight) {
  EXPECT_NE(error_of({"--nonsense"}).find("nonsense"), std::string::npos);
  EXPECT_NE(error_of({"--listen", "here"}).find("--listen 'here': must be"), std::string::npos);
  EXPECT_NE(error_of({"--header-timeout", "0s"}).find("--header-timeout '0s'"), std::string::npos);
  EXPECT_NE(error_of({"--workers", "4"}).find("--workers '4'"), std::string::npos);
  EXPECT_NE(error_of({"--allow", "10.0.0.0/33"}).find("--allow"), std::string::npos);
  EXPECT_NE(error_of({"--memory-cache", "1M"}).find("--memory-cache needs"), std::string::npos);
  EXPECT_NE(error_of({"--check"}).find("--check needs --cache-dir"), std::string::npos);
}

TEST(ConfigTest, ADelayForTestsIsBounded) {
  EXPECT_EQ(parse_command_line({}).config.test_delay, std::chrono::nanoseconds(0));
  EXPECT_EQ(parse_command_line({"--test-delay", "20us"}).config.test_delay,
            std::chrono::microseconds(20));
  EXPECT_NE(
      error_of({"--test-delay", "2s"}).find("--test-delay '2s': must be a time from 0s to 1s"),
      std::string::npos);
}

TEST(ConfigTest, AForwardProxyForOthersNeedsToBeAllowed) {
  EXPECT_NE(error_of({"--listen", "0.0.0.0:3128"}).find("--allow"), std::string::npos);
  EXPECT_EQ(error_of({"--listen", "0.0.0.0:3128", "--allow", "10.0.0.0/8"}), "");
  EXPECT_EQ(error_of({"--listen", "0.0.0.0:3128", "--origin", "127.0.0.1:80"}), "");
}

TEST(ConfigTest, HelpAndVersionAreTexts) {
  const auto help = parse_command_line({"--help"});
  EXPECT_EQ(help.action, Action::kShowText);
  EXPECT_NE(help.text.find("Example"), std::string::npos);
  EXPECT_NE(parse_command_line({"--version"}).text.find("cacheoff-proxy "), std::string::npos);
  EXPECT_EQ(parse_command_line({"--list-schemes"}).action, Action::kListSchemes);
}

TEST(ConfigTest, ItsOptionsAreListedWithKindAndDefaultAndEachDefaultIsNoChange) {
  const auto list = parse_command_line({"--list-options"});
  EXPECT_EQ(list.action, Action::kShowText);
  std::istringstream lines(list.text);
  size_t count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    std::istringstream fields(line);
    std::string name;
    std::string kind;
    std::string text;
    std::getline(fields, name, '\t');
    std::getline(fields, kind, '\t');
    std::getline(fields, text, '\t');
    EXPECT_TRUE(kind == "size" || kind == "count" || kind == "time" || kind == "text") << line;
    // A memory cache of size 0 is none, and needs nothing behind it.
    if (!text.empty()) {
      EXPECT_EQ(error_of({"--" + name, text}), "") << line;
    }
  }
  EXPECT_GT(count, 20U);
  EXPECT_NE(list.text.find("memory-cache\tsize\t0\n"), std::string::npos);
  EXPECT_NE(list.text.find("\nheader-timeout\ttime\t30s\n"), std::string::npos);
  EXPECT_NE(list.text.find("\nvia-name\ttext\t\n"), std::string::npos);
}

TEST(ConfigTest, AFileCanSayAllAndTheCommandLineGoesBeforeIt) {
  const testing_support::TempDir folder;
  const std::string path = folder / "proxy.toml";
  std::ofstream(path) << "listen = \"127.0.0.1:1\"\n"
                         "max-connections = 9\n"
                         "header-timeout = \"7s\"\n"
                         "connect-ports = 563\n"
                         "[cache-dir]\nscheme = \"memory\"\nsize = \"32M\"\n";
  const auto line = parse_command_line({"--config", path, "--listen", "127.0.0.1:2"});
  ASSERT_EQ(line.error, "");
  EXPECT_EQ(line.config.listen.port, 2);
  EXPECT_EQ(line.config.limits.connections_max, 9U);
  EXPECT_EQ(line.config.timeouts.header, std::chrono::seconds(7));
  EXPECT_EQ(line.config.cache_dirs.at(0).scheme, "memory");
  EXPECT_EQ(line.config.cache_dirs.at(0).capacity_bytes, 32U << 20);
}

TEST(ConfigTest, ErrorsOfAFileNameItAndItsLine) {
  const testing_support::TempDir folder;
  const std::string path = folder / "proxy.toml";
  std::ofstream(path) << "listen = \"127.0.0.1:1\"\nnonsense = 1\n";
  EXPECT_NE(error_of({"--config", path}).find(path + ": unknown option 'nonsense'"),
            std::string::npos);
  std::ofstream(path) << "listen = \"127.0.0.1:1\"\nlisten = = 3\n";
  EXPECT_NE(error_of({"--config", path}).find(path + ":2:"), std::string::npos);
  EXPECT_NE(error_of({"--config", folder / "absent.toml"}).find("absent.toml"), std::string::npos);
}

TEST(ConfigTest, AddressRangesMatchPrefixes) {
  const auto contains = [](const char* range, const char* address) {
    return AddressRange::parse(range)->contains(boost::asio::ip::make_address(address));
  };
  EXPECT_TRUE(contains("10.0.0.0/8", "10.255.1.2"));
  EXPECT_FALSE(contains("10.0.0.0/8", "11.0.0.1"));
  EXPECT_TRUE(contains("192.168.1.128/25", "192.168.1.129"));
  EXPECT_FALSE(contains("192.168.1.128/25", "192.168.1.127"));
  EXPECT_TRUE(contains("10.0.0.0/8", "::ffff:10.1.1.1"));
  EXPECT_TRUE(contains("fd00::/8", "fd12::1"));
  EXPECT_FALSE(contains("fd00::/8", "fe80::1"));
  EXPECT_TRUE(contains("0.0.0.0/0", "1.2.3.4"));
  EXPECT_FALSE(AddressRange::parse("10.0.0.0/33"));
  EXPECT_FALSE(AddressRange::parse("nonsense"));
}

TEST(ConfigTest, OthersThanLoopbackNeedAnAllowance) {
  proxy::Config config;
  const auto address = [](const char* text) { return boost::asio::ip::make_address(text); };
  EXPECT_TRUE(is_client_allowed(config, address("127.0.0.1")));
  EXPECT_TRUE(is_client_allowed(config, address("::1")));
  EXPECT_FALSE(is_client_allowed(config, address("10.0.0.1")));
  config.allow.push_back(*AddressRange::parse("10.0.0.0/8"));
  EXPECT_TRUE(is_client_allowed(config, address("10.0.0.1")));
  EXPECT_FALSE(is_client_allowed(config, address("192.0.2.1")));
  config.allow.clear();
  config.origin = storage::HostPort{"127.0.0.1", 80};
  EXPECT_TRUE(is_client_allowed(config, address("192.0.2.1")));
}

TEST(CacheDirectoriesTest, AreAsManyAsAreGiven) {
  const auto none = parse_command_line({});
  EXPECT_EQ(none.error, "");
  EXPECT_TRUE(none.config.cache_dirs.empty());
  const auto two =
      parse_command_line({"--cache-dir", "scheme=ufs,path=/a,size=1G,max-size=64K", "--cache-dir",
                          "scheme=memory,size=1M", "--store-selection", "round-robin"});
  ASSERT_EQ(two.error, "");
  ASSERT_EQ(two.config.cache_dirs.size(), 2u);
  EXPECT_EQ(two.config.cache_dirs[0].path, "/a");
  EXPECT_EQ(two.config.cache_dirs[0].options.at("max-size"), "64K");
  EXPECT_EQ(two.config.cache_dirs[1].scheme, "memory");
  EXPECT_EQ(two.config.store_selection, storage::StoreSelection::kRoundRobin);
  EXPECT_EQ(none.config.store_selection, storage::StoreSelection::kLeastLoad);
}

TEST(CacheDirectoriesTest, OfTheCommandLineStandInsteadOfThoseOfTheFile) {
  const testing_support::TempDir folder;
  const std::string path = (folder.path() / "proxy.toml").string();
  std::ofstream(path)
      << "cache-dir = ['scheme=ufs,path=/a,size=1G', 'scheme=ufs,path=/b,size=1G']\n"
         "store-selection = 'round-robin'\n";
  const auto file = parse_command_line({"--config", path});
  ASSERT_EQ(file.error, "");
  ASSERT_EQ(file.config.cache_dirs.size(), 2u);
  EXPECT_EQ(file.config.cache_dirs[1].path, "/b");
  EXPECT_EQ(file.config.store_selection, storage::StoreSelection::kRoundRobin);
  const auto both = parse_command_line({"--config", path, "--cache-dir", "scheme=memory,size=1M"});
  ASSERT_EQ(both.error, "");
  ASSERT_EQ(both.config.cache_dirs.size(), 1u);
  EXPECT_EQ(both.config.cache_dirs[0].scheme, "memory");
}

TEST(CacheDirectoriesTest, AWrongOneIsToldWithItsText) {
  const auto wrong = parse_command_line(
      {"--cache-dir", "scheme=memory,size=1M", "--cache-dir", "scheme=floppy,size=1M"});
  EXPECT_NE(wrong.error.find("--cache-dir 'scheme=floppy,size=1M'"), std::string::npos)
      << wrong.error;
  const auto selection = parse_command_line({"--store-selection", "random"});
  EXPECT_NE(selection.error.find("must be round-robin or least-load"), std::string::npos)
      << selection.error;
}

}  // namespace
