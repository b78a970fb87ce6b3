#include "workload/model/content.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace workload {
namespace {

// One random source a property, so that a change to one property leaves the others as they were.
constexpr uint64_t kSizePurpose = 1;
constexpr uint64_t kCachablePurpose = 2;
constexpr uint64_t kLifePurpose = 3;
constexpr uint64_t kEmbeddedPurpose = 4;
constexpr uint64_t kTypePurpose = 5;

constexpr unsigned kWorldShift = 48;
constexpr unsigned kTypeShift = 46;
constexpr unsigned kIndexShift = 8;
/// Types whose code has room in an id.
constexpr uint64_t kTypesNumbered = 4;

/// "Now" of every object's life cycle: a fixed instant, as an object must not depend on when it is
/// asked for, and early enough that Last-Modified lies before Date on any machine whose clock is
/// set.
constexpr int64_t kModelNowUnixS = 1700000000;

constexpr double kNsPerS = 1e9;

/// Previous and next change of an object, in seconds from now.
struct Changes {
  double previous_s;
  double next_s;
};

Changes changes_around_now(const LifeCycle& cycle, storage::Random random) {
  const double length_s = std::max(1.0, cycle.length.sample(random) / kNsPerS);
  const double now_s = length_s * random.uniform();
  const double spread_s = length_s * cycle.variance_percent / 100;
  // Change k lies at k * length, give or take half the spread; the ones around now are among these.
  std::array<double, 4> at_s;
  for (size_t k = 0; k < at_s.size(); ++k) {
    at_s[k] = (static_cast<double>(k) - 1) * length_s + spread_s * (random.uniform() - 0.5);
  }
  std::sort(at_s.begin(), at_s.end());
  const auto next = std::upper_bound(at_s.begin() + 1, at_s.end() - 1, now_s);
  return {*(next - 1) - now_s, *next - now_s};
}

}  // namespace

std::vector<const ContentModel*> embeddable_types(const std::vector<ContentModel>& content) {
  std::vector<const ContentModel*> types;
  for (const auto& model : content) {
    if (!model.direct) types.push_back(&model);
  }
  if (!types.empty()) return types;
  for (const auto& model : content) {
    if (model.type == ContentType::kImage) types.push_back(&model);
  }
  return types;
}

uint64_t ObjectName::id() const {
  const uint64_t number =
      (static_cast<uint64_t>(world) << kWorldShift) | (index << kIndexShift) | embedded;
  const uint64_t code = type.code();
  return code < kTypesNumbered ? number | code << kTypeShift : storage::mix64(code + number);
}

ContentUniverse::ContentUniverse(std::vector<ContentModel> content, uint64_t seed)
    : content_(std::move(content)), seed_(seed) {
  const auto types = embeddable_types(content_);
  const bool weighted = std::any_of(
      types.begin(), types.end(), [](const ContentModel* each) { return each->share_percent > 0; });
  double total = 0;
  for (const auto* const each : types) {
    total += weighted ? each->share_percent : 1;
    embeddable_.push_back({each->type, total});
  }
  for (auto& each : embeddable_) each.share /= total;
}

const ContentModel* ContentUniverse::model(ContentType type) const {
  for (const auto& model : content_) {
    if (model.type == type) return &model;
  }
  return nullptr;
}

storage::Random ContentUniverse::source(const ObjectName& name, uint64_t purpose) const {
  return storage::Random(storage::mix64(seed_) ^ name.id()).fork(purpose);
}

ContentType ContentUniverse::embedded_type(const ObjectName& name) const {
  if (embeddable_.size() > 1) {
    const double place = source(name, kTypePurpose).uniform();
    for (const auto& each : embeddable_) {
      if (place < each.share) return each.type;
    }
  }
  return embeddable_.back().type;
}

const ContentModel& ContentUniverse::model_of(const ObjectName& name) const {
  return *model(name.embedded == 0 ? name.type : embedded_type(name));
}

uint64_t ContentUniverse::size_bytes(const ObjectName& name) const {
  auto size_source = source(name, kSizePurpose);
  return model_of(name).size.sample_size_bytes(size_source);
}

bool ContentUniverse::cachable(const ObjectName& name) const {
  return source(name, kCachablePurpose).uniform() * 100 < model_of(name).cachable_percent;
}

ObjectSpec ContentUniverse::object(const ObjectName& name) const {
  const ContentModel& content = model_of(name);
  ObjectSpec object;
  object.seed = seed_;
  object.id = name.id();
  object.type = content.type;
  object.size_bytes = size_bytes(name);
  object.cachable = cachable(name);
  const Changes changes = changes_around_now(content.life_cycle, source(name, kLifePurpose));
  object.last_modified_unix_s = std::clamp<int64_t>(
      kModelNowUnixS + static_cast<int64_t>(std::floor(changes.previous_s)), 1, kModelNowUnixS);
  object.lifetime_s = static_cast<int64_t>(
      std::clamp(std::ceil(changes.next_s), 1.0, static_cast<double>(kLifetimeMaxS)));
  return object;
}

uint64_t ContentUniverse::embedded_count(const ObjectName& name) const {
  if (name.embedded != 0) return 0;
  const ContentModel* const page = model(name.type);
  if (page == nullptr || page->embedded.always_zero()) return 0;
  auto embedded_source = source(name, kEmbeddedPurpose);
  return std::min(page->embedded.sample_count(embedded_source), kEmbeddedMax);
}

ContentUniverse::Expectation ContentUniverse::expectation() const {
  double weight = 0;
  double image_weight = 0;
  double size = 0;
  double cachable = 0;
  const auto add = [&](const ContentModel& each, double share) {
    weight += share;
    size += share * each.size.mean();
    cachable += share * each.cachable_percent;
    if (each.type == ContentType::kImage) image_weight += share;
  };
  for (const auto& each : content_) {
    if (!each.direct) continue;
    add(each, each.share_percent);
    const double embedded = each.share_percent * each.embedded.mean();
    double before = 0;
    for (const auto& [type, share] : embeddable_) {
      add(*model(type), embedded * (share - before));
      before = share;
    }
  }
  if (weight == 0) return {};
  return {size / weight, cachable / weight, 100 * image_weight / weight};
}

}  // namespace workload
