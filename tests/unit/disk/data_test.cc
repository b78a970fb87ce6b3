// The bytes that are not on the medium yet, and what a power cut leaves of them.
#include <gtest/gtest.h>

#include "tests/support/seed.h"
#include "workload/disk/pending_data.h"
#include "workload/disk/power_cut.h"

namespace workload::disk {
namespace {

std::vector<std::byte> filled(size_t length, int value) {
  return std::vector<std::byte>(length, static_cast<std::byte>(value));
}

/// The disk as an array, for comparison.
void lay(std::vector<std::byte>& disk, const std::vector<DataPiece>& pieces) {
  for (const DataPiece& piece : pieces) {
    std::copy(piece.bytes().begin(), piece.bytes().end(),
              disk.begin() + static_cast<std::ptrdiff_t>(piece.offset_bytes));
  }
}

TEST(PendingDataTest, TheLastWriteOfAByteIsWhatIsFound) {
  PendingData data;
  data.write(100, filled(100, 1));
  data.write(150, filled(10, 2));
  EXPECT_EQ(data.size_bytes(), 100u);
  std::vector<std::byte> disk(300);
  lay(disk, data.find(0, 300));
  EXPECT_EQ(disk[99], std::byte{0});
  EXPECT_EQ(disk[149], std::byte{1});
  EXPECT_EQ(disk[150], std::byte{2});
  EXPECT_EQ(disk[160], std::byte{1});
  EXPECT_EQ(disk[200], std::byte{0});
}

TEST(PendingDataTest, AgreesWithAnArrayWhateverIsWrittenAndTaken) {
  const uint64_t seed = testing_support::test_seed(1);
  SCOPED_TRACE(testing_support::seed_trace(seed));
  storage::Random random(seed);
  PendingData data;
  std::vector<std::byte> medium(4000);
  std::vector<std::byte> expected(4000);
  for (int step = 0; step < 3000; ++step) {
    const uint64_t offset = random.below(3000);
    const uint64_t length = 1 + random.below(random.below(2) == 0 ? 900 : 30);
    if (random.below(3) != 0) {
      const auto bytes = filled(length, static_cast<int>(random.below(256)));
      std::copy(bytes.begin(), bytes.end(), expected.begin() + static_cast<std::ptrdiff_t>(offset));
      data.write(offset, bytes);
    } else {
      lay(medium, data.take(offset, length));
      EXPECT_TRUE(data.find(offset, length).empty());
    }
    auto seen = medium;
    lay(seen, data.find(0, 4000));
    ASSERT_TRUE(seen == expected) << "step " << step;
  }
  lay(medium, data.take_all());
  EXPECT_TRUE(medium == expected);
  EXPECT_EQ(data.size_bytes(), 0u);
}

TEST(PendingDataTest, ASmallRestKeepsNoLargeBuffer) {
  PendingData data;
  data.write(0, filled(1 << 20, 1));
  data.write(512, filled((1 << 20) - 512, 2));
  uint64_t kept = 0;
  for (const DataPiece& piece : data.find(0, 1 << 20)) kept += piece.buffer->size();
  EXPECT_EQ(kept, uint64_t{1} << 20);
}

TEST(PendingDataTest, EverythingComesInTheOrderInWhichItWasWritten) {
  PendingData data;
  data.write(5000, filled(512, 1));
  data.write(0, filled(512, 2));
  data.write(9000, filled(512, 3));
  const auto all = data.take_all();
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].offset_bytes, 5000u);
  EXPECT_EQ(all[1].offset_bytes, 0u);
  EXPECT_EQ(all[2].offset_bytes, 9000u);
}

constexpr uint64_t kSectorBytes = 512;

class Cuts : public ::testing::Test {
 protected:
  // Twenty writes of 8 sectors, each to a place of its own, the first ones the highest.
  Cuts() {
    for (uint64_t i = 0; i < 20; ++i) {
      data_.write((20 - i) * 8192, filled(8 * kSectorBytes, static_cast<int>(i + 1)));
    }
    unflushed_ = data_.take_all();
  }
  std::vector<DataPiece> survivors(CutManner manner, uint64_t seed) const {
    return survivors_of_cut(unflushed_, manner, kSectorBytes, storage::Random(seed));
  }
  // Of each write the number of its sectors that are left.
  std::vector<uint64_t> sectors_left(CutManner manner, uint64_t seed) const {
    std::vector<uint64_t> left(20);
    for (const DataPiece& piece : survivors(manner, seed)) {
      EXPECT_EQ(piece.offset_bytes % kSectorBytes, 0u);
      EXPECT_EQ(piece.length_bytes % kSectorBytes, 0u);
      left.at(20 - piece.offset_bytes / 8192) += piece.length_bytes / kSectorBytes;
      EXPECT_EQ(piece.bytes()[0], static_cast<std::byte>(21 - piece.offset_bytes / 8192));
    }
    return left;
  }

  PendingData data_;
  std::vector<DataPiece> unflushed_;
};

TEST_F(Cuts, DroppedIsAllOfThem) {
  EXPECT_TRUE(survivors(CutManner::kDrop, 1).empty());
}

TEST_F(Cuts, TornIsOneWriteAndAllOlderOnesAreWhole) {
  bool torn_once = false;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    const auto left = sectors_left(CutManner::kTear, seed);
    size_t at = 0;
    while (at < 20 && left[at] == 8) ++at;
    if (at < 20) {
      torn_once = torn_once || left[at] > 0;
      ++at;
    }
    for (; at < 20; ++at) EXPECT_EQ(left[at], 0u) << seed;
  }
  EXPECT_TRUE(torn_once);
}

TEST_F(Cuts, ReorderedLeavesNewerOnesWithoutOlderOnesAndTearsAtMostOne) {
  bool reordered = false;
  bool torn_once = false;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    const auto left = sectors_left(CutManner::kReorder, seed);
    int torn = 0;
    for (size_t i = 0; i < 20; ++i) {
      torn += left[i] != 0 && left[i] != 8 ? 1 : 0;
      reordered = reordered || (i > 0 && left[i - 1] == 0 && left[i] == 8);
    }
    EXPECT_LE(torn, 1) << seed;
    torn_once = torn_once || torn == 1;
  }
  EXPECT_TRUE(reordered);
  EXPECT_TRUE(torn_once);
}

TEST_F(Cuts, TheSameSeedLeavesTheSameAndAnotherSomethingElse) {
  for (const CutManner manner : {CutManner::kTear, CutManner::kReorder}) {
    EXPECT_EQ(sectors_left(manner, 7), sectors_left(manner, 7));
    bool differs = false;
    for (uint64_t seed = 8; seed < 12; ++seed) {
      differs = differs || sectors_left(manner, 7) != sectors_left(manner, seed);
    }
    EXPECT_TRUE(differs);
  }
}

TEST_F(Cuts, SectorsAreAsLargeAsTheDiskSays) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    // All writes are as large as one sector, so none of them can be torn.
    for (const auto& piece :
         survivors_of_cut(unflushed_, CutManner::kReorder, 4096, storage::Random(seed))) {
      EXPECT_EQ(piece.length_bytes, 4096u);
    }
  }
}

TEST(CutOfNothing, LeavesNothing) {
  for (const CutManner manner : {CutManner::kDrop, CutManner::kTear, CutManner::kReorder}) {
    EXPECT_TRUE(survivors_of_cut({}, manner, 512, storage::Random(1)).empty());
  }
}

}  // namespace
}  // namespace workload::disk
