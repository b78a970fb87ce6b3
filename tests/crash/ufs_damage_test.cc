// A ufs store whose files were cut, zeroed, flipped and filled with rubbish while it was down.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "storage/base/random.h"
#include "storage/layout/ufs_swap_log_format.h"
#include "tests/support/pattern.h"
#include "tests/support/seed.h"
#include "tests/support/ufs_under_test.h"

namespace testing_support {
namespace {

using storage::Errc;
using storage::StopMode;
namespace fs = std::filesystem;

std::string read_all(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}
void write_all(const fs::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
}

std::string key_of(uint64_t number) {
  return "key " + std::to_string(number);
}
StoredObject object_of(uint64_t number) {
  return StoredObject("head " + std::to_string(number),
                      pattern_body(number, number * number * 1500 % 90'000));
}

// Each key has its own object or none; returns how many have it.
uint64_t count_true_objects(UfsUnderTest& store, uint64_t keys) {
  uint64_t found_count = 0;
  for (uint64_t i = 0; i < keys; ++i) {
    const auto found = store.get(key_of(i));
    if (found.has_value()) {
      EXPECT_TRUE(*found == object_of(i)) << "wrong bytes under key " << i;
      ++found_count;
    } else {
      EXPECT_TRUE(found.error().code == Errc::kNotFound || found.error().code == Errc::kCorrupt)
          << to_string(found.error());
    }
  }
  return found_count;
}

void expect_usage_is_true(UfsUnderTest& store) {
  EXPECT_EQ(store.count("size_bytes"), static_cast<double>(store.allocated_bytes()));
  EXPECT_EQ(store.count("objects"), static_cast<double>(store.files().size()));
}

// A stopped store with a log of as many records as objects (clean), or more (dirty).
class DamagedLog : public ::testing::TestWithParam<bool> {
 protected:
  static constexpr uint64_t kObjects = 90;  // enough that records of a running store are written

  DamagedLog() {
    EXPECT_TRUE(store_.start().has_value());
    for (uint64_t i = 0; i < kObjects; ++i) {
      EXPECT_TRUE(store_.put(key_of(i), object_of(i)).has_value());
    }
    EXPECT_TRUE(store_.stop(clean() ? StopMode::kDrain : StopMode::kAbandon).has_value());
    log_ = read_all(log_path_);
    EXPECT_GT(log_.size(), 73 * storage::kUfsLogRecordSize);
  }

  static bool clean() { return GetParam(); }

  // Starts with this log and expects every object to be there, and the usage to be true.
  void expect_nothing_lost(const std::string& log, uint64_t damaged_records) {
    write_all(log_path_, log);
    const auto report = store_.start();
    ASSERT_TRUE(report.has_value()) << to_string(report.error());
    EXPECT_FALSE(report->clean);
    EXPECT_EQ(report->objects, kObjects);
    EXPECT_EQ(report->size_bytes, store_.allocated_bytes());
    EXPECT_EQ(report->dropped_damaged, damaged_records);
    EXPECT_EQ(report->dropped_stray, 0u);
    ASSERT_TRUE(store_.stop(StopMode::kAbandon).has_value());
  }

  UfsUnderTest store_{64 << 20};
  const fs::path log_path_ = store_.folder() / "swap.log";
  std::string log_;
};

INSTANTIATE_TEST_SUITE_P(Logs, DamagedLog, ::testing::Bool(), [](const auto& tested) {
  return std::string(tested.param ? "clean" : "dirty");
});

TEST_P(DamagedLog, CutAtAnyByteOfTheLastRecordsCostsNothing) {
  const size_t record = storage::kUfsLogRecordSize;
  for (size_t cut = 1; cut <= 3 * record; ++cut) {
    SCOPED_TRACE(cut);
    // A log of a running store ends within a record where the process was killed.
    const bool damage = clean() && cut % record != 0;
    expect_nothing_lost(log_.substr(0, log_.size() - cut), damage ? 1 : 0);
    if (HasFatalFailure()) return;
  }
}

TEST_P(DamagedLog, CutInTheHeaderOrGoneCostsNothing) {
  for (const size_t length : {0, 1, 20, 39, 40, 41}) {
    const bool damage = length > 0 && (length < 40 || (clean() && length > 40));
    expect_nothing_lost(log_.substr(0, length), damage ? 1 : 0);
    if (HasFatalFailure()) return;
  }
  fs::remove(log_path_);
  const auto report = store_.start();
  ASSERT_TRUE(report.has_value());
  EXPECT_FALSE(report->clean);
  EXPECT_EQ(report->objects, kObjects);
  EXPECT_EQ(count_true_objects(store_, kObjects), kObjects);
}

TEST_P(DamagedLog, AFlippedBitCostsNothing) {
  storage::Random random(test_seed(1));
  SCOPED_TRACE(seed_trace(test_seed(1)));
  for (int round = 0; round < 60; ++round) {
    std::string log = log_;
    const size_t at = round < 20 ? static_cast<size_t>(2 * round) : random.below(log.size());
    log[at] = static_cast<char>(log[at] ^ (1 << random.below(8)));
    expect_nothing_lost(log, 1);
    if (HasFatalFailure()) return;
  }
}

TEST_P(DamagedLog, RubbishBehindTheLastRecordCostsNothing) {
  storage::Random random(test_seed(2));
  SCOPED_TRACE(seed_trace(test_seed(2)));
  for (const size_t length : {1, 55, 56, 57, 1000}) {
    std::string log = log_;
    for (size_t i = 0; i < length; ++i) log += static_cast<char>(random());
    expect_nothing_lost(log, static_cast<uint64_t>(clean() ? (length + 55) / 56 : length / 56));
    if (HasFatalFailure()) return;
  }
}

TEST_P(DamagedLog, ALogOfAnotherTimeCostsNothing) {
  ASSERT_TRUE(store_.start().has_value());
  for (uint64_t i = 0; i < 30; ++i) ASSERT_TRUE(store_.remove(key_of(i)).has_value());
  for (uint64_t i = 0; i < 30; ++i) {
    ASSERT_TRUE(store_.put(key_of(i), object_of(i)).has_value());
  }
  ASSERT_TRUE(store_.stop(StopMode::kAbandon).has_value());
  write_all(log_path_, log_);
  const bool claims_to_be_clean = GetParam();
  const auto report = store_.start();
  ASSERT_TRUE(report.has_value());
  EXPECT_EQ(report->clean, claims_to_be_clean);
  const uint64_t found = count_true_objects(store_, kObjects);
  // Somebody put a clean log of old beside newer files: what it lists and is not there is a miss.
  EXPECT_EQ(found, claims_to_be_clean ? kObjects - 30 : kObjects);
  EXPECT_EQ(store_.count("objects"), static_cast<double>(found));
}

TEST(UfsDamage, AByteFlippedAnywhereIsAMissOrNothing) {
  const uint64_t seed = test_seed(3);
  SCOPED_TRACE(seed_trace(seed));
  storage::Random random(seed);
  constexpr uint64_t kObjects = 12;
  for (const StopMode mode : {StopMode::kDrain, StopMode::kAbandon}) {
    for (int round = 0; round < 25; ++round) {
      UfsUnderTest store(64 << 20);
      ASSERT_TRUE(store.start().has_value());
      for (uint64_t i = 0; i < kObjects; ++i) {
        ASSERT_TRUE(store.put(key_of(i), object_of(i)).has_value());
      }
      ASSERT_TRUE(store.stop(mode).has_value());
      for (const fs::path& file : store.files()) {
        const uint64_t size = fs::file_size(file);
        // Half of the flips in the part that is not body.
        const uint64_t range = random.below(2) == 0 ? std::min<uint64_t>(size, 300) : size;
        flip_byte(file, random.below(range), std::byte{1} << random.below(8));
      }
      ASSERT_TRUE(store.start().has_value());
      const uint64_t found = count_true_objects(store, kObjects);
      EXPECT_LT(found, kObjects) << "no flip was found";
      store.run_the_rest();
      EXPECT_EQ(store.count("objects"), static_cast<double>(found)) << "damaged ones are gone";
      expect_usage_is_true(store);
    }
  }
}

// What a power cut may leave of files that were never synced: any prefix, zeros in any block.
void cut_power_on(const fs::path& file, storage::Random& random) {
  const uint64_t size = fs::file_size(file);
  switch (random.below(5)) {
    case 0:
      fs::resize_file(file, 0);
      break;
    case 1:
      fs::resize_file(file, random.below(size));
      break;
    case 2:  // the size came to the disk, the blocks did not
      fs::resize_file(file, 0);
      fs::resize_file(file, size);
      break;
    case 3: {
      std::string bytes = read_all(file);
      const size_t begin = random.below((size + 4095) / 4096) * 4096;
      const size_t end = std::min<size_t>(begin + 4096, size);
      std::fill(bytes.begin() + static_cast<ptrdiff_t>(begin),
                bytes.begin() + static_cast<ptrdiff_t>(end), '\0');
      write_all(file, bytes);
      break;
    }
    default:
      break;  // came through whole
  }
}

TEST(UfsDamage, APowerCutLeavesTrueObjectsOrNone) {
  const uint64_t seed = test_seed(4);
  SCOPED_TRACE(seed_trace(seed));
  storage::Random random(seed);
  constexpr uint64_t kObjects = 100;
  for (int round = 0; round < 12; ++round) {
    UfsUnderTest store(64 << 20);
    ASSERT_TRUE(store.start().has_value());
    for (uint64_t i = 0; i < kObjects; ++i) {
      ASSERT_TRUE(store.put(key_of(i), object_of(i)).has_value());
    }
    ASSERT_TRUE(store.stop(round % 2 == 0 ? StopMode::kAbandon : StopMode::kDrain).has_value());
    for (const fs::path& file : store.files()) cut_power_on(file, random);
    cut_power_on(store.folder() / "swap.log", random);
    const auto report = store.start();
    ASSERT_TRUE(report.has_value()) << to_string(report.error());
    const uint64_t found = count_true_objects(store, kObjects);
    EXPECT_GT(found, 0u);
    EXPECT_LT(found, kObjects);
    store.run_the_rest();
    EXPECT_EQ(store.count("objects"), static_cast<double>(found));
    expect_usage_is_true(store);
    ASSERT_TRUE(store.put("new", object_of(7)).has_value());
    EXPECT_TRUE(*store.get("new") == object_of(7));
  }
}

TEST(UfsDamage, FilesThatVanishAfterACleanStopAreMissesAndGiveTheirSpaceBack) {
  UfsUnderTest store(64 << 20);
  ASSERT_TRUE(store.start().has_value());
  for (uint64_t i = 0; i < 20; ++i) {
    ASSERT_TRUE(store.put(key_of(i), object_of(i)).has_value());
  }
  ASSERT_TRUE(store.stop().has_value());
  for (const fs::path& file : store.files()) fs::remove(file);
  const auto report = store.start();
  ASSERT_TRUE(report.has_value());
  EXPECT_EQ(report->objects, 20u) << "a clean start looks at no file";
  EXPECT_EQ(count_true_objects(store, 20), 0u);
  EXPECT_EQ(store.count("dropped_objects_total", "reason=\"missing\""), 20);
  expect_usage_is_true(store);
}

TEST(UfsDamage, AFileUnderAnothersNumberIsAMiss) {
  UfsUnderTest store(64 << 20);
  ASSERT_TRUE(store.start().has_value());
  ASSERT_TRUE(store.put(key_of(1), object_of(1)).has_value());
  ASSERT_TRUE(store.put(key_of(2), object_of(2)).has_value());
  ASSERT_TRUE(store.stop().has_value());
  std::vector<fs::path> files = store.files();
  ASSERT_EQ(files.size(), 2u);
  fs::rename(files[0], store.folder() / "x");
  fs::rename(files[1], files[0]);
  fs::rename(store.folder() / "x", files[1]);
  ASSERT_TRUE(store.start().has_value());
  EXPECT_EQ(count_true_objects(store, 3), 0u);
  expect_usage_is_true(store);
}

}  // namespace
}  // namespace testing_support
