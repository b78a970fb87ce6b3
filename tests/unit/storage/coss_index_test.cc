#include "storage/layout/coss_index.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>

#include "storage/base/random.h"
#include "storage/io/blocking.h"
#include "storage/layout/coss_clean_index.h"
#include "tests/support/fake_clock.h"
#include "tests/support/run_task.h"
#include "tests/support/seed.h"
#include "tests/support/temp_dir.h"

namespace storage {
namespace {

using testing_support::seed_trace;
using testing_support::test_seed;

CossGeometry fifty_stripes() {
  CossGeometry made;
  made.store_id = 7;
  made.stripe_size_bytes = 64 * 1024;
  made.block_size_bytes = 512;
  made.stripe_count = 50;
  return made;
}

KeyHash hash_of(uint64_t number) {
  return KeyHash{mix64(number + 1), mix64(~number)};
}

CossLocation place(const CossIndex& index, Random& random) {
  return index.location(static_cast<uint32_t>(random.below(50)),
                        static_cast<uint32_t>(random.below(100) * 512),
                        static_cast<uint32_t>(1 + random.below(3000)));
}

// All that an index should know, the plain way.
using Plain = std::map<std::pair<uint64_t, uint64_t>, CossLocation>;

void expect_same(const CossIndex& index, const Plain& plain) {
  ASSERT_EQ(index.count(), plain.size());
  uint64_t size = 0;
  uint64_t seen = 0;
  for (const auto& [hash, location] : plain) {
    ASSERT_EQ(index.find(KeyHash{hash.first, hash.second}), location);
    size += round_up(location.size_bytes, 512);
  }
  EXPECT_EQ(index.size_bytes(), size);
  for (uint32_t slot = 0; slot < index.slot_count(); ++slot) {
    const auto object = index.object_in(slot);
    if (!object) continue;
    ++seen;
    EXPECT_TRUE(plain.contains({object->hash.high, object->hash.low}));
  }
  EXPECT_EQ(seen, plain.size());
  uint64_t in_stripes = 0;
  for (uint32_t stripe = 0; stripe < 50; ++stripe) in_stripes += index.objects_of(stripe).size();
  EXPECT_EQ(in_stripes, plain.size());
}

void run_random_operations(unsigned key_hash_bits, uint64_t keys, uint64_t seed) {
  SCOPED_TRACE(seed_trace(seed));
  Random random(seed);
  CossIndex index(fifty_stripes(), key_hash_bits);
  Plain plain;
  for (int i = 0; i < 20'000; ++i) {
    const KeyHash hash = hash_of(random.below(keys));
    const KeyHash seen = truncated(hash, key_hash_bits);
    const auto known = plain.find({seen.high, seen.low});
    const uint64_t what = random.below(100);
    if (what < 70) {
      const CossLocation location = place(index, random);
      index.put(hash, location);
      plain[{seen.high, seen.low}] = location;
    } else if (what < 85) {
      EXPECT_EQ(index.erase(hash), known != plain.end());
      if (known != plain.end()) plain.erase(known);
    } else if (what < 95) {
      const CossLocation location = place(index, random);
      const bool same = known != plain.end() && known->second == location;
      EXPECT_EQ(index.erase(hash, location), same);
      if (same) plain.erase(known);
    } else {
      const auto stripe = static_cast<uint32_t>(random.below(50));
      const uint64_t dropped = std::erase_if(
          plain, [&](const auto& entry) { return index.stripe_of(entry.second) == stripe; });
      EXPECT_EQ(index.drop_stripe(stripe), dropped);
    }
    if (i % 1000 == 0) expect_same(index, plain);
  }
  expect_same(index, plain);
  index.clear();
  expect_same(index, Plain());
}

TEST(CossIndex, DoesWhatAPlainMapDoes) {
  run_random_operations(128, 5000, test_seed(1));
  run_random_operations(128, 40, test_seed(2));
  run_random_operations(6, 5000, test_seed(3));
}

TEST(CossIndex, TellsPlacesFromStripesAndBack) {
  const CossIndex index(fifty_stripes(), 128);
  const CossLocation location = index.location(49, 64 * 1024 - 512, 400);
  EXPECT_EQ(index.stripe_of(location), 49u);
  EXPECT_EQ(index.offset_of(location), 64u * 1024 - 512);
  EXPECT_EQ(location.size_bytes, 400u);
}

// An index written to a file, with stripes 3 and 5 as those that count.
class CleanIndexTest : public ::testing::Test {
 protected:
  CleanIndexTest() {
    std::ofstream(folder_ / "file").flush();
    file_ = std::move(
        *testing_support::run_task(io_, engine_.open(folder_ / "file", OpenMode::kReadWrite)));
    log_.adopt(3, 11);
    log_.adopt(5, 12);
    for (uint64_t i = 0; i < 100'000; ++i) {
      index_.put(hash_of(i), index_.location(i % 2 == 0 ? 3 : 5, 512 * (i % 100), 1 + i % 400));
    }
  }
  CossIndexExtent write(uint64_t size_bytes_max = 10 << 20) {
    return *testing_support::run_task(
        io_, write_coss_index(*file_, fifty_stripes(), log_, index_, size_bytes_max));
  }
  Result<std::vector<CossLiveStripe>> read(CossIndexExtent extent, CossIndex& into) {
    return testing_support::run_task(io_, read_coss_index(*file_, fifty_stripes(), extent, into));
  }
  void flip(uint64_t offset_bytes) {
    std::byte byte{};
    const uint64_t at = fifty_stripes().index_offset() + offset_bytes;
    ASSERT_TRUE(testing_support::run_task(io_, file_->read(at, std::span(&byte, 1))).has_value());
    byte ^= std::byte{1};
    ASSERT_TRUE(testing_support::run_task(io_, file_->write(at, std::span(&byte, 1))).has_value());
  }

  testing_support::TempDir folder_;
  testing_support::FakeClock clock_;
  boost::asio::io_context io_;
  BlockingEngine engine_{clock_, AT_FDCWD};
  std::unique_ptr<File> file_;
  CossIndex index_{fifty_stripes(), 128};
  CossLog log_{fifty_stripes(), 2, io_.get_executor(), index_, [](uint32_t) {}, [] {}};
};

TEST_F(CleanIndexTest, ComesBackWholeInSeveralPieces) {
  const CossIndexExtent extent = write();
  EXPECT_GT(extent.size_bytes, uint64_t{2'400'000});
  CossIndex found(fifty_stripes(), 128);
  const auto live = read(extent, found);
  ASSERT_TRUE(live.has_value());
  ASSERT_EQ(live->size(), 2u);
  EXPECT_EQ((*live)[0].stripe, 3u);
  EXPECT_EQ((*live)[1].generation, 12u);
  EXPECT_EQ(found.count(), index_.count());
  EXPECT_EQ(found.size_bytes(), index_.size_bytes());
  for (uint64_t i = 0; i < 100'000; i += 7) {
    ASSERT_EQ(found.find(hash_of(i)), index_.find(hash_of(i)));
  }
}

TEST_F(CleanIndexTest, DamageAnywhereIsFoundAndLeavesNothing) {
  const CossIndexExtent extent = write();
  for (const uint64_t at : {uint64_t{0}, uint64_t{10}, uint64_t{20}, uint64_t{30}, uint64_t{60},
                            uint64_t{90}, uint64_t{1'500'000}, extent.size_bytes - 1}) {
    flip(at);
    CossIndex found(fifty_stripes(), 128);
    EXPECT_EQ(read(extent, found).error(), Errc::kCorrupt) << at;
    EXPECT_EQ(found.count(), 0u);
    flip(at);
  }
  CossIndexExtent longer = extent;
  longer.size_bytes += kCossPageSize;
  CossIndex found(fifty_stripes(), 128);
  EXPECT_EQ(read(longer, found).error(), Errc::kCorrupt);
  EXPECT_TRUE(read(extent, found).has_value());
}

TEST_F(CleanIndexTest, OneThatHasNoRoomIsNotWritten) {
  EXPECT_EQ(write(1 << 20).size_bytes, 0u);
}

}  // namespace
}  // namespace storage
