#include "proxy/vary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "storage/types.h"
#include "tests/support/http_heads.h"

namespace proxy {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Optional;
using testing_support::FieldList;
using testing_support::get_head;
using testing_support::response_head;

VaryMarker marker_of(std::vector<std::string> names, uint64_t generation = 1) {
  VaryMarker marker;
  marker.names = std::move(names);
  marker.generation = generation;
  return marker;
}

std::string key_of(const VaryMarker& marker, const FieldList& fields) {
  return variant_key("GET http://h:80/", marker, get_head(fields)).value();
}

TEST(Vary, NamesAreLowerCaseSortedAndUnique) {
  EXPECT_THAT(vary_names(response_head(200)), Optional(IsEmpty()));
  EXPECT_THAT(vary_names(response_head(
                  200, {{"Vary", "Cookie, accept-encoding"}, {"Vary", "ACCEPT-Encoding,,"}})),
              Optional(ElementsAre("accept-encoding", "cookie")));
}

TEST(Vary, StarAndMalformedNamesAreNotStored) {
  for (const char* value : {"*", "Accept, *", "a b", "\"x\"", "a:b"}) {
    EXPECT_EQ(vary_names(response_head(200, {{"Vary", value}})), std::nullopt) << value;
  }
  std::string many = "x0";
  for (size_t i = 1; i < kStoredVaryNamesMax; ++i) many += ", x" + std::to_string(i);
  EXPECT_TRUE(vary_names(response_head(200, {{"Vary", many}})));
  EXPECT_FALSE(vary_names(response_head(200, {{"Vary", many + ", more"}})));
}

TEST(Vary, SpellingsOfOneValueAreOneVariant) {
  const VaryMarker marker = marker_of({"accept-encoding"});
  const std::string key = key_of(marker, {{"Accept-Encoding", "gzip, br;q=0.5"}});
  EXPECT_EQ(key, key_of(marker, {{"Accept-Encoding", "gzip,br;q=0.5"}}));
  EXPECT_EQ(key, key_of(marker, {{"accept-encoding", "GZIP"}, {"Accept-Encoding", "br; q=0.5"}}));
  EXPECT_EQ(key, key_of(marker, {{"Accept-Encoding", "gzip,br;q=0.5"}, {"Unrelated", "1"}}));
  EXPECT_NE(key, key_of(marker, {{"Accept-Encoding", "br;q=0.5, gzip"}}));
}

TEST(Vary, OtherFieldsAreComparedAsTheyAre) {
  const VaryMarker marker = marker_of({"user-agent"});
  EXPECT_NE(key_of(marker, {{"User-Agent", "A (x, y)"}}),
            key_of(marker, {{"User-Agent", "A (x,y)"}}));
  EXPECT_NE(key_of(marker, {{"User-Agent", "A"}}), key_of(marker, {{"User-Agent", "a"}}));
}

TEST(Vary, AbsentDiffersFromEmptyAndFromADash) {
  const VaryMarker marker = marker_of({"x"});
  EXPECT_NE(key_of(marker, {}), key_of(marker, {{"X", ""}}));
  EXPECT_NE(key_of(marker, {}), key_of(marker, {{"X", "-"}}));
}

TEST(Vary, ValuesCannotImitateOtherFields) {
  const VaryMarker marker = marker_of({"a", "b"});
  EXPECT_NE(key_of(marker, {{"A", "1;b=1:2"}, {"B", "3"}}),
            key_of(marker, {{"A", "1"}, {"B", "2"}}));
  EXPECT_NE(key_of(marker, {{"A", "x"}, {"B", ""}}), key_of(marker, {{"A", ""}, {"B", "x"}}));
}

TEST(Vary, GenerationsAndPrimaryKeysAreApart) {
  const FieldList fields = {{"A", "1"}};
  EXPECT_NE(key_of(marker_of({"a"}, 1), fields), key_of(marker_of({"a"}, 2), fields));
  EXPECT_NE(key_of(marker_of({"a"}), fields), "GET http://h:80/");
}

TEST(Vary, KeysStayWithinTheLimitOfTheStore) {
  const std::string value(storage::Key::kLengthMax, 'x');
  EXPECT_EQ(variant_key("GET http://h:80/", marker_of({"a"}), get_head({{"A", value}})),
            std::nullopt);
}

}  // namespace
}  // namespace proxy
