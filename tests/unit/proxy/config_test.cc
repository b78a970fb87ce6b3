#include "proxy/config.h"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/support/temp_dir.h"

namespace proxy {
namespace {

TEST(CacheDirectories, AreAsManyAsAreGiven) {
  const CommandLine none = parse_command_line({});
  EXPECT_EQ(none.error, "");
  EXPECT_TRUE(none.config.cache_dirs.empty());
  const CommandLine two =
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

TEST(CacheDirectories, OfTheCommandLineStandInsteadOfThoseOfTheFile) {
  const testing_support::TempDir folder;
  const std::string path = (folder.path() / "proxy.toml").string();
  std::ofstream(path)
      << "cache-dir = ['scheme=ufs,path=/a,size=1G', 'scheme=ufs,path=/b,size=1G']\n"
         "store-selection = 'round-robin'\n";
  const CommandLine file = parse_command_line({"--config", path});
  ASSERT_EQ(file.error, "");
  ASSERT_EQ(file.config.cache_dirs.size(), 2u);
  EXPECT_EQ(file.config.cache_dirs[1].path, "/b");
  EXPECT_EQ(file.config.store_selection, storage::StoreSelection::kRoundRobin);
  const CommandLine both =
      parse_command_line({"--config", path, "--cache-dir", "scheme=memory,size=1M"});
  ASSERT_EQ(both.error, "");
  ASSERT_EQ(both.config.cache_dirs.size(), 1u);
  EXPECT_EQ(both.config.cache_dirs[0].scheme, "memory");
}

TEST(CacheDirectories, AWrongOneIsToldWithItsText) {
  const CommandLine wrong = parse_command_line(
      {"--cache-dir", "scheme=memory,size=1M", "--cache-dir", "scheme=floppy,size=1M"});
  EXPECT_NE(wrong.error.find("--cache-dir 'scheme=floppy,size=1M'"), std::string::npos)
      << wrong.error;
  const CommandLine selection = parse_command_line({"--store-selection", "random"});
  EXPECT_NE(selection.error.find("must be round-robin or least-load"), std::string::npos)
      << selection.error;
}

}  // namespace
}  // namespace proxy
