#include "proxy/stored_response.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/http_heads.h"

namespace proxy {
namespace {

using testing_support::FieldList;
using testing_support::response_head;
using testing_support::text_of;

StoredResponse example() {
  StoredResponse out;
  out.head = response_head(404, {{"Content-Type", "text/plain"},
                                 {"X-Two", "1"},
                                 {"X-Empty", ""},
                                 {"X-Two", "2 \xc3\xa4\ttab"}});
  out.head.reason("Not Here");
  out.request_time = HttpTime(Seconds(1'700'000'000));
  out.response_time = HttpTime(Seconds(1'700'000'001));
  out.fill_id = 0xfedcba9876543210;
  out.body_size_bytes = 12345;
  return out;
}

VaryMarker example_marker() {
  VaryMarker out;
  out.names = {"accept-encoding", "cookie"};
  out.response_time = HttpTime(Seconds(1'700'000'001));
  out.generation = 77;
  return out;
}

TEST(StoredResponse, ComesBackAsItWas) {
  const StoredResponse before = example();
  const auto record = decode_record(encode_record(before).value().bytes());
  ASSERT_TRUE(record);
  const auto& after = std::get<StoredResponse>(*record);
  EXPECT_EQ(text_of(after.head), text_of(before.head));
  EXPECT_EQ(after.head.result_int(), 404u);
  EXPECT_EQ(after.head.reason(), "Not Here");
  EXPECT_EQ(after.head.version(), 11u);
  EXPECT_EQ(after.request_time, before.request_time);
  EXPECT_EQ(after.response_time, before.response_time);
  EXPECT_EQ(after.fill_id, before.fill_id);
  EXPECT_EQ(after.body_size_bytes, before.body_size_bytes);
}

TEST(StoredResponse, UnknownSizeAndOldVersionComeBack) {
  StoredResponse before = example();
  before.body_size_bytes.reset();
  before.head.version(10);
  const auto record = decode_record(encode_record(before).value().bytes());
  ASSERT_TRUE(record);
  EXPECT_EQ(std::get<StoredResponse>(*record).body_size_bytes, std::nullopt);
  EXPECT_EQ(std::get<StoredResponse>(*record).head.version(), 10u);
}

TEST(StoredResponse, MarkerComesBackAsItWas) {
  const auto record = decode_record(encode_record(example_marker()).value().bytes());
  ASSERT_TRUE(record);
  const auto& after = std::get<VaryMarker>(*record);
  EXPECT_EQ(after.names, example_marker().names);
  EXPECT_EQ(after.response_time, example_marker().response_time);
  EXPECT_EQ(after.generation, 77u);
}

TEST(StoredResponse, EveryTruncationAndExtensionIsRefused) {
  for (const auto& metadata : {encode_record(example()), encode_record(example_marker())}) {
    const std::string bytes(metadata.value().bytes());
    for (size_t length = 0; length < bytes.size(); ++length) {
      EXPECT_FALSE(decode_record(std::string_view(bytes).substr(0, length))) << length;
    }
    EXPECT_FALSE(decode_record(bytes + std::string(1, '\0')));
  }
}

/// Every byte set to every value: decoding either refuses or gives a record that encodes to those
/// very bytes. There is one encoding of a record only.
TEST(StoredResponse, EveryChangedByteIsRefusedOrMeantSo) {
  for (const auto& metadata : {encode_record(example()), encode_record(example_marker())}) {
    const std::string original(metadata.value().bytes());
    for (size_t i = 0; i < original.size(); ++i) {
      for (int value = 0; value < 256; ++value) {
        std::string changed = original;
        changed[i] = static_cast<char>(value);
        const auto record = decode_record(changed);
        if (!record) continue;
        const auto again = std::visit([](const auto& r) { return encode_record(r); }, *record);
        ASSERT_TRUE(again) << "byte " << i << " value " << value;
        ASSERT_EQ(again->bytes(), changed) << "byte " << i << " value " << value;
      }
    }
  }
}

TEST(StoredResponse, LimitsHoldWhenEncoding) {
  StoredResponse response = example();
  response.head.insert("X-Long", std::string(60001, 'x'));
  EXPECT_FALSE(encode_record(response));
  response = example();
  response.head.insert("X-Line", "a\nb");
  EXPECT_FALSE(encode_record(response));
  response = example();
  for (size_t i = 0; i < kStoredFieldCountMax; ++i) response.head.insert("X-Many", "1");
  EXPECT_FALSE(encode_record(response));
  response = example();
  for (int i = 0; i < 5; ++i) response.head.insert("X-Large", std::string(59000, 'x'));
  EXPECT_FALSE(encode_record(response)) << "larger than metadata may be";
  response = example();
  response.head.result(100);
  EXPECT_FALSE(encode_record(response));
  response = example();
  response.response_time = HttpTime::max();
  EXPECT_FALSE(encode_record(response));
}

TEST(StoredResponse, MarkersNeedSortedUniqueLowerCaseNames) {
  for (const std::vector<std::string>& names :
       {std::vector<std::string>{},
        {"b", "a"},
        {"a", "a"},
        {"A"},
        {""},
        {"a b"},
        std::vector<std::string>(kStoredVaryNamesMax + 1, "a")}) {
    VaryMarker marker = example_marker();
    marker.names = names;
    EXPECT_FALSE(encode_record(marker)) << testing::PrintToString(names);
  }
}

TEST(StoredResponse, HeadToStoreLeavesOutWhatIsNotTheResources) {
  const auto head = response_head(
      200, {{"Connection", "X-Hop, close"},
            {"X-Hop", "1"},
            {"Keep-Alive", "timeout=5"},
            {"Transfer-Encoding", "chunked"},
            {"Content-Length", "5"},
            {"Trailer", "X-T"},
            {"Cache-Control", "max-age=60, private=\"X-Mine\", no-cache=\"Set-Cookie\""},
            {"X-Mine", "1"},
            {"Set-Cookie", "a=b"},
            {"ETag", "\"x\""},
            {"Age", "5"}});
  EXPECT_EQ(text_of(head_to_store(head)),
            "Cache-Control: max-age=60, private=\"X-Mine\", no-cache=\"Set-Cookie\"\n"
            "ETag: \"x\"\n"
            "Age: 5\n");
}

}  // namespace
}  // namespace proxy
