#include "storage/layout/coss_format.h"

#include <gtest/gtest.h>

#include "storage/base/random.h"
#include "storage/layout/coss_membufs.h"
#include "tests/support/pattern.h"

namespace storage {
namespace {

using testing_support::pattern_body;

CossGeometry geometry() {
  CossGeometry made;
  made.store_id = 77;
  made.stripe_size_bytes = 64 * 1024;
  made.block_size_bytes = 512;
  made.stripe_count = 9;
  return made;
}

std::span<std::byte> bytes_of(std::string& text) {
  return std::as_writable_bytes(std::span(text));
}

// Flips one bit of each byte of `text` in turn and expects `accepts` to refuse all of them.
template <class Accepts>
void expect_every_flip_is_found(std::string text, size_t begin, size_t end, Accepts accepts) {
  for (size_t at = begin; at < end; ++at) {
    text[at] = static_cast<char>(text[at] ^ (1 << (at % 8)));
    EXPECT_FALSE(accepts(text)) << "byte " << at;
    text[at] = static_cast<char>(text[at] ^ (1 << (at % 8)));
  }
  EXPECT_TRUE(accepts(text));
}

TEST(CossFormat, SuperblockComesBackAndEveryFlipIsFound) {
  std::string page(kCossPageSize, 'x');
  encode_coss_superblock(geometry(), bytes_of(page));
  const auto found = decode_coss_superblock(bytes_of(page));
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->store_id, 77u);
  EXPECT_EQ(found->stripe_size_bytes, 64u * 1024);
  EXPECT_EQ(found->block_size_bytes, 512u);
  EXPECT_EQ(found->stripe_count, 9u);
  expect_every_flip_is_found(page, 0, 40, [](std::string& text) {
    return decode_coss_superblock(bytes_of(text)).has_value();
  });
  std::string blank(kCossPageSize, '\0');
  EXPECT_EQ(decode_coss_superblock(bytes_of(blank)).error(), Errc::kNotFound);
}

TEST(CossFormat, StateComesBackAndEveryFlipIsFound) {
  CossState state;
  state.clean = true;
  state.floor = 5;
  state.next_generation = 6;
  state.index_offset = 4096;
  state.index_size_bytes = 8192;
  state.index_checksum = 123;
  std::string page(kCossPageSize, 'x');
  encode_coss_state(state, 77, bytes_of(page));
  const auto found = decode_coss_state(77, bytes_of(page));
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->clean);
  EXPECT_EQ(found->floor, 5u);
  EXPECT_EQ(found->next_generation, 6u);
  EXPECT_EQ(found->index_size_bytes, 8192u);
  EXPECT_EQ(found->index_checksum, 123u);
  EXPECT_FALSE(decode_coss_state(78, bytes_of(page)));
  expect_every_flip_is_found(page, 0, 64, [](std::string& text) {
    return decode_coss_state(77, bytes_of(text)).has_value();
  });
}

class StripeFormat : public ::testing::Test {
 protected:
  StripeFormat() {
    trailer_.generation = 12;
    trailer_.floor = 4;
    trailer_.stripe = 3;
    trailer_.entry_count = 2;
    entries_[0].hash = KeyHash{1, 2};
    entries_[0].offset_bytes = 512;
    entries_[0].size_bytes = 700;
    entries_[1].hash = KeyHash{3, 4};
    encode_coss_directory(77, trailer_, entries_, bytes_of(stripe_));
  }
  bool accepts(std::string& stripe) {
    const auto trailer = decode_coss_trailer(geometry(), 3, bytes_of(stripe));
    return trailer && decode_coss_directory(geometry(), *trailer, bytes_of(stripe)).has_value();
  }

  std::string stripe_ = std::string(64 * 1024, '\0');
  CossTrailer trailer_;
  std::vector<CossEntry> entries_ = std::vector<CossEntry>(2);
};

TEST_F(StripeFormat, DirectoryComesBackAndEveryFlipIsFound) {
  const auto trailer = decode_coss_trailer(geometry(), 3, bytes_of(stripe_));
  ASSERT_TRUE(trailer.has_value());
  EXPECT_EQ(trailer->generation, 12u);
  EXPECT_EQ(trailer->floor, 4u);
  const auto entries = decode_coss_directory(geometry(), *trailer, bytes_of(stripe_));
  ASSERT_TRUE(entries.has_value());
  ASSERT_EQ(entries->size(), 2u);
  EXPECT_EQ((*entries)[0].hash, (KeyHash{1, 2}));
  EXPECT_EQ((*entries)[0].offset_bytes, 512u);
  EXPECT_EQ((*entries)[0].size_bytes, 700u);
  EXPECT_EQ((*entries)[1].size_bytes, 0u);
  expect_every_flip_is_found(stripe_, stripe_.size() - 128, stripe_.size(),
                             [this](std::string& text) { return accepts(text); });
}

TEST_F(StripeFormat, AnotherPlaceOrStoreIsNotBelieved) {
  EXPECT_EQ(decode_coss_trailer(geometry(), 4, bytes_of(stripe_)).error(), Errc::kCorrupt);
  CossGeometry other = geometry();
  other.store_id = 78;
  EXPECT_EQ(decode_coss_trailer(other, 3, bytes_of(stripe_)).error(), Errc::kNotFound);
}

TEST_F(StripeFormat, EntriesThatMakeNoSenseAreNotBelievedWhateverTheirChecksum) {
  for (const uint32_t offset : {uint32_t{100}, uint32_t{64 * 1024}, ~uint32_t{511}}) {
    entries_[0].offset_bytes = offset;
    encode_coss_directory(77, trailer_, entries_, bytes_of(stripe_));
    EXPECT_FALSE(accepts(stripe_)) << offset;
  }
  entries_[0].offset_bytes = 512;
  entries_[0].size_bytes = 64 * 1024;
  encode_coss_directory(77, trailer_, entries_, bytes_of(stripe_));
  EXPECT_FALSE(accepts(stripe_));
}

class RecordFormat : public ::testing::TestWithParam<size_t> {
 protected:
  RecordFormat() {
    record_.key_length_bytes = 3;
    record_.metadata_length_bytes = 5;
    record_.body_size_bytes = GetParam();
    bytes_.assign(record_.size_bytes(), 'x');
    testing_support::fill_pattern(1, 0, bytes_of(bytes_).subspan(record_.body_offset()));
    encode_coss_head("key", "heads", 99, record_, bytes_of(bytes_));
  }
  bool accepts(std::string& text) {
    const auto record = decode_coss_sizes(bytes_of(text), text.size());
    if (!record) return false;
    const auto head = decode_coss_head(bytes_of(text), 99, *record);
    return head && head->key == "key" && head->metadata == "heads" &&
           verify_coss_blocks(99, head->checksums, 0,
                              bytes_of(text).subspan(record->body_offset()));
  }
  CossRecord record_;
  std::string bytes_;
};

INSTANTIATE_TEST_SUITE_P(Sizes, RecordFormat, ::testing::Values(0, 1, 16384, 16385, 50'000));

TEST_P(RecordFormat, ComesBackAndEveryFlipIsFound) {
  expect_every_flip_is_found(bytes_, 0, record_.body_offset(),
                             [this](std::string& text) { return accepts(text); });
  Random random(1);
  for (int i = 0; i < 50 && GetParam() > 0; ++i) {
    const size_t at = record_.body_offset() + random.below(GetParam());
    expect_every_flip_is_found(bytes_, at, at + 1,
                               [this](std::string& text) { return accepts(text); });
  }
}

TEST_P(RecordFormat, IsNotBelievedInAnotherPlaceOrAtAnotherLength) {
  const auto record = decode_coss_sizes(bytes_of(bytes_), bytes_.size());
  ASSERT_TRUE(record.has_value());
  EXPECT_FALSE(decode_coss_head(bytes_of(bytes_), 98, *record).has_value());
  EXPECT_FALSE(decode_coss_sizes(bytes_of(bytes_), bytes_.size() - 1).has_value());
  EXPECT_FALSE(decode_coss_sizes(bytes_of(bytes_).first(10), bytes_.size()).has_value());
}

TEST(CossFormat, SeedsDifferByStoreGenerationAndPlace) {
  EXPECT_NE(coss_record_seed(1, 1, 0), coss_record_seed(1, 1, 512));
  EXPECT_NE(coss_record_seed(1, 1, 0), coss_record_seed(1, 2, 0));
  EXPECT_NE(coss_record_seed(1, 1, 0), coss_record_seed(2, 1, 0));
}

}  // namespace
}  // namespace storage
