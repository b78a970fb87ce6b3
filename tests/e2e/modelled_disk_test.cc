// The modelled disk as a program: a block device, filesystems on it, power cuts, and its end.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <thread>

#include "tests/support/modelled_disk.h"
#include "tests/support/seed.h"

namespace testing_support {
namespace {

// Fast enough for a test, and with a write cache that keeps everything until it is flushed.
std::vector<std::string> lazy_disk(const TempDir& folder, uint64_t seed,
                                   const std::string& sector) {
  std::ofstream(folder / "lazy.toml") << "base = \"sata-ssd\"\nwrite_cache = \"64M\"\n"
                                         "destage_delay = \"1h\"\nsector = \""
                                      << sector << "\"\n";
  return {"--profile", folder / "lazy.toml", "--size",       "512M",
          "--seed",    std::to_string(seed), "--time-scale", "20"};
}

/// A block of 4 KiB, aligned as direct I/O wants it.
class Block {
 public:
  explicit Block(char value = 0) : bytes_(static_cast<char*>(std::aligned_alloc(4096, 4096))) {
    std::fill_n(bytes_, 4096, value);
  }
  ~Block() { std::free(bytes_); }
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;
  char* data() { return bytes_; }
  bool is_all(char value) const { return std::count(bytes_, bytes_ + 4096, value) == 4096; }

 private:
  char* bytes_;
};

class ModelledDiskTest : public ::testing::Test {
 protected:
  void start(std::vector<std::string> arguments) {
    disk_ = std::make_unique<ModelledDisk>(std::move(arguments));
    if (!disk_->problem().empty()) GTEST_SKIP() << disk_->problem();
    fd_ = ::open(disk_->path().c_str(), O_RDWR | O_DIRECT | O_CLOEXEC);
    ASSERT_GE(fd_, 0);
  }
  ~ModelledDiskTest() override {
    if (fd_ >= 0) ::close(fd_);
  }
  bool write(uint64_t offset, char value) const {
    Block block(value);
    return ::pwrite(fd_, block.data(), 4096, static_cast<off_t>(offset)) == 4096;
  }
  bool holds(uint64_t offset, char value) const {
    Block block;
    return ::pread(fd_, block.data(), 4096, static_cast<off_t>(offset)) == 4096 &&
           block.is_all(value);
  }

  TempDir folder_;
  std::unique_ptr<ModelledDisk> disk_;
  int fd_ = -1;
};

TEST_F(ModelledDiskTest, WhatIsWrittenIsReadAndCountedOnce) {
  start({"--size", "64M", "--time-scale", "20"});
  if (IsSkipped()) return;
  EXPECT_TRUE(write(1 << 20, 'a'));
  EXPECT_TRUE(holds(1 << 20, 'a'));
  EXPECT_TRUE(holds(2 << 20, '\0'));
  const auto counters = disk_->control("status").at("counters").as_object();
  EXPECT_EQ(counters.at("writes"), 1);
  EXPECT_EQ(counters.at("written_bytes"), 4096);
  EXPECT_GE(counters.at("reads").as_int64(), 2);  // and whoever looked for a partition table
  EXPECT_GT(counters.at("seek_s").as_double(), 0);
}

TEST_F(ModelledDiskTest, ADroppedWriteWasNotFlushedAndAFlushedOneIsThere) {
  start(lazy_disk(folder_, test_seed(1), "512"));
  if (IsSkipped()) return;
  EXPECT_TRUE(write(1 << 20, 'a'));
  EXPECT_EQ(::fsync(fd_), 0);
  EXPECT_TRUE(write(1 << 20, 'b'));
  EXPECT_TRUE(write(2 << 20, 'c'));
  EXPECT_TRUE(holds(2 << 20, 'c'));
  const auto cut = disk_->control("cut drop");
  EXPECT_EQ(cut.at("unflushed_bytes"), 8192);
  EXPECT_FALSE(write(3 << 20, 'd'));
  EXPECT_FALSE(holds(1 << 20, 'a'));
  EXPECT_EQ(disk_->control("power-on").at("ok"), true);
  EXPECT_TRUE(holds(1 << 20, 'a'));
  EXPECT_TRUE(holds(2 << 20, '\0'));
}

class PowerCut : public ModelledDiskTest, public ::testing::WithParamInterface<std::string> {
 protected:
  static std::string text_of(int number) { return std::string(3000 + number, 'a' + number % 26); }
  static bool put(const std::filesystem::path& path, const std::string& text, bool synced) {
    const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0) return false;
    bool done = ::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
    if (synced) done = ::fsync(fd) == 0 && done;
    ::close(fd);
    return done;
  }
  static std::string get(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  }
};

INSTANTIATE_TEST_SUITE_P(Filesystems, PowerCut, ::testing::Values("ext4", "xfs", "btrfs"),
                         [](const auto& tested) { return tested.param; });

TEST_P(PowerCut, SyncedFilesSurviveAndTheFilesystemMountsAgain) {
  const uint64_t seed = test_seed(1);
  SCOPED_TRACE(seed_trace(seed));
  auto arguments = lazy_disk(folder_, seed, sector_for(GetParam()));
  arguments.emplace_back("--fast");
  start(arguments);
  if (IsSkipped()) return;
  MountedFilesystem filesystem(*disk_, GetParam());
  if (!filesystem.mounted()) GTEST_SKIP() << filesystem.problem();
  disk_->control("fast off");
  int synced = 0;
  int lost = 0;
  for (const char* manner : {"drop", "tear", "reorder", "reorder"}) {
    SCOPED_TRACE(manner);
    const int before = synced;
    for (; synced < before + 5; ++synced) {
      const std::string name = "synced." + std::to_string(synced);
      ASSERT_TRUE(put(filesystem.path() / name, text_of(synced), true));
      ASSERT_TRUE(put(filesystem.path() / ("loose." + name), text_of(synced), false));
    }
    const auto cut = disk_->control(std::string("cut ") + manner);
    ASSERT_EQ(cut.at("ok"), true);
    EXPECT_FALSE(put(filesystem.path() / "late", "late", true));
    ASSERT_TRUE(filesystem.unmount());
    disk_->control("power-on");
    ASSERT_TRUE(filesystem.mount()) << filesystem.problem();
    for (int number = 0; number < synced; ++number) {
      const std::string name = "synced." + std::to_string(number);
      EXPECT_TRUE(get(filesystem.path() / name) == text_of(number)) << name;
      if (get(filesystem.path() / ("loose." + name)) != text_of(number)) ++lost;
    }
    EXPECT_NE(get(filesystem.path() / "late"), "late");
  }
  EXPECT_GT(lost, 0) << "a power cut that loses nothing tests nothing";
}

class DiskProgram : public ::testing::Test {
 protected:
  void SetUp() override {
    const ModelledDisk probe({"--size", "1M"});
    if (!probe.problem().empty()) GTEST_SKIP() << probe.problem();
    std::filesystem::create_directory(folder_ / "mount");
  }
  ~DiskProgram() override { ::umount2((folder_ / "mount").c_str(), MNT_DETACH); }
  std::unique_ptr<Process> start() {
    auto disk = std::make_unique<Process>(std::vector<std::string>{
        program_path("cacheoff-disk"), "--image", folder_ / "image", "--mount", folder_ / "mount",
        "--size", "1M", "--control", folder_ / "control"});
    EXPECT_FALSE(disk->wait_for_line("serving").empty());
    EXPECT_TRUE(std::filesystem::exists(folder_ / "mount" / "disk"));
    return disk;
  }
  bool mounted() const {
    std::ifstream mounts("/proc/self/mounts");
    const std::string text(std::istreambuf_iterator<char>(mounts), {});
    return text.find((folder_ / "mount").string()) != std::string::npos;
  }

  TempDir folder_;
};

TEST_F(DiskProgram, EndsCleanlyAndUnmounted) {
  for (const int signal : {SIGTERM, SIGINT}) {
    const auto disk = start();
    disk->signal(signal);
    EXPECT_EQ(disk->wait().exit_status, 0);
    EXPECT_FALSE(mounted());
    EXPECT_FALSE(std::filesystem::exists(folder_ / "control"));
  }
  const auto disk = start();
  EXPECT_EQ(run_command(
                {program_path("cacheoff-disk"), "--control", folder_ / "control", "--send", "end"})
                .out,
            "{\"ok\":true}\n");
  EXPECT_EQ(disk->wait().exit_status, 0);
  EXPECT_FALSE(mounted());
}

TEST_F(DiskProgram, SaysSoWhenTheFileIsStillInUse) {
  const auto disk = start();
  std::ifstream user(folder_ / "mount" / "disk");
  const ProcessResult result = disk->terminate();
  EXPECT_EQ(result.exit_status, 1);
  EXPECT_NE(result.err.find("was still in use"), std::string::npos);
  EXPECT_FALSE(mounted());
}

TEST_F(DiskProgram, LeavesNothingMountedWhenItIsKilled) {
  if (!command_exists("fusermount3")) GTEST_SKIP() << "fusermount3 is not installed";
  {
    const auto disk = start();
    disk->signal(SIGKILL);
    disk->wait();
  }
  // Its watcher is another process, which takes its time.
  for (int attempt = 0; mounted() && attempt < 600; ++attempt) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  EXPECT_FALSE(mounted());
  // And the socket that is left is no obstacle.
  EXPECT_EQ(start()->terminate().exit_status, 0);
}

TEST_F(DiskProgram, RefusesWhatMakesNoSense) {
  const auto refused = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), program_path("cacheoff-disk"));
    const ProcessResult result = run_command(arguments);
    EXPECT_EQ(result.exit_status, 2) << result.out;
    return result.err;
  };
  const std::string image = folder_ / "image";
  const std::string mount = folder_ / "mount";
  EXPECT_NE(refused({"--mount", mount}).find("--image"), std::string::npos);
  EXPECT_NE(refused({"--image", image}).find("--mount"), std::string::npos);
  EXPECT_NE(refused({"--image", image, "--mount", mount, "--size", "1000"}).find("--size"),
            std::string::npos);
  EXPECT_NE(refused({"--image", image, "--mount", mount, "--time-scale", "0"}).find("--time-scale"),
            std::string::npos);
  EXPECT_NE(refused({"--image", image, "--mount", mount, "--seed", "-1"}).find("--seed"),
            std::string::npos);
  EXPECT_NE(refused({"--profile", "none"}).find("neither a built-in profile"), std::string::npos);
  EXPECT_NE(refused({"--send", "status"}).find("needs --control"), std::string::npos);
  EXPECT_NE(refused({"--no-such"}).find("--help"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(image));
}

}  // namespace
}  // namespace testing_support
