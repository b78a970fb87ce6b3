// What goes in comes out: sizes, metadata, keys, and the promise that only whole objects are seen.
#include <gtest/gtest.h>

#include "tests/support/pattern.h"
#include "tests/support/scheme_under_test.h"

namespace testing_support {
namespace {

using storage::Errc;

class RoundTrip : public ::testing::TestWithParam<SchemeCase> {
 protected:
  void SetUp() override { ASSERT_TRUE(store_.start().has_value()); }
  SchemeUnderTest store_{GetParam()};
};

INSTANTIATE_TEST_SUITE_P(Schemes, RoundTrip, ::testing::ValuesIn(holding_scheme_cases()),
                         case_name);

/// Sizes round the borders of buffers, pages, blocks and sectors.
std::vector<size_t> interesting_sizes() {
  std::vector<size_t> sizes = {0, 1, 511, 512, 513, (1 << 20) + 1, 3 << 20};
  for (const size_t border : {size_t{4096}, size_t{16384}, SchemeUnderTest::kBufferSizeBytes}) {
    for (const size_t size : {border - 1, border, border + 1}) sizes.push_back(size);
  }
  return sizes;
}

TEST_P(RoundTrip, EverySizeComesBackWhetherItWasToldBeforehandOrNot) {
  for (const BodySize told : {BodySize::kKnown, BodySize::kUnknown}) {
    for (const size_t size : interesting_sizes()) {
      if (size > store_.scheme().info().object_size_bytes_max) continue;
      const std::string key = "key " + std::to_string(size);
      const StoredObject object("head of " + key, pattern_body(size, size));
      ASSERT_TRUE(store_.put(key, object, told).has_value()) << size;
      for (int repeat = 0; repeat < 2; ++repeat) {
        const auto found = store_.get(key);
        ASSERT_TRUE(found.has_value()) << size << " " << to_string(found.error());
        EXPECT_EQ(found->metadata, object.metadata);
        EXPECT_TRUE(found->body == object.body) << size;
      }
    }
  }
}

TEST_P(RoundTrip, SmallStepsGiveTheSameBody) {
  const StoredObject object("head", pattern_body(7, 200'001));
  for (const BodySize told : {BodySize::kKnown, BodySize::kUnknown}) {
    ASSERT_TRUE(store_.run(store_object(store_.scheme(), "key", object, told, 777)).has_value());
    for (const size_t step : {size_t{333}, size_t{4096}, size_t{1} << 30}) {
      const auto found = store_.run(load_object(store_.scheme(), "key", step));
      ASSERT_TRUE(found.has_value()) << to_string(found.error());
      EXPECT_TRUE(*found == object) << step;
    }
  }
}

TEST_P(RoundTrip, ReadsAtAnyOffsetAreExactAndEndAtTheEnd) {
  constexpr uint64_t kSize = 150'000;
  ASSERT_TRUE(store_.put("key", StoredObject("head", pattern_body(3, kSize))).has_value());
  auto reader = store_.open("key");
  ASSERT_TRUE(reader.has_value());
  EXPECT_EQ((*reader)->body_size_bytes(), kSize);
  for (const uint64_t offset : {uint64_t{0}, uint64_t{1}, uint64_t{4095}, uint64_t{65535},
                                uint64_t{65536}, uint64_t{131073}, kSize - 1}) {
    for (const size_t length : {size_t{1}, size_t{100}, size_t{70'000}}) {
      const auto piece = store_.run((*reader)->read(offset, length));
      ASSERT_TRUE(piece.has_value()) << offset;
      ASSERT_GE(piece->size(), 1u) << offset;
      EXPECT_LE(piece->size(), std::min<uint64_t>(length, kSize - offset));
      EXPECT_TRUE(matches_pattern(3, offset, piece->bytes())) << offset << " " << length;
    }
  }
  for (const uint64_t offset : {kSize, kSize + 1, ~uint64_t{0}}) {
    const auto piece = store_.run((*reader)->read(offset, 100));
    ASSERT_TRUE(piece.has_value()) << offset;
    EXPECT_TRUE(piece->empty()) << offset;
  }
}

TEST_P(RoundTrip, PiecesOutliveTheirReader) {
  ASSERT_TRUE(store_.put("key", StoredObject("head", pattern_body(3, 5000))).has_value());
  storage::Piece piece;
  {
    auto reader = store_.open("key");
    ASSERT_TRUE(reader.has_value());
    auto read = store_.run((*reader)->read(0, 5000));
    ASSERT_TRUE(read.has_value());
    piece = std::move(*read);
  }
  ASSERT_TRUE(store_.put("key", StoredObject("head", pattern_body(4, 5000))).has_value());
  ASSERT_TRUE(store_.remove("key").has_value());
  EXPECT_FALSE(piece.empty());
  EXPECT_TRUE(matches_pattern(3, 0, piece.bytes()));
}

TEST_P(RoundTrip, MetadataOfEverySizeUpToTheLimit) {
  for (const size_t size : {size_t{0}, size_t{1}, size_t{10'000}, storage::Metadata::kSizeMax}) {
    const StoredObject object(pattern_body(size, size), "body");
    ASSERT_TRUE(store_.put("key", object).has_value()) << size;
    const auto found = store_.get("key");
    ASSERT_TRUE(found.has_value()) << size;
    EXPECT_TRUE(*found == object) << size;
  }
}

TEST_P(RoundTrip, LargerMetadataIsDeclinedAndChangesNothing) {
  ASSERT_TRUE(store_.put("key", StoredObject("head", "body")).has_value());
  const std::string larger(storage::Metadata::kSizeMax + 1, 'x');
  EXPECT_EQ(store_.put("key", StoredObject(larger, "other")).error(), Errc::kTooLarge);
  EXPECT_EQ(store_.update("key", larger).error(), Errc::kTooLarge);
  const auto found = store_.get("key");
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(*found, StoredObject("head", "body"));
}

TEST_P(RoundTrip, KeysAreBytesNotText) {
  std::string longest;
  for (size_t i = 0; longest.size() < storage::Key::kLengthMax; ++i) {
    longest += static_cast<char>(i * 7);
  }
  const std::vector<std::string> keys = {"",
                                         std::string("\0", 1),
                                         std::string("a\0b", 3),
                                         std::string("a\0c", 3),
                                         "a",
                                         "line\nbreak",
                                         "\xff\xfe",
                                         "../../escape",
                                         "scheme=ufs,path=/,size=1",
                                         longest,
                                         longest.substr(1) + "!"};
  for (size_t i = 0; i < keys.size(); ++i) {
    ASSERT_TRUE(
        store_.put(keys[i], StoredObject(std::to_string(i), pattern_body(i, 100 + i))).has_value())
        << i;
  }
  for (size_t i = 0; i < keys.size(); ++i) {
    const auto found = store_.get(keys[i]);
    ASSERT_TRUE(found.has_value()) << i;
    EXPECT_EQ(*found, StoredObject(std::to_string(i), pattern_body(i, 100 + i))) << i;
  }
}

TEST_P(RoundTrip, ABodyOfAnotherSizeThanToldIsNotPublished) {
  ASSERT_TRUE(store_.put("key", StoredObject("old", "old body")).has_value());
  for (const size_t written : {size_t{0}, size_t{99}, size_t{101}, size_t{100'000}}) {
    auto writer = store_.create("key", "new", 100);
    ASSERT_TRUE(writer.has_value());
    storage::Result<void> end = store_.run(append_body(**writer, pattern_body(1, written)));
    if (end.has_value()) end = store_.run((*writer)->commit());
    EXPECT_EQ(end.error(), Errc::kAborted) << written;
    writer->reset();
    const auto found = store_.get("key");
    ASSERT_TRUE(found.has_value());
    EXPECT_EQ(*found, StoredObject("old", "old body"));
  }
}

TEST_P(RoundTrip, AnUncommittedWriterLeavesNothing) {
  for (const bool told : {true, false}) {
    auto writer =
        store_.create("key", "head", told ? std::optional<uint64_t>(200'000) : std::nullopt);
    ASSERT_TRUE(writer.has_value());
    ASSERT_TRUE(store_.run(append_body(**writer, pattern_body(1, 200'000))).has_value());
    EXPECT_EQ(store_.open("key").error(), Errc::kNotFound);
    writer->reset();
    EXPECT_EQ(store_.open("key").error(), Errc::kNotFound);
  }
}

TEST_P(RoundTrip, AnUnusedSpaceMayBeGivenBack) {
  auto writer = store_.create("key", "head", 5);
  ASSERT_TRUE(writer.has_value());
  for (int repeat = 0; repeat < 100; ++repeat) {
    const auto space = store_.run((*writer)->reserve(5));
    ASSERT_TRUE(space.has_value());
    ASSERT_GE(space->size(), 1u);
  }
  ASSERT_TRUE(store_.run(append_body(**writer, "12345")).has_value());
  ASSERT_TRUE(store_.run((*writer)->commit()).has_value());
  EXPECT_EQ(store_.get("key")->body, "12345");
}

TEST_P(RoundTrip, WhatIsSharedFromASpaceStays) {
  auto writer = store_.create("key", "head");
  ASSERT_TRUE(writer.has_value());
  auto space = store_.run((*writer)->reserve(1000));
  ASSERT_TRUE(space.has_value());
  const size_t used = std::min<size_t>(space->size(), 1000);
  fill_pattern(9, 0, space->bytes().first(used));
  const storage::Piece shared = space->share(used);
  ASSERT_TRUE((*writer)->append(std::move(*space), used).has_value());
  ASSERT_TRUE(store_.run((*writer)->commit()).has_value());
  writer->reset();
  ASSERT_TRUE(store_.remove("key").has_value());
  EXPECT_TRUE(matches_pattern(9, 0, shared.bytes()));
}

}  // namespace
}  // namespace testing_support
