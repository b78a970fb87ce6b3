// What a store and its helper say to each other, and what neither believes.
#include "storage/io/diskd/wire.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "storage/base/random.h"
#include "tests/support/seed.h"

namespace storage {
namespace {

HelperRequest request_of(IoKind kind) {
  HelperRequest request;
  request.id = 0x0123456789abcdef;
  request.kind = kind;
  request.mode = OpenMode::kCreateExclusive;
  request.of_space = true;
  request.handle = 7;
  request.slot = 3;
  request.size_bytes = kHelperSlotSizeBytes;
  request.alignment_bytes = 512;
  request.offset_bytes = uint64_t{1} << 46;
  const bool named = kind == IoKind::kOpen || kind == IoKind::kUnlink || kind == IoKind::kRename;
  if (named) request.path = "00/1F/000000001FA3";
  if (kind == IoKind::kRename) request.new_path = std::string(kHelperPathLengthMax, 'x');
  return request;
}

std::vector<std::byte> encoded(const HelperRequest& request) {
  std::vector<std::byte> bytes(kHelperRequestSizeMax);
  bytes.resize(encode_request(request, std::span<std::byte, kHelperRequestSizeMax>(bytes)));
  return bytes;
}

const std::vector<IoKind> kKinds = {IoKind::kOpen,   IoKind::kRead,  IoKind::kWrite,
                                    IoKind::kStat,   IoKind::kSync,  IoKind::kClose,
                                    IoKind::kRename, IoKind::kUnlink};

TEST(DiskdWire, RequestsArriveAsTheyWereSent) {
  for (const IoKind kind : kKinds) {
    const HelperRequest sent = request_of(kind);
    const auto got = decode_request(encoded(sent));
    ASSERT_TRUE(got.has_value());
    EXPECT_EQ(got->id, sent.id);
    EXPECT_EQ(got->kind, kind);
    EXPECT_EQ(got->mode, sent.mode);
    EXPECT_EQ(got->of_space, sent.of_space);
    EXPECT_EQ(got->handle, sent.handle);
    EXPECT_EQ(got->slot, sent.slot);
    EXPECT_EQ(got->size_bytes, sent.size_bytes);
    EXPECT_EQ(got->alignment_bytes, sent.alignment_bytes);
    EXPECT_EQ(got->offset_bytes, sent.offset_bytes);
    EXPECT_EQ(got->path, sent.path);
    EXPECT_EQ(got->new_path, sent.new_path);
  }
}

TEST(DiskdWire, ARequestOfAnotherLengthIsNone) {
  for (const IoKind kind : kKinds) {
    std::vector<std::byte> bytes = encoded(request_of(kind));
    for (size_t size = 0; size < bytes.size(); ++size) {
      EXPECT_FALSE(decode_request(std::span(bytes).first(size)).has_value());
    }
    bytes.push_back(std::byte{'x'});
    EXPECT_FALSE(decode_request(bytes).has_value());
  }
}

TEST(DiskdWire, ARequestThatMakesNoSenseIsNone) {
  const auto refused = [](auto change) {
    HelperRequest request = request_of(IoKind::kRead);
    change(request);
    return !decode_request(encoded(request)).has_value();
  };
  EXPECT_TRUE(refused([](HelperRequest& r) { r.kind = static_cast<IoKind>(8); }));
  EXPECT_TRUE(refused([](HelperRequest& r) { r.mode = static_cast<OpenMode>(4); }));
  EXPECT_TRUE(refused([](HelperRequest& r) { r.size_bytes = kHelperSlotSizeBytes + 1; }));
  EXPECT_TRUE(refused([](HelperRequest& r) { r.alignment_bytes = 0; }));
  EXPECT_TRUE(refused([](HelperRequest& r) { r.alignment_bytes = 3; }));
  EXPECT_TRUE(refused([](HelperRequest& r) { r.offset_bytes = ~uint64_t{0}; }));
  EXPECT_TRUE(refused([](HelperRequest& r) { r.path = "of a file that is open"; }));
  EXPECT_TRUE(refused([](HelperRequest& r) { r.kind = IoKind::kOpen; })) << "without a path";
  EXPECT_TRUE(refused([](HelperRequest& r) {
    r.kind = IoKind::kUnlink;
    r.path = std::string("a\0b", 3);
  }));
}

TEST(DiskdWire, RandomBytesAreRefusedOrWithinBounds) {
  const uint64_t seed = testing_support::test_seed(11);
  SCOPED_TRACE(testing_support::seed_trace(seed));
  Random random(seed);
  for (int round = 0; round < 20'000; ++round) {
    std::vector<std::byte> bytes = encoded(request_of(kKinds[random.below(kKinds.size())]));
    for (uint64_t changes = 1 + random.below(4); changes > 0; --changes) {
      bytes[random.below(bytes.size())] = static_cast<std::byte>(random());
    }
    const auto request = decode_request(bytes);
    if (request) {
      EXPECT_LE(request->size_bytes, kHelperSlotSizeBytes);
      EXPECT_LE(request->path.size(), kHelperPathLengthMax);
      EXPECT_LT(static_cast<size_t>(request->kind), kIoKindCount);
    }
    std::vector<std::byte> noise(random.below(80));
    std::ranges::generate(noise, [&random] { return static_cast<std::byte>(random()); });
    EXPECT_FALSE(decode_request(noise).has_value());
    EXPECT_FALSE(decode_reply(noise).has_value());
  }
}

TEST(DiskdWire, RepliesArriveAsTheyWereSentOrNotAtAll) {
  HelperReply sent;
  sent.id = 42;
  sent.system_errno = 28;
  sent.alignment_bytes = 4096;
  sent.value = 100;
  auto bytes = encode_reply(sent);
  const auto got = decode_reply(bytes);
  ASSERT_TRUE(got.has_value());
  EXPECT_EQ(got->id, 42u);
  EXPECT_EQ(got->system_errno, 28);
  EXPECT_EQ(got->alignment_bytes, 4096u);
  EXPECT_EQ(got->value, 100u);
  EXPECT_FALSE(decode_reply(std::span(bytes).first(31)).has_value());
  sent.system_errno = -1;
  EXPECT_FALSE(decode_reply(encode_reply(sent)).has_value());
  sent.system_errno = 5000;
  EXPECT_FALSE(decode_reply(encode_reply(sent)).has_value());
  sent.system_errno = 0;
  sent.alignment_bytes = 7;
  EXPECT_FALSE(decode_reply(encode_reply(sent)).has_value());
}

}  // namespace
}  // namespace storage
