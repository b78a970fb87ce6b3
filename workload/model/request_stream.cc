#include "workload/model/request_stream.h"

#include <algorithm>
#include <cmath>

namespace workload {
namespace {

constexpr uint64_t kStreamPurpose = 0x73747265616dULL;
/// Marks the worlds of objects that only POST requests go to.
constexpr uint16_t kPostWorldBit = 0x8000;
constexpr uint64_t kNeighbourDistanceMax = 4;

bool draw(storage::Random& random, double percent) {
  return random.uniform() * 100 < percent;
}

}  // namespace

RequestStream::RequestStream(const Workload& workload, uint64_t seed, uint16_t world)
    : workload_(workload),
      universe_(workload.content, seed),
      random_(storage::Random(seed).fork(kStreamPurpose).fork(world)),
      world_(world) {
  for (const auto& model : workload_.content) {
    if (!model.direct || model.share_percent <= 0) continue;
    Collection collection;
    collection.type = model.type;
    collection.share = model.share_percent;
    collections_.push_back(collection);
  }
  std::sort(collections_.begin(), collections_.end(),
            [](const Collection& left, const Collection& right) { return left.type < right.type; });
  double total = 0;
  for (auto& collection : collections_) collection.share = total += collection.share;
  for (auto& collection : collections_) collection.share /= total;
}

RequestStream::Collection& RequestStream::choose_collection() {
  const double place = random_.uniform();
  for (auto& collection : collections_) {
    if (place < collection.share) return collection;
  }
  return collections_.back();
}

uint64_t RequestStream::choose_rank(uint64_t count) {
  const auto& popularity = workload_.popularity;
  if (popularity.zipf_exponent > 0) return zipf_rank(count, popularity.zipf_exponent, random_);
  if (popularity.zipf_skew == 0) return 1 + random_.below(count);
  const double exponent = std::pow(random_.uniform(), popularity.zipf_skew);
  const double rank = std::floor(std::pow(static_cast<double>(count) + 1, exponent));
  return std::clamp<uint64_t>(static_cast<uint64_t>(rank), 1, count);
}

uint64_t RequestStream::choose_index(uint64_t newest, uint64_t count) {
  const uint64_t rank = choose_rank(count);
  if (workload_.popularity.zipf_order == ZipfOrder::kNewest) return newest + 1 - rank;
  // The one object of the window whose index has the same remainder as the rank: it stays the same
  // one until it leaves, and the one that comes `count` later takes its place.
  const uint64_t first = newest - count + 1;
  return first + (rank % count + count - first % count) % count;
}

void RequestStream::place_hot_set(Collection& collection) {
  const uint64_t window = std::min(collection.window, collection.newest);
  const bool left_behind = collection.hot_position + window <= collection.newest;
  // While the working set grows, the hot set moves on each time that it has doubled; otherwise the
  // first objects of a run would be the hot ones until the working set freezes.
  const bool outgrown = window >= 2 * collection.hot_chosen_window;
  if (collection.hot_position != 0 && !left_behind && !outgrown) return;
  collection.hot_position = collection.newest - random_.below(window);
  collection.hot_chosen_window = window;
}

uint64_t RequestStream::smallest_cachable_near(const Collection& collection, uint64_t index) const {
  const uint64_t window = std::min(collection.window, collection.newest);
  const uint64_t first =
      std::max(collection.newest - window + 1,
               index > kNeighbourDistanceMax ? index - kNeighbourDistanceMax : 1);
  const uint64_t last = std::min(collection.newest, index + kNeighbourDistanceMax);
  uint64_t best = index;
  uint64_t best_size = universe_.size_bytes({world_, collection.type, index, 0});
  for (uint64_t each = first; each <= last; ++each) {
    const ObjectName name{world_, collection.type, each, 0};
    if (each == index || !universe_.cachable(name)) continue;
    const uint64_t size = universe_.size_bytes(name);
    if (size < best_size) {
      best = each;
      best_size = size;
    }
  }
  return best;
}

ObjectName RequestStream::choose_object(Collection& collection, bool repeat) {
  ObjectName name{world_, collection.type, collection.newest + 1, 0};
  if (!repeat) return name;
  const auto& popularity = workload_.popularity;
  const uint64_t window = std::min(collection.window, collection.newest);
  uint64_t newest = collection.newest;
  uint64_t count = window;
  if (popularity.hot_set_percent > 0 && draw(random_, popularity.hot_set_share_percent)) {
    place_hot_set(collection);
    const double hot = static_cast<double>(window) * popularity.hot_set_percent / 100;
    const uint64_t first = collection.newest - window + 1;
    newest = collection.hot_position;
    count = std::min(std::max<uint64_t>(1, static_cast<uint64_t>(std::llround(hot))),
                     newest - first + 1);
  }
  name.index = choose_index(newest, count);
  if (popularity.byte_hit_discrimination_percent > 0 &&
      draw(random_, popularity.byte_hit_discrimination_percent) && universe_.cachable(name)) {
    name.index = smallest_cachable_near(collection, name.index);
  }
  return name;
}

void RequestStream::draw_kind_and_method(IntendedRequest& request, const StreamFactors& factors) {
  const auto& model = workload_.requests;
  if (draw(random_, 100 * factors.special)) {
    const double place = random_.uniform() * 100;
    const double ims_200 = model.ims_200_percent;
    const double ims_304 = ims_200 + model.ims_304_percent;
    if (place < ims_200) {
      request.kind = RequestKind::kIms200;
    } else if (place < ims_304) {
      request.kind = RequestKind::kIms304;
    } else if (double end = ims_304 + model.reload_percent; place < end) {
      request.kind = RequestKind::kReload;
    } else if (place < (end += model.etag_200_percent)) {
      request.kind = RequestKind::kEtag200;
    } else if (place < (end += model.etag_304_percent)) {
      request.kind = RequestKind::kEtag304;
    } else if (place < end + model.range_percent) {
      request.kind = RequestKind::kRange;
    }
  }
  if (draw(random_, 100 * factors.special)) {
    const double place = random_.uniform() * 100;
    if (place < model.post_percent) {
      request.method = RequestMethod::kPost;
      request.kind = RequestKind::kBasic;
      request.request_body_bytes = model.post_body.sample_size_bytes(random_);
    } else if (place < model.post_percent + model.head_percent) {
      request.method = RequestMethod::kHead;
      // A range means nothing to HEAD (RFC 9110 section 14.2).
      if (request.kind == RequestKind::kRange) request.kind = RequestKind::kBasic;
    }
  }
}

void RequestStream::draw_part(IntendedRequest& request) {
  if (request.kind != RequestKind::kRange) return;
  const uint64_t size = request.object.size_bytes;
  if (size == 0) {  // It has no part.
    request.kind = RequestKind::kBasic;
    return;
  }
  auto& part = request.part;
  const uint64_t wish = workload_.requests.range_size.sample_size_bytes(random_);
  part.size_bytes = std::clamp<uint64_t>(wish, 1, size);
  part.offset_bytes = random_.below(size - part.size_bytes + 1);
}

void RequestStream::draw_aborts(IntendedRequest& request) {
  const double origin_percent = workload_.server.abort_percent;
  if (origin_percent > 0 && draw(random_, origin_percent)) {
    request.break_off = static_cast<uint16_t>(random_.below(uint64_t{1} << 16));
  }
  const double percent = workload_.robot.abort_percent;
  if (percent <= 0 || request.method != RequestMethod::kGet || must_get_304(request.kind)) return;
  if (!draw(random_, percent)) return;
  const uint64_t body =
      request.kind == RequestKind::kRange ? request.part.size_bytes : request.object.size_bytes;
  if (body > 0) request.abort_after_bytes = random_.below(body);
}

void RequestStream::judge(IntendedRequest& request) {
  const auto& object = request.object;
  request.offered_hit_reference = request.basic() && request.is_repeat && object.cachable;
  if (request.method == RequestMethod::kPost) {
    infinite_cache_.invalidate(object.id);
  } else if (request.basic()) {
    request.offered_hit = request.break_off ? object.cachable && infinite_cache_.holds(object.id)
                                            : infinite_cache_.get(object.id, object.cachable);
  } else if (request.method == RequestMethod::kGet && !must_get_304(request.kind) &&
             request.kind != RequestKind::kRange && !request.abort_after_bytes &&
             !request.break_off && object.cachable) {
    infinite_cache_.store(object.id);
  }
}

IntendedRequest RequestStream::next_embedded() {
  ObjectName name = page_name_;
  name.embedded = static_cast<uint8_t>(++embedded_done_);
  IntendedRequest request;
  request.sequence = sequence_++;
  request.page_sequence = page_.sequence;
  request.embedded = true;
  request.embedded_following = embedded_total_ - embedded_done_;
  request.object = universe_.object(name);
  request.kind = page_.kind;
  request.is_repeat = page_.is_repeat;
  draw_aborts(request);
  judge(request);
  return request;
}

IntendedRequest RequestStream::next(const StreamFactors& factors) {
  if (embedded_done_ < embedded_total_) return next_embedded();
  Collection& collection = choose_collection();
  const bool wish_repeat =
      draw(random_, workload_.requests.recurrence_percent * factors.recurrence);
  const bool repeat = wish_repeat && collection.newest > 0;
  ObjectName name = choose_object(collection, repeat);
  IntendedRequest request;
  request.sequence = request.page_sequence = sequence_++;
  draw_kind_and_method(request, factors);
  const bool post = request.method == RequestMethod::kPost;
  if (post && workload_.requests.post_target == PostTarget::kOwn) {
    name = {static_cast<uint16_t>(world_ | kPostWorldBit), collection.type, ++posts_, 0};
    request.object = universe_.object(name);
    request.object.cachable = false;
  } else {
    request.object = universe_.object(name);
    request.is_repeat = repeat;
    if (!repeat) add_to_working_set(collection);
  }
  draw_part(request);
  draw_aborts(request);
  judge(request);
  const bool brings_embedded = request.method == RequestMethod::kGet &&
                               !must_get_304(request.kind) && request.kind != RequestKind::kRange &&
                               !request.abort_after_bytes;
  embedded_total_ = brings_embedded ? universe_.embedded_count(name) : 0;
  embedded_done_ = 0;
  request.embedded_following = embedded_total_;
  page_name_ = name;
  page_ = request;
  return request;
}

void RequestStream::add_to_working_set(Collection& collection) {
  ++collection.newest;
  if (!frozen_) collection.window = collection.newest;
  const uint64_t cap = workload_.popularity.working_set_objects_max;
  if (cap != 0 && !frozen_ && working_set_objects() >= cap) freeze_working_set();
}

void RequestStream::freeze_working_set() {
  if (frozen_) return;
  frozen_ = true;
  // A type that has not occurred yet still gets one object to come back to.
  for (auto& collection : collections_) {
    collection.window = std::max<uint64_t>(1, collection.newest);
  }
}

uint64_t RequestStream::working_set_objects() const {
  uint64_t objects = 0;
  for (const auto& collection : collections_) {
    objects += std::min(collection.window, collection.newest);
  }
  return objects;
}

}  // namespace workload
