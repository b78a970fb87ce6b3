#include "workload/origin/static/static_site.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <filesystem>
#include <fstream>

#include "tests/support/temp_dir.h"
#include "workload/origin/static/open_beneath.h"

namespace workload {
namespace {

namespace fs = std::filesystem;

/// A root with a folder beside it that nothing may lead to.
class StaticSiteTest : public testing::Test {
 protected:
  StaticSiteTest() {
    fs::create_directories(root() / "folder/deep");
    fs::create_directories(folder_ / "outside");
    write(root() / "file", "inside");
    write(root() / "folder/deep/file", "deep");
    write(folder_ / "outside/secret", "secret");
    fs::create_symlink("file", root() / "to-file");
    fs::create_symlink("folder/deep", root() / "to-folder");
    fs::create_symlink("../../file", root() / "folder/deep/up-inside");
    fs::create_symlink("../outside/secret", root() / "up");
    fs::create_symlink((folder_ / "outside/secret").string(), root() / "absolute");
    fs::create_symlink((root() / "file").string(), root() / "absolute-inside");
    fs::create_symlink("../outside", root() / "folder-out");
    fs::create_symlink("loop", root() / "loop");
    fs::create_symlink("/proc/self/root", root() / "magic");
    fs::create_symlink("nothing", root() / "dangling");
    StaticSiteOptions options;
    options.root = root().string();
    site_ = *StaticSite::open(options);
  }

  fs::path root() const { return folder_ / "root"; }
  static void write(const fs::path& path, const std::string& text) { std::ofstream(path) << text; }
  unsigned status_of(const std::string& path) const {
    OpenedFile file;
    return site_->open_path(path, file);
  }

  const testing_support::TempDir folder_;
  std::shared_ptr<const StaticSite> site_;
};

TEST_F(StaticSiteTest, OpensFilesAndFolders) {
  OpenedFile file;
  ASSERT_EQ(site_->open_path("file", file), 0u);
  EXPECT_FALSE(file.is_directory);
  EXPECT_EQ(file.facts.size_bytes, 6u);
  ASSERT_EQ(site_->open_path("folder/deep", file), 0u);
  EXPECT_TRUE(file.is_directory);
  ASSERT_EQ(site_->open_path("", file), 0u);
  EXPECT_TRUE(file.is_directory);
  EXPECT_EQ(status_of("nothing"), 404u);
  EXPECT_EQ(status_of("file/below"), 404u);
}

TEST_F(StaticSiteTest, FollowsLinksThatStayBelowTheRootAndNoOthers) {
  OpenedFile file;
  EXPECT_EQ(site_->open_path("to-file", file), 0u);
  EXPECT_EQ(site_->open_path("to-folder/file", file), 0u);
  EXPECT_EQ(site_->open_path("to-folder/up-inside", file), 0u);
  for (const char* path :
       {"up", "absolute", "absolute-inside", "folder-out/secret", "folder-out", "loop", "magic",
        "magic/etc/passwd", "to-folder/../../../outside/secret", "..", "../outside/secret"}) {
    EXPECT_EQ(status_of(path), 403u) << path;
  }
  EXPECT_EQ(status_of("dangling"), 404u);
}

TEST_F(StaticSiteTest, WithoutTheKernelsHelpNoLinkIsFollowed) {
  const OwnedFd root_fd(::open(root().c_str(), O_RDONLY | O_DIRECTORY));
  const auto opens = [&](const std::string& path) {
    const OwnedFd fd(open_beneath_by_names(root_fd.get(), path));
    return fd.get() >= 0;
  };
  for (const char* path : {"", "file", "folder", "folder/deep/file"}) EXPECT_TRUE(opens(path));
  for (const char* path : {"to-file", "to-folder/file", "up", "absolute", "folder-out/secret",
                           "loop", "magic/etc/passwd", "..", "folder/../file", "../outside/secret",
                           "/file", "folder//deep", "nothing", "file/below"}) {
    EXPECT_FALSE(opens(path)) << path;
  }
}

TEST_F(StaticSiteTest, NeitherWaitsForNorReadsWhatIsNoFile) {
  ASSERT_EQ(::mkfifo((root() / "pipe").c_str(), 0644), 0);
  fs::create_symlink("pipe", root() / "to-pipe");
  const int listener = ::socket(AF_UNIX, SOCK_STREAM, 0);
  const OwnedFd owned_listener(listener);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const auto path = (root() / "socket").string();
  ASSERT_LT(path.size(), sizeof address.sun_path);
  std::copy(path.begin(), path.end(), address.sun_path);
  ASSERT_EQ(::bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  for (const char* name : {"pipe", "to-pipe", "socket"}) EXPECT_EQ(status_of(name), 403u) << name;
}

TEST_F(StaticSiteTest, DevicesAreNotRead) {
  StaticSiteOptions options;
  options.root = "/dev";
  const auto devices = *StaticSite::open(options);
  OpenedFile file;
  EXPECT_EQ(devices->open_path("null", file), 403u);
  EXPECT_EQ(devices->open_path("zero", file), 403u);
}

TEST_F(StaticSiteTest, ARootMustBeAFolder) {
  StaticSiteOptions options;
  options.root = (root() / "file").string();
  EXPECT_EQ(StaticSite::open(options).error().system_errno, ENOTDIR);
  options.root = (root() / "nothing").string();
  EXPECT_EQ(StaticSite::open(options).error().system_errno, ENOENT);
}

TEST_F(StaticSiteTest, ARootThatIsMovedIsStillTheRoot) {
  fs::rename(root(), folder_ / "moved");
  EXPECT_EQ(status_of("file"), 0u);
}

}  // namespace
}  // namespace workload
