// A rock store whose file was cut, zeroed, flipped and partly set back while it was down.
#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cerrno>

#include "storage/base/random.h"
#include "storage/check.h"
#include "tests/crash/numbered_objects.h"
#include "tests/support/rock_under_test.h"
#include "tests/support/seed.h"

namespace testing_support {
namespace {

using storage::Errc;
using storage::StopMode;

constexpr uint64_t kObjects = 40;
constexpr uint64_t kCapacity = 2 << 20;

StoredObject object_of(uint64_t number) {
  return numbered_object(number, number * number * 700 % 30'000);
}

// A stopped store, clean or as a crash leaves it, with its file in memory to start from anew.
class DamagedRock : public ::testing::TestWithParam<bool> {
 protected:
  DamagedRock() {
    EXPECT_TRUE(store_.start().has_value());
    for (uint64_t i = 0; i < kObjects; ++i) {
      EXPECT_TRUE(store_.put(numbered_key(i), object_of(i)).has_value());
    }
    store_.run_the_rest();
    used_slots_ = static_cast<uint64_t>(store_.count("size_bytes")) / RockUnderTest::kSlotSizeBytes;
    EXPECT_TRUE(store_.stop(GetParam() ? StopMode::kDrain : StopMode::kAbandon).has_value());
    image_ = store_.image();
    EXPECT_EQ(restart(), kObjects);
  }
  void restore() {
    store_.crash();
    store_.write_image(image_);
  }
  uint64_t restart() {
    const auto report = store_.start();
    EXPECT_TRUE(report.has_value());
    return report.has_value() ? count_true_objects(store_, kObjects, object_of) : 0;
  }
  storage::CheckReport check() {
    store_.crash();
    const auto report = store_.run(storage::check_store(store_.spec(), store_.environment()));
    EXPECT_TRUE(report.has_value());
    return *report;
  }

  RockUnderTest store_{kCapacity};
  std::string image_;
  uint64_t used_slots_ = 0;
};

INSTANTIATE_TEST_SUITE_P(Stops, DamagedRock, ::testing::Bool(), [](const auto& tested) {
  return std::string(tested.param ? "clean" : "dirty");
});

TEST_P(DamagedRock, AFlippedBitAnywhereCostsAnObjectAtMost) {
  const uint64_t seed = test_seed(1);
  SCOPED_TRACE(seed_trace(seed));
  storage::Random random(seed);
  uint64_t lost = 0;
  for (int round = 0; round < 100; ++round) {
    restore();
    // Not the superblock: without it there is no store.
    const uint64_t end = round % 4 == 0 ? image_.size() : RockUnderTest::slot_offset(used_slots_);
    const uint64_t at = 4096 + random.below(end - 4096);
    store_.flip_byte(at, std::byte{1} << random.below(8));
    const uint64_t found = restart();
    EXPECT_GE(found + 1, kObjects) << at;
    lost += kObjects - found;
    ASSERT_TRUE(store_.put("new", object_of(7)).has_value());
    EXPECT_TRUE(*store_.get("new") == object_of(7));
  }
  EXPECT_GT(lost, 10u);
}

TEST_P(DamagedRock, ATornSlotCostsItsObjectAlone) {
  for (uint64_t slot = 0; slot < used_slots_; slot += 3) {
    restore();
    {
      std::fstream file(store_.file(), std::ios::in | std::ios::out | std::ios::binary);
      file.seekp(static_cast<std::streamoff>(RockUnderTest::slot_offset(slot)) + 60);
      file << std::string(4000, 'x');
    }
    EXPECT_EQ(restart(), kObjects - 1) << slot;
  }
}

TEST_P(DamagedRock, TheCheckSaysWhatIsThereAndWhatIsNot) {
  restore();
  storage::CheckReport report = check();
  EXPECT_TRUE(report.sound()) << describe(report);
  EXPECT_EQ(report.clean, GetParam());
  EXPECT_EQ(report.objects, kObjects);
  EXPECT_EQ(report.log_records, GetParam() ? kObjects : 0u);
  EXPECT_EQ(report.unlisted + report.missing + report.duplicates, 0u);
  store_.flip_byte(RockUnderTest::slot_offset(3) + 50);
  report = check();
  EXPECT_FALSE(report.sound());
  EXPECT_EQ(report.damaged, 1u);
  EXPECT_EQ(report.objects, kObjects - 1);
  EXPECT_EQ(store_.image().size(), image_.size());
}

TEST_P(DamagedRock, WithoutAStateOrAnIndexTheSlotsAreRead) {
  storage::RockGeometry geometry;
  geometry.slot_size_bytes = RockUnderTest::kSlotSizeBytes;
  geometry.slot_count = storage::rock_slot_count(kCapacity, geometry.slot_size_bytes);
  for (const uint64_t at : {uint64_t{4100}, geometry.index_offset() + 70}) {
    restore();
    store_.flip_byte(at);
    EXPECT_EQ(restart(), kObjects);
  }
}

TEST_P(DamagedRock, AFileThatWasCutHasWhatIsLeft) {
  restore();
  std::filesystem::resize_file(store_.file(), RockUnderTest::slot_offset(used_slots_ / 2) + 100);
  const uint64_t found = restart();
  EXPECT_GT(found, 5u);
  EXPECT_LT(found, kObjects);
  ASSERT_TRUE(store_.put("new", object_of(7)).has_value());
  restore();
  std::filesystem::resize_file(store_.file(), 4096);
  EXPECT_EQ(restart(), 0u);
}

TEST_P(DamagedRock, ADamagedSuperblockIsSaidAndNothingIsTouched) {
  restore();
  store_.flip_byte(20);
  const auto made = storage::make_rock(store_.spec(), store_.environment());
  EXPECT_EQ(made.scheme, nullptr);
  EXPECT_NE(made.error.find("holds something else than a rock store"), std::string::npos);
  EXPECT_FALSE(check().error.empty());
  store_.flip_byte(20);
  EXPECT_EQ(restart(), kObjects);
}

// After a power cut any of the writes since the last sync may be missing: each slot is as it is now
// or as it was at some time before.
TEST_P(DamagedRock, WhateverMixtureOfOldAndNewSlotsIsThereNothingMixedIsServed) {
  const uint64_t seed = test_seed(2);
  SCOPED_TRACE(seed_trace(seed));
  storage::Random random(seed);
  std::vector<std::string> images = {image_};
  ASSERT_EQ(restart(), kObjects);
  for (uint64_t round = 1; round <= 3; ++round) {
    for (uint64_t i = 0; i < kObjects; ++i) {
      if (random.below(3) == 0) static_cast<void>(store_.remove(numbered_key(i)));
      if (random.below(2) == 0) {
        ASSERT_TRUE(store_.put(numbered_key(i), object_of(i)).has_value());
      }
      if (random.below(3) == 0)
        static_cast<void>(store_.update(numbered_key(i), object_of(i).metadata));
    }
    store_.run_the_rest();
    images.push_back(store_.image());
  }
  uint64_t found = 0;
  for (int mixture = 0; mixture < 30; ++mixture) {
    std::string mixed = images.back();
    // From their first slots on; what is before is synced.
    for (uint64_t at = storage::kRockSlotsOffset; at + 512 <= mixed.size(); at += 512) {
      if (random.below(mixture % 2 == 0 ? 3 : 40) != 0) continue;
      mixed.replace(at, 512, images[random.below(images.size())], at, 512);
    }
    store_.crash();
    store_.write_image(mixed);
    found += restart();
    ASSERT_TRUE(store_.put("new", object_of(7)).has_value());
  }
  EXPECT_GT(found, 50u);
}

TEST(RockStoreFile, AnotherProcessIsRefused) {
  RockUnderTest store;
  ASSERT_TRUE(store.start().has_value());
  const auto second = storage::make_rock(store.spec(), store.environment());
  EXPECT_EQ(second.scheme, nullptr);
  EXPECT_NE(second.error.find("in use by another process"), std::string::npos) << second.error;
}

TEST(RockStoreFile, AReadOnlyFileOrFolderIsSaidInOneLine) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may write to read-only files";
  RockUnderTest store;
  ASSERT_TRUE(store.start().has_value());
  ASSERT_TRUE(store.stop().has_value());
  store.crash();
  ASSERT_EQ(::chmod(store.file().c_str(), 0400), 0);
  auto made = storage::make_rock(store.spec(), store.environment());
  EXPECT_NE(made.error.find("cannot open it"), std::string::npos) << made.error;
  std::filesystem::remove(store.file());
  ASSERT_EQ(::chmod(store.file().parent_path().c_str(), 0500), 0);
  made = storage::make_rock(store.spec(), store.environment());
  EXPECT_NE(made.error.find("cannot open it"), std::string::npos) << made.error;
  ASSERT_EQ(::chmod(store.file().parent_path().c_str(), 0700), 0);
}

}  // namespace
}  // namespace testing_support
