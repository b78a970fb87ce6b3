// Drawn samples of the whole model against what it states: sizes, cachability, embedded objects,
// kinds, methods, popularity, working set. Fixed seeds, at least 10^5 samples each.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>
#include <vector>

#include "tests/support/goodness_of_fit.h"
#include "workload/model/request_stream.h"

namespace workload {
namespace {

using testing_support::chi_square;
using testing_support::chi_square_max;
using testing_support::ks_distance;
using testing_support::ks_distance_max;
using testing_support::moments_of;
using testing_support::normal_cumulated;

constexpr uint64_t kFitObjects = 100000;
constexpr uint64_t kFitRequests = 300000;

std::vector<double> sizes_of(const ContentUniverse& universe, ContentType type) {
  std::vector<double> sizes;
  for (uint64_t index = 1; index <= kFitObjects; ++index) {
    sizes.push_back(static_cast<double>(universe.size_bytes({0, type, index, 0})));
  }
  return sizes;
}

/// Sizes are rounded up, so the distribution function at a size is right at the size itself, and
/// half a byte below it on the average.
double cumulated_log_normal(double x, double mean, double deviation) {
  const double variance = std::log(1 + deviation * deviation / (mean * mean));
  const double mu = std::log(mean) - variance / 2;
  return x <= 0 ? 0 : normal_cumulated((std::log(x - 0.5) - mu) / std::sqrt(variance));
}

TEST(ModelFit, SizesOfPolyMix4FollowTheirDistributions) {
  const ContentUniverse universe(polymix4_workload().content, 21);
  for (const auto& [type, mean] :
       {std::pair{ContentType::kImage, 4608.0}, std::pair{ContentType::kHtml, 8704.0}}) {
    const auto sizes = sizes_of(universe, type);
    EXPECT_NEAR(moments_of(sizes).mean / mean, 1, 0.012);
    EXPECT_NEAR(moments_of(sizes).deviation / mean, 1, 0.02);
    EXPECT_LT(
        ks_distance(sizes, [mean = mean](double x) { return 1 - std::exp(-(x - 0.5) / mean); }),
        ks_distance_max(kFitObjects));
  }
  const auto downloads = sizes_of(universe, ContentType::kDownload);
  EXPECT_NEAR(moments_of(downloads).mean / 307200, 1, 0.012);
  EXPECT_NEAR(moments_of(downloads).deviation / 307200, 1, 0.06);
  EXPECT_LT(
      ks_distance(downloads, [](double x) { return cumulated_log_normal(x, 307200, 307200); }),
      ks_distance_max(kFitObjects));
  const auto others = sizes_of(universe, ContentType::kOther);
  EXPECT_NEAR(moments_of(others).mean / 25600, 1, 0.005);
  EXPECT_NEAR(moments_of(others).deviation / 10240, 1, 0.02);
  EXPECT_LT(ks_distance(others, [](double x) { return cumulated_log_normal(x, 25600, 10240); }),
            ks_distance_max(kFitObjects));
}

TEST(ModelFit, PagesEmbedZipf13Images) {
  const ContentUniverse universe(polymix4_workload().content, 22);
  std::vector<double> counts(13);
  double sum = 0;
  for (uint64_t index = 1; index <= kFitObjects; ++index) {
    const uint64_t embedded = universe.embedded_count({0, ContentType::kHtml, index, 0});
    ASSERT_GE(embedded, 1u);
    ASSERT_LE(embedded, 13u);
    counts[embedded - 1] += 1;
    sum += static_cast<double>(embedded);
  }
  std::vector<double> wanted;
  for (double k = 1; k <= 13; ++k)
    wanted.push_back(kFitObjects * std::log((k + 1) / k) / std::log(14));
  EXPECT_LT(chi_square(counts, wanted), chi_square_max(13));
  EXPECT_NEAR(sum / kFitObjects, 4.45, 0.04);
}

TEST(ModelFit, TypesOfDirectRequestsHaveTheirShares) {
  RequestStream stream(polymix4_workload(), 23);
  std::map<ContentType, double> by_type;
  double direct = 0;
  double embedded = 0;
  double images = 0;
  for (uint64_t i = 0; i < kFitRequests; ++i) {
    const auto request = stream.next({0, 0});
    images += request.object.type == ContentType::kImage ? 1 : 0;
    if (request.embedded) {
      embedded += 1;
      continue;
    }
    direct += 1;
    by_type[request.object.type] += 1;
  }
  const std::vector<double> wanted{15 * direct / 35, 0.5 * direct / 35, 19.5 * direct / 35};
  EXPECT_LT(chi_square({by_type[ContentType::kHtml], by_type[ContentType::kDownload],
                        by_type[ContentType::kOther]},
                       wanted),
            chi_square_max(3));
  EXPECT_NEAR(100 * images / static_cast<double>(kFitRequests), 65.8, 0.5);
  EXPECT_EQ(images, embedded);
}

TEST(ModelFit, KindsAndMethodsHaveTheirShares) {
  Workload workload = polymix4_workload();
  workload.requests.etag_200_percent = 3;
  workload.requests.etag_304_percent = 7;
  workload.requests.range_percent = 12;
  RequestStream stream(workload, 24);
  std::map<RequestKind, double> kinds;
  std::map<RequestMethod, double> methods;
  double direct = 0;
  while (direct < kFitObjects) {
    const auto request = stream.next();
    if (request.embedded) continue;
    direct += 1;
    methods[request.method] += 1;
    // A POST is always basic.
    if (request.method == RequestMethod::kGet) kinds[request.kind] += 1;
  }
  const double get = methods[RequestMethod::kGet];
  EXPECT_LT(chi_square({get, methods[RequestMethod::kPost], methods[RequestMethod::kHead]},
                       {0.984 * direct, 0.015 * direct, 0.001 * direct}),
            chi_square_max(3));
  EXPECT_LT(
      chi_square(
          {kinds[RequestKind::kBasic], kinds[RequestKind::kIms200], kinds[RequestKind::kIms304],
           kinds[RequestKind::kReload], kinds[RequestKind::kEtag200], kinds[RequestKind::kEtag304],
           kinds[RequestKind::kRange]},
          {0.58 * get, 0.05 * get, 0.1 * get, 0.05 * get, 0.03 * get, 0.07 * get, 0.12 * get}),
      chi_square_max(7));
}

TEST(ModelFit, BodiesOfPostsAreUniform) {
  Workload workload = polymix4_workload();
  workload.requests.post_percent = 100;
  workload.requests.head_percent = 0;
  RequestStream stream(workload, 25);
  std::vector<double> sizes;
  while (sizes.size() < kFitObjects) {
    sizes.push_back(static_cast<double>(stream.next().request_body_bytes));
  }
  EXPECT_LT(ks_distance(sizes, [](double x) { return std::clamp((x - 0.5) / 8192, 0.0, 1.0); }),
            ks_distance_max(kFitObjects));
  EXPECT_NEAR(moments_of(sizes).mean, 4096, 30);
}

TEST(ModelFit, RangesLieAnywhereInTheirObject) {
  Workload workload = simple_workload();
  workload.content[0].size = Distribution::constant(10000);
  workload.requests.range_percent = 100;
  workload.requests.range_size = Distribution::uniform(0, 20000);
  RequestStream stream(workload, 26);
  std::vector<double> lengths;
  std::vector<double> places;
  for (uint64_t i = 0; i < kFitObjects; ++i) {
    const auto request = stream.next();
    ASSERT_EQ(request.kind, RequestKind::kRange);
    ASSERT_GE(request.part.size_bytes, 1u);
    ASSERT_LE(request.part.offset_bytes + request.part.size_bytes, 10000u);
    ASSERT_FALSE(request.basic());
    ASSERT_FALSE(request.offered_hit);
    lengths.push_back(static_cast<double>(request.part.size_bytes));
    if (request.part.size_bytes > 5000) continue;
    places.push_back((static_cast<double>(request.part.offset_bytes) + 0.5) /
                     static_cast<double>(10000 - request.part.size_bytes + 1));
  }
  // Half of the wishes are for more than there is.
  EXPECT_LT(ks_distance(lengths, [](double x) { return x >= 10000 ? 1 : (x - 0.5) / 20000; }) - 0.5,
            ks_distance_max(kFitObjects));
  EXPECT_LT(ks_distance(places, [](double x) { return x; }), ks_distance_max(places.size()));
}

TEST(ModelFit, RobotsBreakOffTheStatedShareAnywhereInTheBody) {
  Workload workload = polymix4_workload();
  workload.robot.abort_percent = 5;
  RequestStream stream(workload, 27);
  double bodies = 0;
  std::vector<double> places;
  for (uint64_t i = 0; i < 2 * kFitRequests; ++i) {
    const auto request = stream.next();
    const bool body = request.method == RequestMethod::kGet && !must_get_304(request.kind);
    if (!body || request.object.size_bytes == 0) {
      ASSERT_FALSE(request.abort_after_bytes);
      continue;
    }
    bodies += 1;
    if (!request.abort_after_bytes) continue;
    ASSERT_LT(*request.abort_after_bytes, request.object.size_bytes);
    ASSERT_FALSE(request.basic());
    ASSERT_EQ(request.embedded_following == 0 || request.embedded, true);
    places.push_back((static_cast<double>(*request.abort_after_bytes) + 0.5) /
                     static_cast<double>(request.object.size_bytes));
  }
  EXPECT_NEAR(100 * static_cast<double>(places.size()) / bodies, 5, 0.15);
  EXPECT_LT(ks_distance(places, [](double x) { return x; }), ks_distance_max(places.size()));
}

TEST(ModelFit, OriginsBreakOffTheStatedShareAnywhereInTheBody) {
  Workload workload = polymix4_workload();
  workload.server.abort_percent = 5;
  RequestStream stream(workload, 37);
  std::vector<double> shares;
  for (uint64_t i = 0; i < 2 * kFitRequests; ++i) {
    const auto request = stream.next();
    if (request.break_off) shares.push_back((*request.break_off + 0.5) / 65536);
  }
  EXPECT_NEAR(100.0 * static_cast<double>(shares.size()) / (2.0 * kFitRequests), 5, 0.15);
  EXPECT_LT(ks_distance(shares, [](double x) { return x; }), ks_distance_max(shares.size()));
}

TEST(ModelFit, RecurrenceIsTheStatedShare) {
  // All types have been asked for after the first requests, so nothing prevents a repeat.
  RequestStream stream(polymix4_workload(), 28);
  for (int i = 0; i < 5000; ++i) stream.next();
  double direct = 0;
  double repeats = 0;
  double posts = 0;
  while (direct < 2 * kFitObjects) {
    const auto request = stream.next();
    if (request.embedded) continue;
    direct += 1;
    repeats += request.is_repeat ? 1 : 0;
    posts += request.method == RequestMethod::kPost ? 1 : 0;
  }
  // POST requests have objects of their own.
  EXPECT_NEAR(100 * repeats / (direct - posts), 68.75, 0.45);
}

double offered_percent(Workload workload, uint64_t seed, bool bytes) {
  RequestStream stream(workload, seed);
  for (int i = 0; i < 50000; ++i) stream.next();
  double hits = 0;
  double all = 0;
  for (uint64_t i = 0; i < kFitRequests; ++i) {
    const auto request = stream.next();
    if (!request.basic()) continue;
    const double weight = bytes ? static_cast<double>(request.object.size_bytes) : 1;
    all += weight;
    hits += request.offered_hit_reference ? weight : 0;
  }
  return 100 * hits / all;
}

TEST(ModelFit, ByteHitDiscriminationLowersTheByteHitRatioAlone) {
  const Workload with = polymix4_workload();
  Workload without = with;
  without.popularity.byte_hit_discrimination_percent = 0;
  const double documents = offered_percent(with, 29, false);
  EXPECT_NEAR(documents, 55, 1);
  EXPECT_NEAR(documents, offered_percent(without, 29, false), 1);
  EXPECT_NEAR(offered_percent(without, 29, true), 55, 4);
  EXPECT_LT(offered_percent(with, 29, true), documents - 9);
}

TEST(ModelFit, FixedRanksStayWithTheirObjectsAndPassOn) {
  constexpr uint64_t kSet = 50;
  Workload workload = simple_workload();
  workload.requests.recurrence_percent = 100;
  workload.popularity.working_set_objects_max = kSet;
  workload.popularity.zipf_exponent = 0.8;
  workload.popularity.zipf_order = ZipfOrder::kFixed;
  RequestStream stream(workload, 30);
  while (!stream.working_set_frozen()) stream.next({0, 0});
  const auto count = [&](uint64_t slid) {
    std::vector<double> counts(kSet);
    for (uint64_t i = 0; i < kFitRequests; ++i) {
      const uint64_t index = (stream.next().object.id >> 8) & 0xfffffffff;
      EXPECT_GT(index, slid);
      EXPECT_LE(index, slid + kSet);
      counts[(index - 1) % kSet] += 1;
    }
    return counts;
  };
  std::vector<double> wanted;
  for (double k = 1; k <= kSet; ++k) {
    wanted.push_back(kFitRequests * (std::pow(k + 1, 0.2) - std::pow(k, 0.2)) /
                     (std::pow(kSet + 1.0, 0.2) - 1));
  }
  EXPECT_LT(chi_square(count(0), wanted), chi_square_max(kSet));
  // Twenty new objects: each takes the rank of the one that it drives out.
  for (int i = 0; i < 20; ++i) stream.next({0, 0});
  EXPECT_LT(chi_square(count(20), wanted), chi_square_max(kSet));
}

TEST(ModelFit, ZipfMakesSomeObjectsPopularAndLeavesManyAskedOnce) {
  RequestStream stream(cdn_workload(), 31);
  std::map<uint64_t, uint64_t> asked;
  for (uint64_t i = 0; i < kFitRequests; ++i) {
    const auto request = stream.next();
    if (request.object.type == ContentType::kHtml) ++asked[request.object.id];
  }
  uint64_t once = 0;
  uint64_t most = 0;
  for (const auto& [id, count] : asked) {
    once += count == 1 ? 1 : 0;
    most = std::max(most, count);
  }
  EXPECT_GT(most, 50u);
  EXPECT_GT(once, asked.size() / 5);
}

TEST(ModelFit, EmbeddedObjectsHaveTheTypesThatArePartsOfPages) {
  const auto workload = cdn_workload();
  const ContentUniverse universe(workload.content, 32);
  std::map<ContentType, double> counts;
  std::set<uint64_t> ids;
  double all = 0;
  for (uint64_t page = 1; page <= 2000; ++page) {
    for (uint8_t embedded = 1; embedded <= 54; ++embedded) {
      const auto object = universe.object({0, ContentType::kHtml, page, embedded});
      counts[object.type] += 1;
      ids.insert(object.id);
      all += 1;
    }
  }
  EXPECT_EQ(static_cast<double>(ids.size()), all);
  double weight = 0;
  for (const auto& model : workload.content) weight += model.direct ? 0 : model.share_percent;
  std::vector<double> found;
  std::vector<double> wanted;
  for (const auto& model : workload.content) {
    if (model.direct) continue;
    found.push_back(counts[model.type]);
    wanted.push_back(all * model.share_percent / weight);
  }
  EXPECT_EQ(counts.size(), found.size());
  EXPECT_LT(chi_square(found, wanted), chi_square_max(found.size()));
}

TEST(ModelFit, TypesOfUsersHaveObjectsOfTheirOwn) {
  Workload workload = simple_workload();
  workload.content.clear();
  for (const char* name : {"video", "map-tile", "other", "a"}) {
    workload.content.emplace_back().type = *ContentType::named(name);
  }
  ASSERT_EQ(check_workload(workload), "");
  RequestStream stream(workload, 33);
  std::set<uint64_t> ids;
  std::map<ContentType, double> types;
  double fresh = 0;
  for (uint64_t i = 0; i < kFitObjects; ++i) {
    const auto request = stream.next();
    fresh += request.is_repeat ? 0 : 1;
    ids.insert(request.object.id);
    types[request.object.type] += 1;
    if (i % 1000 == 0) {
      EXPECT_EQ(parse_object_path(object_path(request.object)), request.object);
    }
  }
  EXPECT_EQ(static_cast<double>(ids.size()), fresh);
  EXPECT_EQ(types.size(), 4u);
  // Another type beside them changes none of the objects.
  const ContentUniverse one({workload.content[0]}, 33);
  const ContentUniverse four(workload.content, 33);
  const ObjectName name{0, workload.content[0].type, 17, 0};
  EXPECT_EQ(one.object(name), four.object(name));
}

TEST(ModelFit, BuiltInWorkloadsAreWhatTheirSourcesSay) {
  const ContentUniverse cdn(cdn_workload().content, 34);
  EXPECT_NEAR(cdn.expectation().cachable_percent, 90.4, 1);
  EXPECT_NEAR(cdn.expectation().size_bytes, 33 * 1024, 3 * 1024);
  RequestStream large(large_workload(), 35);
  double bytes = 0;
  for (uint64_t i = 0; i < kFitObjects; ++i) {
    bytes += static_cast<double>(large.next().object.size_bytes);
  }
  EXPECT_NEAR(bytes / kFitObjects / (1 << 20), 0.9 * 2 + 0.1 * 16, 0.4);
}

TEST(ModelFit, EqualSeedsGiveEqualStreamsForEveryWorkload) {
  for (const char* name : {"polymix4", "simple", "cdn", "large"}) {
    Workload workload = *built_in_workload(name);
    workload.requests.range_percent = 5;
    workload.robot.abort_percent = 3;
    workload.server.abort_percent = 3;
    RequestStream one(workload, 36);
    RequestStream same(workload, 36);
    for (int i = 0; i < 20000; ++i) {
      const auto request = one.next();
      const auto twin = same.next();
      ASSERT_EQ(object_path(request.object), object_path(twin.object));
      ASSERT_EQ(request.kind, twin.kind);
      ASSERT_EQ(request.method, twin.method);
      ASSERT_EQ(request.part, twin.part);
      ASSERT_EQ(request.abort_after_bytes, twin.abort_after_bytes);
      ASSERT_EQ(request.break_off, twin.break_off);
      ASSERT_EQ(request.offered_hit, twin.offered_hit);
    }
  }
}

}  // namespace
}  // namespace workload
