#include "workload/model/object.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "storage/base/random.h"

namespace workload {
namespace {

ObjectSpec stamped_object() {
  return {7, 0x1234, ContentType::kHtml, 10000, true, 1700000000, 86400};
}

std::vector<std::byte> body_of(const ObjectSpec& object, uint64_t offset, size_t length) {
  std::vector<std::byte> bytes(length);
  fill_body(object, offset, bytes);
  return bytes;
}

/// Objects that differ from `object` in one field of its version each.
std::vector<ObjectSpec> other_versions(const ObjectSpec& object) {
  std::vector<ObjectSpec> others(5, object);
  others[0].seed += 1;
  others[1].id += 1;
  others[2].type = ContentType::kImage;
  others[3].size_bytes += 1;
  others[4].last_modified_unix_s += 1;
  return others;
}

TEST(ObjectPath, RoundTripsEveryField) {
  const std::array<ContentType, 6> kTypes{
      ContentType::kImage, ContentType::kHtml,           ContentType::kDownload,
      ContentType::kOther, *ContentType::named("video"), *ContentType::named("a-name-of-15-ch")};
  storage::Random random(1);
  for (int i = 0; i < 10000; ++i) {
    ObjectSpec object;
    object.seed = random() >> random.below(64);
    object.id = random() >> random.below(64);
    object.type = kTypes[random.below(kTypes.size())];
    object.size_bytes = random.below(kObjectSizeBytesMax + 1);
    object.cachable = random.below(2) == 0;
    object.last_modified_unix_s = static_cast<int64_t>(random.below(kLastModifiedMaxUnixS + 1));
    object.lifetime_s = static_cast<int64_t>(random.below(kLifetimeMaxS + 1));
    const std::string path = object_path(object);
    EXPECT_LE(path.size(), 200u);
    EXPECT_EQ(path.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-./"), std::string::npos);
    ASSERT_EQ(parse_object_path(path), object) << path;
    ASSERT_EQ(parse_object_path(path + "?fault=truncate"), object) << path;
  }
}

TEST(ObjectPath, HoldsTheLargestValues) {
  ObjectSpec object{UINT64_MAX,          UINT64_MAX, ContentType::kDownload,
                    kObjectSizeBytesMax, false,      kLastModifiedMaxUnixS,
                    kLifetimeMaxS};
  const std::string path = object_path(object);
  EXPECT_LE(path.size(), 200u);
  EXPECT_EQ(parse_object_path(path), object);
}

TEST(ObjectPath, RefusesEveryDamagedPath) {
  const std::string path = object_path(stamped_object());
  const std::string alphabet = "0123456789abcdefgzAF-./?%+ ";
  for (size_t i = 0; i < path.size(); ++i) {
    EXPECT_FALSE(parse_object_path(path.substr(0, i))) << i;
    for (const char letter : alphabet) {
      // A query may begin anywhere, but what stands before it must be a whole path.
      std::string damaged = path;
      if (damaged[i] == letter) continue;
      damaged[i] = letter;
      EXPECT_FALSE(parse_object_path(damaged)) << damaged;
      EXPECT_FALSE(parse_object_path(path.substr(0, i) + letter + path.substr(i))) << i;
    }
  }
  EXPECT_FALSE(parse_object_path(path + "/"));
  EXPECT_FALSE(parse_object_path(path + std::string(1, '\0')));
  EXPECT_FALSE(parse_object_path(""));
  EXPECT_FALSE(parse_object_path("/"));
  EXPECT_FALSE(parse_object_path(std::string(100000, '/')));
}

TEST(ObjectPath, RefusesValuesOutOfRangeWhateverTheCheckCode) {
  ObjectSpec object = stamped_object();
  object.size_bytes = kObjectSizeBytesMax + 1;
  EXPECT_FALSE(parse_object_path(object_path(object)));
  object = stamped_object();
  object.last_modified_unix_s = -1;
  EXPECT_FALSE(parse_object_path(object_path(object)));
  object = stamped_object();
  object.lifetime_s = kLifetimeMaxS + 1;
  EXPECT_FALSE(parse_object_path(object_path(object)));
}

TEST(ObjectPath, ExtensionsHaveTheirSharesAndFitTheMediaType) {
  int html = 0;
  int exe = 0;
  constexpr int kObjects = 10000;
  for (int i = 0; i < kObjects; ++i) {
    ObjectSpec object = stamped_object();
    object.id = static_cast<uint64_t>(i);
    EXPECT_EQ(media_type(object), "text/html");
    html += object_path(object).ends_with(".html") ? 1 : 0;
    object.type = ContentType::kDownload;
    exe += object_path(object).ends_with(".exe") ? 1 : 0;
    object.type = ContentType::kImage;
    EXPECT_EQ(object_path(object).ends_with(".png"), media_type(object) == "image/png");
  }
  EXPECT_NEAR(html / double{kObjects}, 0.6, 0.02);
  EXPECT_NEAR(exe / double{kObjects}, 0.4, 0.02);
}

TEST(ObjectEtag, IsAFunctionOfEveryField) {
  const ObjectSpec object = stamped_object();
  std::set<std::string> tags{object_etag(object)};
  for (const auto& other : other_versions(object)) tags.insert(object_etag(other));
  ObjectSpec other = object;
  other.cachable = false;
  tags.insert(object_etag(other));
  other = object;
  other.lifetime_s += 1;
  tags.insert(object_etag(other));
  EXPECT_EQ(tags.size(), 8u);
  EXPECT_EQ(object_etag(object).size(), 18u);
}

TEST(ObjectBody, AnyPieceIsThePartOfTheWhole) {
  const ObjectSpec object = stamped_object();
  const auto whole = body_of(object, 0, object.size_bytes);
  for (size_t offset = 0; offset < 40; ++offset) {
    for (size_t length = 0; length < 40; ++length) {
      const auto piece = body_of(object, offset, length);
      ASSERT_TRUE(
          std::equal(piece.begin(), piece.end(), whole.begin() + static_cast<ptrdiff_t>(offset)))
          << offset << '+' << length;
      ASSERT_FALSE(first_wrong_byte(object, offset, piece));
    }
  }
}

TEST(ObjectBody, IsTheSameOnEveryMachine) {
  // The bytes are part of what two machines must agree on; a change of the generator shows here.
  const auto bytes = body_of({1, 2, ContentType::kOther, 16, true, 3, 4}, 0, 16);
  uint64_t sum = 0;
  for (const auto byte : bytes) sum = sum * 257 + static_cast<uint64_t>(byte);
  EXPECT_EQ(sum, 10510150236133887817u);
}

TEST(ObjectBody, AnotherVersionHasOtherBytes) {
  const ObjectSpec object = stamped_object();
  const auto bytes = body_of(object, 0, 4096);
  for (const auto& other : other_versions(object)) {
    const auto wrong = first_wrong_byte(other, 0, bytes);
    ASSERT_TRUE(wrong.has_value());
    EXPECT_LT(*wrong, 8u);
    size_t same = 0;
    const auto other_bytes = body_of(other, 0, 4096);
    for (size_t i = 0; i < bytes.size(); ++i) same += bytes[i] == other_bytes[i] ? 1 : 0;
    EXPECT_LT(same, 64u);  // 16 are expected by chance.
  }
}

TEST(ObjectBody, FindsTheOneWrongByteWhereverItIs) {
  const ObjectSpec object = stamped_object();
  for (const uint64_t offset : {0u, 1u, 7u, 8u, 4093u}) {
    auto bytes = body_of(object, offset, 5000);
    for (size_t at = 0; at < bytes.size(); at += at < 20 || at > 4080 ? 1 : 97) {
      bytes[at] ^= std::byte{1};
      EXPECT_EQ(first_wrong_byte(object, offset, bytes), offset + at);
      bytes[at] ^= std::byte{1};
    }
  }
}

TEST(ObjectBody, BytesPastTheEndAreWrong) {
  ObjectSpec object = stamped_object();
  object.size_bytes = 100;
  const auto bytes = body_of(object, 90, 20);
  EXPECT_EQ(first_wrong_byte(object, 90, bytes), 100u);
  EXPECT_EQ(first_wrong_byte(object, 100, bytes), 100u);
  EXPECT_EQ(first_wrong_byte(object, 4000, bytes), 4000u);
  EXPECT_FALSE(first_wrong_byte(object, 90, std::span(bytes).first(10)));
  EXPECT_FALSE(first_wrong_byte(object, 200, {}));
}

TEST(ObjectBody, NoBlockRepeats) {
  std::set<uint64_t> words;
  constexpr size_t kObjects = 64;
  constexpr size_t kBytes = 4096;
  for (uint64_t id = 0; id < kObjects; ++id) {
    ObjectSpec object = stamped_object();
    object.id = id;
    const auto bytes = body_of(object, 0, kBytes);
    for (size_t at = 0; at < kBytes; at += 8) {
      uint64_t word = 0;
      std::memcpy(&word, bytes.data() + at, 8);
      words.insert(word);
    }
  }
  EXPECT_EQ(words.size(), kObjects * kBytes / 8);
}

}  // namespace
}  // namespace workload
