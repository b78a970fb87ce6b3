#include "storage/types.h"

#include <gtest/gtest.h>

#include <array>
#include <cerrno>

#include "storage/base/error.h"

namespace storage {
namespace {

TEST(Key, HashIsAFunctionOfAllBytes) {
  EXPECT_EQ(Key("a").hash(), Key("a").hash());
  EXPECT_FALSE(Key("a").hash() == Key("b").hash());
  EXPECT_FALSE(Key(std::string("a\0b", 3)).hash() == Key(std::string("a\0c", 3)).hash());
  EXPECT_EQ(Key("a"), Key("a"));
  EXPECT_FALSE(Key("a") == Key("b"));
}

TEST(KeyHash, TruncationKeepsTheLowestBits) {
  const KeyHash hash{0xffff'0000'ffff'0000, 0x1234'5678'9abc'def1};
  EXPECT_EQ(truncated(hash, 128), hash);
  EXPECT_EQ(truncated(hash, 64), (KeyHash{0, hash.low}));
  EXPECT_EQ(truncated(hash, 96), (KeyHash{0xffff'0000, hash.low}));
  EXPECT_EQ(truncated(hash, 8), (KeyHash{0, 0xf1}));
  EXPECT_EQ(truncated(hash, 0), (KeyHash{0, 0}));
}

TEST(Metadata, IsEmptyBytesByDefaultAndSharedByCopies) {
  EXPECT_EQ(Metadata().bytes(), "");
  EXPECT_EQ(Metadata().size(), 0u);
  const Metadata one(std::string("a\0b", 3));
  const Metadata copy = one;
  EXPECT_EQ(copy.size(), 3u);
  EXPECT_EQ(copy.bytes().data(), one.bytes().data());
}

TEST(Leases, EndWithTheLastShare) {
  auto owner = std::make_shared<std::array<std::byte, 16>>();
  const std::weak_ptr<void> alive = owner;
  std::span<std::byte> bytes = *owner;
  Space space(bytes, std::move(owner));
  Piece piece = space.share(8);
  Piece part = piece.share(2, 3);
  EXPECT_EQ(part.bytes().data(), bytes.data() + 2);
  EXPECT_EQ(part.size(), 3u);
  space = Space();
  piece = Piece();
  EXPECT_FALSE(alive.expired());
  part = Piece();
  EXPECT_TRUE(alive.expired());
}

TEST(Leases, AreEmptyOnceMovedFrom) {
  auto owner = std::make_shared<std::array<std::byte, 16>>();
  Piece one(*owner, owner);
  const Piece two = std::move(one);
  EXPECT_TRUE(one.empty());  // NOLINT(bugprone-use-after-move)
  EXPECT_EQ(two.size(), 16u);
}

TEST(Error, SaysItsNameAndWhatTheSystemSaid) {
  EXPECT_EQ(to_string(Error(Errc::kNotFound)), "not_found");
  EXPECT_EQ(to_string(Error(Errc::kIo, ENOSPC)).rfind("io: No space", 0), 0u);
  EXPECT_THROW(Result<int>(Error(Errc::kIo)).value(), std::logic_error);
}

}  // namespace
}  // namespace storage
