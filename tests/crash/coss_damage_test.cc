// A coss store whose file was cut, zeroed, flipped and overwritten while it was down.
#include <gtest/gtest.h>

#include "storage/base/random.h"
#include "tests/crash/numbered_objects.h"
#include "tests/support/coss_under_test.h"
#include "tests/support/seed.h"

namespace testing_support {
namespace {

using storage::Errc;
using storage::StopMode;

constexpr uint64_t kObjects = 60;

StoredObject object_of(uint64_t number) {
  return numbered_object(number, number * number * 1500 % 50'000);
}

// A stopped store, clean or as a crash leaves it, with its file in memory to start from anew.
class DamagedStore : public ::testing::TestWithParam<bool> {
 protected:
  DamagedStore() {
    EXPECT_TRUE(store_.start().has_value());
    for (uint64_t i = 0; i < kObjects; ++i) {
      EXPECT_TRUE(store_.put(numbered_key(i), object_of(i)).has_value());
      store_.run_the_rest();
    }
    stripes_ = static_cast<uint64_t>(store_.count("stripes_written_total"));
    EXPECT_TRUE(store_.stop(GetParam() ? StopMode::kDrain : StopMode::kAbandon).has_value());
    image_ = store_.image();
    sound_ = restart();
    EXPECT_GE(sound_, GetParam() ? kObjects : kObjects - 10);
    EXPECT_GT(stripes_, 10u);
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

  CossUnderTest store_{4 << 20};
  std::string image_;
  uint64_t stripes_ = 0;
  uint64_t sound_ = 0;
};

INSTANTIATE_TEST_SUITE_P(Stops, DamagedStore, ::testing::Bool(), [](const auto& tested) {
  return std::string(tested.param ? "clean" : "dirty");
});

TEST_P(DamagedStore, AFlippedBitCostsAnObjectOrAStripe) {
  const uint64_t seed = test_seed(1);
  SCOPED_TRACE(seed_trace(seed));
  storage::Random random(seed);
  const uint64_t end = CossUnderTest::stripe_offset(stripes_);
  for (int round = 0; round < 60; ++round) {
    restore();
    // Not the superblock: without it there is no store.
    const uint64_t at = 4096 + random.below(end - 4096);
    store_.flip_byte(at, std::byte{1} << random.below(8));
    EXPECT_GE(restart() + 20, sound_) << at;
    ASSERT_TRUE(store_.put("new", object_of(1)).has_value());
    EXPECT_TRUE(*store_.get("new") == object_of(1));
  }
}

TEST_P(DamagedStore, ATornStripeLosesOnlyItself) {
  for (uint64_t stripe = 0; stripe < stripes_; ++stripe) {
    restore();
    {
      std::fstream file(store_.file(), std::ios::in | std::ios::out | std::ios::binary);
      file.seekp(static_cast<std::streamoff>(CossUnderTest::stripe_offset(stripe)));
      file << std::string(32 << 10, '\0');  // the first half of it
    }
    uint64_t found = restart();
    EXPECT_LT(found, sound_);
    EXPECT_GE(found + 20, sound_);
    restore();
    store_.flip_byte(CossUnderTest::stripe_offset(stripe + 1) - 10);  // in its trailer
    found = restart();
    EXPECT_TRUE(GetParam() ? found == sound_ : found < sound_) << stripe;
    EXPECT_GE(found + 20, sound_);
  }
}

TEST_P(DamagedStore, WithoutAStateOrAnIndexTheStripesAreRead) {
  for (const uint64_t at :
       {uint64_t{4100}, image_.size() - storage::coss_index_area_bytes(4 << 20) + 30}) {
    restore();
    store_.flip_byte(at);
    EXPECT_EQ(restart(), sound_);
  }
}

// Puts `bytes` into the file at the beginning of a stripe.
void overwrite(const CossUnderTest& store, uint64_t stripe, const std::string& bytes) {
  std::fstream file(store.file(), std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(static_cast<std::streamoff>(CossUnderTest::stripe_offset(stripe)));
  file << bytes;
}

TEST_P(DamagedStore, ALostStripeLosesOnlyItself) {
  for (uint64_t stripe = 0; stripe < stripes_; stripe += 3) {
    restore();
    overwrite(store_, stripe, std::string(64 << 10, '\0'));
    const uint64_t found = restart();
    EXPECT_LT(found, sound_);
    EXPECT_GE(found + 20, sound_);
  }
}

TEST_P(DamagedStore, AStripeOfAnotherStoreOrPlaceIsNotBelieved) {
  CossUnderTest other{4 << 20};
  ASSERT_TRUE(other.start().has_value());
  // The same keys with other bodies, at the same places.
  for (uint64_t i = 0; i < kObjects; ++i) {
    ASSERT_TRUE(other.put(numbered_key(i), object_of(kObjects - i)).has_value());
    other.run_the_rest();
  }
  ASSERT_TRUE(other.stop().has_value());
  std::ifstream in(other.file(), std::ios::binary);
  const std::string others(std::istreambuf_iterator<char>(in), {});
  for (uint64_t stripe = 0; stripe < stripes_; stripe += 3) {
    const auto at = [](uint64_t number) { return CossUnderTest::stripe_offset(number); };
    for (const std::string& foreign : {others.substr(at(stripe), 64 << 10),
                                       image_.substr(at((stripe + 1) % stripes_), 64 << 10)}) {
      restore();
      overwrite(store_, stripe, foreign);
      const uint64_t found = restart();
      EXPECT_LT(found, sound_);
      EXPECT_GE(found + 20, sound_);
    }
  }
}

TEST_P(DamagedStore, AFileThatWasCutHasWhatIsLeft) {
  restore();
  std::filesystem::resize_file(store_.file(), CossUnderTest::stripe_offset(5));
  const uint64_t found = restart();
  EXPECT_GT(found, 10u);
  EXPECT_LT(found, sound_);
  restore();
  std::filesystem::resize_file(store_.file(), CossUnderTest::stripe_offset(0));
  EXPECT_EQ(restart(), 0u);
}

TEST_P(DamagedStore, ADamagedSuperblockIsSaidAndNothingIsTouched) {
  restore();
  store_.flip_byte(20);
  const auto made = storage::make_coss(store_.spec(), store_.environment());
  EXPECT_EQ(made.scheme, nullptr);
  EXPECT_NE(made.error.find("holds something else than a coss store"), std::string::npos);
  store_.flip_byte(20);
  EXPECT_EQ(restart(), sound_);
}

}  // namespace
}  // namespace testing_support
