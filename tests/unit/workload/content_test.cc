#include "workload/model/content.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "workload/model/workload.h"

namespace workload {
namespace {

constexpr uint64_t kObjects = 100000;

TEST(Content, ExpectationIsThatOfPolyMix4) {
  const ContentUniverse universe(polymix4_workload().content, 1);
  const auto expected = universe.expectation();
  EXPECT_NEAR(expected.size_bytes, 10713, 10713 * 0.02);
  EXPECT_NEAR(expected.cachable_percent, 80.0, 0.5);
  EXPECT_NEAR(expected.image_percent, 65.8, 0.5);
}

TEST(Content, ObjectsFollowTheirModel) {
  const auto workload = polymix4_workload();
  const ContentUniverse universe(workload.content, 2);
  for (const auto& model : workload.content) {
    double size = 0;
    double cachable = 0;
    double embedded = 0;
    for (uint64_t index = 1; index <= kObjects; ++index) {
      const ObjectName name{0, model.type, index, 0};
      const auto object = universe.object(name);
      ASSERT_EQ(object.type, model.type);
      ASSERT_EQ(object.size_bytes, universe.size_bytes(name));
      ASSERT_EQ(object.cachable, universe.cachable(name));
      ASSERT_GT(object.last_modified_unix_s, 0);
      ASSERT_GT(object.lifetime_s, 0);
      size += static_cast<double>(object.size_bytes);
      cachable += object.cachable ? 1 : 0;
      embedded += static_cast<double>(universe.embedded_count(name));
    }
    EXPECT_NEAR(size / kObjects / model.size.mean(), 1, 0.02);
    EXPECT_NEAR(100 * cachable / kObjects, model.cachable_percent, 0.5);
    EXPECT_NEAR(embedded / kObjects, model.embedded.mean(), 0.05);
  }
}

TEST(Content, ObjectsAreFunctionsOfNameAndSeed) {
  const auto content = polymix4_workload().content;
  const ContentUniverse one(content, 3);
  const ContentUniverse same(content, 3);
  const ContentUniverse other(content, 4);
  const ObjectName name{1, ContentType::kHtml, 42, 0};
  EXPECT_EQ(one.object(name), same.object(name));
  EXPECT_NE(one.object(name).size_bytes, other.object(name).size_bytes);
  EXPECT_EQ(parse_object_path(object_path(one.object(name))), one.object(name));
}

TEST(Content, EmbeddedObjectsAreImagesWithIdsOfTheirOwn) {
  const ContentUniverse universe(polymix4_workload().content, 5);
  std::set<uint64_t> ids;
  size_t names = 0;
  for (const uint16_t world : {0, 1, 0x8000}) {
    for (const auto type : {ContentType::kImage, ContentType::kHtml, ContentType::kOther}) {
      for (const uint64_t index : {uint64_t{1}, uint64_t{2}, (uint64_t{1} << 36) - 1}) {
        for (const uint8_t embedded : {0, 1, 255}) {
          const ObjectName name{world, type, index, embedded};
          ids.insert(name.id());
          ++names;
          const auto type_of_object = embedded != 0 ? ContentType::kImage : type;
          EXPECT_EQ(universe.object(name).type, type_of_object);
        }
      }
    }
  }
  EXPECT_EQ(ids.size(), names);
  EXPECT_EQ(universe.embedded_count({0, ContentType::kHtml, 1, 1}), 0u);
}

TEST(Content, LifetimesAreTheRestOfTheirCycle) {
  constexpr double kDayNs = 86400e9;
  ContentModel model;
  model.life_cycle = {Distribution::constant(10 * kDayNs), 50};
  const ContentUniverse universe({model}, 6);
  double lifetime_s = 0;
  int64_t shortest_cycle_s = INT64_MAX;
  int64_t longest_cycle_s = 0;
  const int64_t now = 1700000000;
  for (uint64_t index = 1; index <= kObjects; ++index) {
    const auto object = universe.object({0, model.type, index, 0});
    const int64_t cycle_s = now - object.last_modified_unix_s + object.lifetime_s;
    lifetime_s += static_cast<double>(object.lifetime_s);
    shortest_cycle_s = std::min(shortest_cycle_s, cycle_s);
    longest_cycle_s = std::max(longest_cycle_s, cycle_s);
  }
  // A change moves by up to a quarter of a cycle either way, so a cycle lasts 5 to 15 days; what
  // is left of it from a random instant is E[L^2] / 2 E[L], with E[L^2] = 100 + 2 * 25 / 12.
  EXPECT_NEAR(lifetime_s / kObjects / 86400, (100 + 50 / 12.0) / 20, 0.05);
  EXPECT_GE(shortest_cycle_s, 5 * 86400);
  EXPECT_LE(longest_cycle_s, 15 * 86400 + 2);
}

}  // namespace
}  // namespace workload
