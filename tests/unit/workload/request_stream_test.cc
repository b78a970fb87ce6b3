#include "workload/model/request_stream.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <vector>

namespace workload {
namespace {

constexpr uint64_t kRequests = 300000;

/// What a part of a stream comes to.
struct Totals {
  double requests = 0;
  double direct = 0;
  double basic = 0;
  double offered = 0;
  double offered_reference = 0;
  double repeats = 0;
  double offered_bytes = 0;
  double basic_bytes = 0;
  std::map<RequestKind, double> direct_by_kind;
  std::map<RequestMethod, double> direct_by_method;
  double images = 0;

  void add(const IntendedRequest& request) {
    requests += 1;
    if (request.object.type == ContentType::kImage) images += 1;
    if (!request.embedded) {
      direct += 1;
      direct_by_kind[request.kind] += 1;
      direct_by_method[request.method] += 1;
      repeats += request.is_repeat ? 1 : 0;
    }
    if (!request.basic()) return;
    const double size = static_cast<double>(request.object.size_bytes);
    basic += 1;
    basic_bytes += size;
    if (request.offered_hit_reference) offered_reference += 1;
    if (!request.offered_hit) return;
    offered += 1;
    offered_bytes += size;
  }
  double percent(double part, double whole) const { return 100 * part / whole; }
};

Totals totals_of(RequestStream& stream, uint64_t requests, const StreamFactors& factors = {}) {
  Totals totals;
  for (uint64_t i = 0; i < requests; ++i) totals.add(stream.next(factors));
  return totals;
}

TEST(RequestStream, SameSeedSameSequence) {
  RequestStream one(polymix4_workload(), 1);
  RequestStream same(polymix4_workload(), 1);
  RequestStream other(polymix4_workload(), 2);
  RequestStream other_world(polymix4_workload(), 1, 1);
  bool differs = false;
  bool world_differs = false;
  for (int i = 0; i < 5000; ++i) {
    const auto request = one.next();
    const auto twin = same.next();
    ASSERT_EQ(request.object, twin.object);
    ASSERT_EQ(request.kind, twin.kind);
    ASSERT_EQ(request.method, twin.method);
    ASSERT_EQ(request.request_body_bytes, twin.request_body_bytes);
    ASSERT_EQ(request.offered_hit, twin.offered_hit);
    ASSERT_EQ(request.sequence, static_cast<uint64_t>(i));
    differs |= other.next().object.size_bytes != request.object.size_bytes;
    world_differs |= other_world.next().object.size_bytes != request.object.size_bytes;
  }
  EXPECT_TRUE(differs);
  EXPECT_TRUE(world_differs);
}

TEST(RequestStream, PolyMix4HasItsStatedShares) {
  RequestStream stream(polymix4_workload(), 3);
  const auto totals = totals_of(stream, kRequests);
  auto by_kind = totals.direct_by_kind;
  auto by_method = totals.direct_by_method;
  EXPECT_NEAR(totals.percent(by_kind[RequestKind::kIms200], totals.direct), 5, 0.4);
  EXPECT_NEAR(totals.percent(by_kind[RequestKind::kIms304], totals.direct), 10, 0.5);
  EXPECT_NEAR(totals.percent(by_kind[RequestKind::kReload], totals.direct), 5, 0.4);
  EXPECT_NEAR(totals.percent(by_method[RequestMethod::kPost], totals.direct), 1.5, 0.2);
  EXPECT_NEAR(totals.percent(by_method[RequestMethod::kHead], totals.direct), 0.1, 0.05);
  EXPECT_NEAR(totals.percent(totals.repeats, totals.direct), 68.75 * 0.985, 0.6);
}

TEST(RequestStream, OffersFiftyFivePercentHits) {
  RequestStream stream(polymix4_workload(), 4);
  totals_of(stream, 20000);
  const auto totals = totals_of(stream, kRequests);
  EXPECT_NEAR(totals.percent(totals.offered_reference, totals.basic), 55, 1);
  // A little less, as an IMS-304 or a HEAD that comes first leaves nothing to hit.
  EXPECT_NEAR(totals.percent(totals.offered, totals.basic), 54.5, 1.5);
  EXPECT_LT(totals.offered, totals.offered_reference);
}

TEST(RequestStream, OffersThemFromTheStart) {
  // A run of ten seconds at a few hundred requests a second must see the stated ratio.
  Totals totals;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    RequestStream stream(polymix4_workload(), 100 + seed);
    for (int i = 0; i < 1000; ++i) totals.add(stream.next());
  }
  EXPECT_NEAR(totals.percent(totals.offered, totals.basic), 55, 3);
}

TEST(RequestStream, NewObjectsHaveTheStatedMeans) {
  RequestStream stream(polymix4_workload(), 5);
  Totals totals;
  double size = 0;
  double cachable = 0;
  const StreamFactors factors{0, 0};
  for (uint64_t i = 0; i < kRequests; ++i) {
    const auto request = stream.next(factors);
    totals.add(request);
    size += static_cast<double>(request.object.size_bytes);
    cachable += request.object.cachable ? 1 : 0;
    ASSERT_FALSE(request.offered_hit || request.offered_hit_reference);
  }
  EXPECT_EQ(totals.basic, totals.requests);
  EXPECT_NEAR(size / kRequests, 10713, 10713 * 0.02);
  EXPECT_NEAR(100 * cachable / kRequests, 80.0, 0.5);
  EXPECT_NEAR(totals.percent(totals.images, totals.requests), 65.8, 0.5);
}

TEST(RequestStream, ByteHitRatioIsLowerAndCachabilityUnchanged) {
  RequestStream stream(polymix4_workload(), 6);
  totals_of(stream, 20000);
  const auto totals = totals_of(stream, kRequests);
  const double byte_ratio = totals.percent(totals.offered_bytes, totals.basic_bytes);
  EXPECT_LT(byte_ratio, 48);
  EXPECT_GT(byte_ratio, 36);
}

TEST(RequestStream, EmbeddedRequestsFollowTheirPage) {
  RequestStream stream(polymix4_workload(), 7);
  IntendedRequest page;
  uint64_t left = 0;
  uint64_t embedded_pages = 0;
  for (uint64_t i = 0; i < 50000; ++i) {
    const auto request = stream.next();
    ASSERT_EQ(request.embedded, left > 0);
    if (!request.embedded) {
      page = request;
      left = request.embedded_following;
      EXPECT_EQ(request.page_sequence, request.sequence);
      if (left == 0) continue;
      ++embedded_pages;
      EXPECT_EQ(request.method, RequestMethod::kGet);
      EXPECT_NE(request.kind, RequestKind::kIms304);
      EXPECT_EQ(request.object.type, ContentType::kHtml);
      continue;
    }
    --left;
    EXPECT_EQ(request.embedded_following, left);
    EXPECT_EQ(request.page_sequence, page.sequence);
    EXPECT_EQ(request.is_repeat, page.is_repeat);
    EXPECT_EQ(request.kind, page.kind);
    EXPECT_EQ(request.method, RequestMethod::kGet);
    EXPECT_EQ(request.object.type, ContentType::kImage);
  }
  EXPECT_GT(embedded_pages, 1000u);
}

TEST(RequestStream, RepeatsComeFromBefore) {
  RequestStream stream(polymix4_workload(), 8);
  std::set<uint64_t> seen;
  for (uint64_t i = 0; i < 50000; ++i) {
    const auto request = stream.next();
    if (!request.embedded) {
      ASSERT_EQ(request.is_repeat, seen.contains(request.object.id));
    }
    if (request.offered_hit) {
      ASSERT_TRUE(seen.contains(request.object.id));
      ASSERT_TRUE(request.object.cachable);
    }
    seen.insert(request.object.id);
  }
}

TEST(RequestStream, PostsHaveObjectsOfTheirOwn) {
  Workload workload = polymix4_workload();
  workload.requests.post_percent = 20;
  RequestStream stream(workload, 9);
  std::set<uint64_t> others;
  std::set<uint64_t> posted;
  for (uint64_t i = 0; i < 30000; ++i) {
    const auto request = stream.next();
    if (request.method != RequestMethod::kPost) {
      others.insert(request.object.id);
      EXPECT_EQ(request.request_body_bytes, 0u);
      continue;
    }
    EXPECT_FALSE(request.object.cachable);
    EXPECT_FALSE(request.is_repeat);
    EXPECT_EQ(request.embedded_following, 0u);
    EXPECT_LE(request.request_body_bytes, 8192u);
    EXPECT_TRUE(posted.insert(request.object.id).second);
  }
  EXPECT_GT(posted.size(), 1000u);
  for (const uint64_t id : posted) EXPECT_FALSE(others.contains(id));
}

TEST(RequestStream, RepeatedPostsCostOfferedHits) {
  Workload workload = polymix4_workload();
  workload.requests.post_percent = 20;
  workload.requests.post_target = PostTarget::kRepeat;
  RequestStream stream(workload, 10);
  std::set<uint64_t> invalidated;
  uint64_t lost = 0;
  for (uint64_t i = 0; i < 30000; ++i) {
    const auto request = stream.next();
    if (request.method == RequestMethod::kPost) {
      invalidated.insert(request.object.id);
    } else if (request.method == RequestMethod::kGet && request.kind != RequestKind::kIms304) {
      if (invalidated.contains(request.object.id)) {
        EXPECT_FALSE(request.offered_hit);
        lost += request.offered_hit_reference ? 1 : 0;
      }
      invalidated.erase(request.object.id);
    }
  }
  EXPECT_GT(lost, 100u);
}

TEST(RequestStream, WorkingSetFreezesAtItsCapAndSlides) {
  Workload workload = simple_workload();
  workload.popularity.working_set_objects_max = 500;
  RequestStream stream(workload, 11);
  uint64_t newest = 0;
  for (uint64_t i = 0; i < 20000; ++i) {
    const auto request = stream.next();
    const uint64_t index = (request.object.id >> 8) & 0xfffffffff;
    if (!request.is_repeat) {
      ASSERT_EQ(index, newest + 1);
      newest = index;
    } else {
      ASSERT_GT(index + 500, newest);
    }
    ASSERT_LE(stream.working_set_objects(), 500u);
  }
  EXPECT_TRUE(stream.working_set_frozen());
  EXPECT_EQ(stream.working_set_objects(), 500u);
  EXPECT_GT(newest, 5000u);
}

TEST(RequestStream, FreezeBeforeAnythingWasAskedLeavesOneObjectATypeToRevisit) {
  RequestStream stream(polymix4_workload(), 12);
  stream.freeze_working_set();
  const auto totals = totals_of(stream, 10000);
  EXPECT_LE(stream.working_set_objects(), 3u);
  EXPECT_GT(totals.offered, 0);
}

TEST(RequestStream, UniformPopularityAndHotSet) {
  Workload workload = simple_workload();
  workload.requests.recurrence_percent = 100;
  workload.popularity.working_set_objects_max = 1000;
  workload.popularity.hot_set_percent = 1;
  workload.popularity.hot_set_share_percent = 10;
  RequestStream stream(workload, 13);
  while (!stream.working_set_frozen()) stream.next({0, 0});
  std::map<uint64_t, double> hits;
  for (uint64_t i = 0; i < kRequests; ++i) hits[stream.next().object.id] += 1;
  std::vector<double> counts;
  for (const auto& [id, count] : hits) counts.push_back(count);
  std::sort(counts.rbegin(), counts.rend());
  ASSERT_EQ(counts.size(), 1000u);
  double hot = 0;
  for (size_t i = 0; i < 10; ++i) hot += counts[i];
  // The hot tenth of revisits, and the hot objects' part of the rest.
  EXPECT_NEAR(hot / kRequests, 0.1 + 0.9 * 0.01, 0.005);
  const double rest = 0.9 * kRequests / 1000;
  EXPECT_LT(counts[10], rest + 6 * std::sqrt(rest));
  EXPECT_GT(counts.back(), rest - 6 * std::sqrt(rest));
}

TEST(RequestStream, ZipfSkewPrefersTheNewest) {
  Workload workload = simple_workload();
  workload.requests.recurrence_percent = 100;
  workload.popularity.working_set_objects_max = 64;
  workload.popularity.zipf_skew = 1;
  RequestStream stream(workload, 14);
  while (!stream.working_set_frozen()) stream.next({0, 0});
  double rank_sum = 0;
  for (uint64_t i = 0; i < kRequests; ++i) {
    const uint64_t index = (stream.next().object.id >> 8) & 0xfffffffff;
    rank_sum += static_cast<double>(65 - index);
  }
  EXPECT_NEAR(rank_sum / kRequests, 14.9, 0.15);
}

TEST(RequestStream, FactorsScaleRecurrenceAndSpecialRequests) {
  RequestStream stream(polymix4_workload(), 15);
  const auto totals = totals_of(stream, kRequests, {5.0 / 55, 0.1});
  auto by_kind = totals.direct_by_kind;
  EXPECT_NEAR(totals.percent(totals.repeats, totals.direct), 6.25, 0.4);
  EXPECT_NEAR(totals.percent(by_kind[RequestKind::kIms304], totals.direct), 1, 0.2);
}

}  // namespace
}  // namespace workload
