// A disk with its data and its thread: what is read, what is left, and how it is controlled.
// Nothing here depends on how fast anything is.
#include "workload/disk/served_disk.h"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <cerrno>
#include <cstring>
#include <future>

#include "tests/support/temp_dir.h"
#include "workload/disk/control.h"

namespace workload::disk {
namespace {

constexpr uint64_t kImageBytes = 8 << 20;

/// In memory; fails where a test says so.
class MemoryImage final : public Image {
 public:
  int read(uint64_t offset_bytes, std::span<std::byte> bytes) override {
    const std::lock_guard lock(mutex_);
    if (failing_) return EIO;
    std::memcpy(bytes.data(), bytes_.data() + offset_bytes, bytes.size());
    return 0;
  }
  int write(uint64_t offset_bytes, std::span<const std::byte> bytes) override {
    const std::lock_guard lock(mutex_);
    if (failing_) return ENOSPC;
    std::memcpy(bytes_.data() + offset_bytes, bytes.data(), bytes.size());
    return 0;
  }
  std::byte at(uint64_t offset_bytes) {
    const std::lock_guard lock(mutex_);
    return bytes_[offset_bytes];
  }
  void fail(bool failing) {
    const std::lock_guard lock(mutex_);
    failing_ = failing;
  }

 private:
  std::mutex mutex_;
  std::vector<std::byte> bytes_ = std::vector<std::byte>(kImageBytes);
  bool failing_ = false;
};

class ServedDiskTest : public ::testing::Test {
 protected:
  ServedDiskTest() {
    settings_.profile = *built_in_profile("scsi-2003");
    settings_.size_bytes = kImageBytes;
    settings_.time_scale = 100;
  }
  ServedDisk& disk() {
    if (!disk_) disk_ = std::make_unique<ServedDisk>(settings_, image_);
    return *disk_;
  }
  // With a write cache that keeps everything until a flush.
  void keep_writes() {
    settings_.profile.write_cache_bytes = 4 << 20;
    settings_.profile.destage_delay = std::chrono::hours(1);
  }
  std::future<int> begin_write(uint64_t offset, size_t length, int value) {
    auto promise = std::make_shared<std::promise<int>>();
    disk().write(offset, std::vector<std::byte>(length, static_cast<std::byte>(value)),
                 [promise](int error) { promise->set_value(error); });
    return promise->get_future();
  }
  int write(uint64_t offset, size_t length, int value) {
    return begin_write(offset, length, value).get();
  }
  int flush() {
    std::promise<int> promise;
    disk().flush([&](int error) { promise.set_value(error); });
    return promise.get_future().get();
  }
  // The bytes, or none and the error.
  std::pair<int, std::vector<std::byte>> read(uint64_t offset, size_t length) {
    std::promise<std::pair<int, std::vector<std::byte>>> promise;
    disk().read(offset, length, [&](int error, std::span<const std::byte> bytes) {
      promise.set_value({error, std::vector(bytes.begin(), bytes.end())});
    });
    return promise.get_future().get();
  }
  boost::json::object control(const std::string& command) {
    return boost::json::parse(run_control_command(command, disk()).json).as_object();
  }

  ServedDiskSettings settings_;
  MemoryImage image_;
  std::unique_ptr<ServedDisk> disk_;
};

TEST_F(ServedDiskTest, WithoutAWriteCacheADoneWriteIsOnTheImage) {
  EXPECT_EQ(write(4096, 4096, 7), 0);
  EXPECT_EQ(image_.at(4096), std::byte{7});
  EXPECT_EQ(read(4096, 512).second, std::vector<std::byte>(512, std::byte{7}));
  EXPECT_EQ(disk().status().counters.writes, 1u);
  EXPECT_EQ(disk().status().answers, 2u);
}

TEST_F(ServedDiskTest, TimesAreCountedUpToTheMomentOfAsking) {
  EXPECT_EQ(write(4096, 4096, 7), 0);
  const auto first = disk().status().counters;
  const auto second = disk().status().counters;
  EXPECT_GT(first.elapsed.count(), 0);
  EXPECT_GT(second.elapsed, first.elapsed);
  EXPECT_EQ(second.busy_time, first.busy_time);  // nothing came between
}

TEST_F(ServedDiskTest, ACachedWriteIsReadBackAndOnTheImageAfterAFlush) {
  keep_writes();
  EXPECT_EQ(write(4096, 4096, 7), 0);
  EXPECT_EQ(image_.at(4096), std::byte{0});
  const auto [error, bytes] = read(4096 - 512, 1024);
  EXPECT_EQ(error, 0);
  EXPECT_EQ(bytes[511], std::byte{0});
  EXPECT_EQ(bytes[512], std::byte{7});
  EXPECT_EQ(disk().status().pending_bytes, 4096u);
  EXPECT_EQ(flush(), 0);
  EXPECT_EQ(image_.at(4096), std::byte{7});
  EXPECT_EQ(disk().status().pending_bytes, 0u);
}

TEST_F(ServedDiskTest, TurningTheDelaysOffEndsWhatIsUnderWay) {
  settings_.time_scale = 0.001;  // minutes for a read
  auto first = begin_write(1 << 20, 4096, 1);
  auto second = begin_write(3 << 20, 4096, 2);
  disk().set_fast(true);
  EXPECT_EQ(first.get(), 0);
  EXPECT_EQ(second.get(), 0);
  EXPECT_EQ(image_.at(3 << 20), std::byte{2});
  EXPECT_EQ(write(0, 512, 3), 0);
  EXPECT_EQ(flush(), 0);
  EXPECT_EQ(image_.at(0), std::byte{3});
  EXPECT_EQ(disk().status().fast_operations, 2u);
  EXPECT_EQ(disk().status().counters.writes, 2u);
}

TEST_F(ServedDiskTest, AnOrderlyEndKeepsEverything) {
  keep_writes();
  EXPECT_EQ(write(4096, 4096, 7), 0);
  disk().stop();
  EXPECT_EQ(image_.at(4096), std::byte{7});
}

TEST_F(ServedDiskTest, APowerCutLosesWhatWasNotFlushedAndNothingElse) {
  keep_writes();
  EXPECT_EQ(write(0, 4096, 1), 0);
  EXPECT_EQ(flush(), 0);
  EXPECT_EQ(write(8192, 4096, 2), 0);
  EXPECT_EQ(write(0, 4096, 3), 0);
  const CutReport cut = disk().cut_power(CutManner::kDrop);
  EXPECT_EQ(cut.unflushed_bytes, 8192u);
  EXPECT_EQ(cut.surviving_bytes, 0u);
  EXPECT_EQ(image_.at(0), std::byte{1});
  EXPECT_EQ(image_.at(8192), std::byte{0});
  EXPECT_EQ(write(0, 512, 9), EIO);
  EXPECT_EQ(read(0, 512).first, EIO);
  EXPECT_EQ(flush(), EIO);
  disk().power_on();
  EXPECT_EQ(read(0, 4096).second, std::vector<std::byte>(4096, std::byte{1}));
  EXPECT_EQ(write(0, 512, 9), 0);
}

TEST_F(ServedDiskTest, WhatIsUnderWayAtAPowerCutFails) {
  settings_.time_scale = 0.001;
  auto first = begin_write(1 << 20, 4096, 1);
  auto second = begin_write(3 << 20, 4096, 2);
  disk().cut_power(CutManner::kDrop);
  EXPECT_EQ(first.get(), EIO);
  EXPECT_EQ(second.get(), EIO);
  EXPECT_EQ(image_.at(1 << 20), std::byte{0});
}

TEST_F(ServedDiskTest, TheSameSeedLeavesTheSameAfterEachCut) {
  const auto left = [](uint64_t seed) {
    MemoryImage image;
    ServedDiskSettings settings;
    settings.profile = *built_in_profile("scsi-2003");
    settings.profile.write_cache_bytes = 4 << 20;
    settings.profile.destage_delay = std::chrono::hours(1);
    settings.size_bytes = kImageBytes;
    settings.time_scale = 100;
    settings.seed = seed;
    ServedDisk disk(settings, image);
    std::string found;
    for (int round = 1; round < 4; ++round) {
      for (uint64_t i = 0; i < 30; ++i) {
        std::promise<void> done;
        disk.write(i * 4096, std::vector<std::byte>(4096, static_cast<std::byte>(round)),
                   [&](int) { done.set_value(); });
        done.get_future().get();
      }
      disk.cut_power(CutManner::kReorder);
      disk.power_on();
      for (uint64_t at = 0; at < 30 * 4096; at += 512) {
        found += std::to_string(std::to_integer<int>(image.at(at)));
      }
    }
    return found;
  };
  EXPECT_EQ(left(1), left(1));
  EXPECT_NE(left(1), left(2));
}

TEST_F(ServedDiskTest, TheCutComesWithTheWriteThatWasNamed) {
  keep_writes();
  EXPECT_EQ(control("cut-after-writes 3 drop").at("ok"), true);
  EXPECT_EQ(write(0, 512, 1), 0);
  EXPECT_EQ(write(512, 512, 1), 0);
  EXPECT_EQ(read(0, 512).first, 0);
  EXPECT_EQ(write(1024, 512, 1), EIO);
  EXPECT_FALSE(disk().status().powered);
  EXPECT_EQ(disk().status().last_cut->unflushed_bytes, 1536u);
  EXPECT_EQ(control("power-on").at("ok"), true);
  for (uint64_t i = 0; i < 10; ++i) EXPECT_EQ(write(i * 512, 512, 1), 0);
}

TEST_F(ServedDiskTest, TheCutComesAtAMomentOfTheSeed) {
  const storage::Nanoseconds within = std::chrono::milliseconds(20);
  const auto wait = disk().cut_power_within(within, CutManner::kDrop);
  EXPECT_LE(wait, within);
  while (disk().status().powered) std::this_thread::yield();
  ServedDisk twin(settings_, image_);
  EXPECT_EQ(twin.cut_power_within(within, CutManner::kDrop), wait);
}

TEST_F(ServedDiskTest, AnImageThatFailsIsToldToTheWriterAndToTheNextFlush) {
  image_.fail(true);
  EXPECT_EQ(write(0, 512, 1), EIO);
  EXPECT_EQ(read(0, 512).first, EIO);
  image_.fail(false);
  EXPECT_EQ(write(0, 512, 1), 0);
  EXPECT_EQ(disk().status().image_errors, 2u);
  disk_.reset();
  keep_writes();
  EXPECT_EQ(write(0, 512, 1), 0);
  image_.fail(true);
  EXPECT_EQ(flush(), EIO);
  image_.fail(false);
  EXPECT_EQ(flush(), 0);
}

TEST_F(ServedDiskTest, CommandsSayWhatTheyDidOrWhatIsWrong) {
  EXPECT_EQ(control("fast on").at("ok"), true);
  EXPECT_TRUE(disk().status().fast);
  EXPECT_EQ(control(" fast\toff \r").at("ok"), true);
  EXPECT_FALSE(disk().status().fast);
  const auto status = control("status");
  EXPECT_EQ(status.at("powered"), true);
  EXPECT_EQ(status.at("counters").at("reads"), 0);
  EXPECT_EQ(control("cut tear").at("manner"), "tear");
  EXPECT_EQ(control("status").at("last_cut").at("number"), 1);
  for (const char* wrong :
       {"", "fast", "fast maybe", "fast on off", "cut everything", "cut drop drop", "cuts",
        "cut-after-writes", "cut-after-writes 0", "cut-after-writes -1", "cut-within", "status now",
        "cut-within never", "cut-within 25h", "cut-within 5s gently", "stop"}) {
    const auto answer = control(wrong);
    EXPECT_EQ(answer.at("ok"), false) << wrong;
    EXPECT_FALSE(answer.at("error").as_string().empty()) << wrong;
  }
  EXPECT_FALSE(run_control_command("status", disk()).end);
  EXPECT_TRUE(run_control_command("end", disk()).end);
}

TEST_F(ServedDiskTest, TheSocketAnswersEachLineAndRefusesLongOnes) {
  const testing_support::TempDir folder;
  const std::string path = folder / "control";
  ControlSocket socket;
  ASSERT_EQ(socket.listen(path), "");
  ControlSocket second;
  EXPECT_NE(second.listen(path).find("is there already"), std::string::npos);
  EXPECT_NE(second.listen(std::string(200, 'x')).find("must be the path"), std::string::npos);
  bool ended = false;
  std::thread server([&] {
    while (!ended) ended = socket.serve(disk());
  });
  std::string error;
  const auto send = [&](const std::string& command) {
    // The socket does not wait for a connection, so a first attempt may find nobody.
    return send_control_command(path, command, std::chrono::seconds(30), error);
  };
  EXPECT_EQ(send("fast on"), "{\"ok\":true}");
  EXPECT_FALSE(send(std::string(300, 'x')).has_value());
  EXPECT_NE(send("nonsense")->find("\"ok\":false"), std::string::npos);
  EXPECT_TRUE(send("end").has_value());
  server.join();
  EXPECT_TRUE(disk().status().fast);
  EXPECT_FALSE(send_control_command(folder / "none", "status", std::chrono::seconds(1), error));
  EXPECT_NE(error.find("no disk answers"), std::string::npos);
}

TEST(ImageFileTest, IsMadeSparseAndRefusedWithAnotherSize) {
  const testing_support::TempDir folder;
  std::string error;
  const std::string path = folder / "image";
  {
    const auto image = ImageFile::open(path, 1 << 20, error);
    ASSERT_NE(image, nullptr) << error;
    const std::vector<std::byte> bytes(100, std::byte{5});
    EXPECT_EQ(image->write(5000, bytes), 0);
  }
  const auto image = ImageFile::open(path, 1 << 20, error);
  ASSERT_NE(image, nullptr) << error;
  std::vector<std::byte> bytes(100);
  EXPECT_EQ(image->read(5000, bytes), 0);
  EXPECT_EQ(bytes[99], std::byte{5});
  EXPECT_EQ(image->read((1 << 20) - 50, bytes), EIO);
  EXPECT_EQ(ImageFile::open(path, 2 << 20, error), nullptr);
  EXPECT_NE(error.find("has 1048576 bytes and not 2097152"), std::string::npos);
  EXPECT_EQ(ImageFile::open(folder.path(), 1 << 20, error), nullptr);
}

}  // namespace
}  // namespace workload::disk
