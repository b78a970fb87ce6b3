// The sequence of requests that the robots intend: a function of workload and seed alone.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "storage/base/random.h"
#include "workload/model/infinite_cache.h"
#include "workload/model/workload.h"

namespace workload {

enum class RequestKind : uint8_t {
  kBasic,
  kIms200,   ///< If-Modified-Since a second before last_modified: must get 200.
  kIms304,   ///< If-Modified-Since a second after last_modified: must get 304.
  kReload,   ///< Cache-Control: no-cache and Pragma: no-cache.
  kEtag200,  ///< If-None-Match with the tag of the version before: must get 200.
  kEtag304,  ///< If-None-Match with the object's tag: must get 304.
  kRange,    ///< A part of the object: should get 206.
};

/// Whether the right answer is a 304, which brings no body.
constexpr bool must_get_304(RequestKind kind) {
  return kind == RequestKind::kIms304 || kind == RequestKind::kEtag304;
}

enum class RequestMethod : uint8_t { kGet, kHead, kPost };

/// A part of a body; whole where `size_bytes` is 0.
struct BodyPart {
  uint64_t offset_bytes = 0;
  uint64_t size_bytes = 0;
  friend bool operator==(const BodyPart& left, const BodyPart& right) = default;
};

/// A request as it is meant, before anything is sent.
struct IntendedRequest {
  uint64_t sequence = 0;       ///< Counts from 0.
  uint64_t page_sequence = 0;  ///< `sequence` of the page; its own where not embedded.
  bool embedded = false;
  /// How many embedded requests of the same page follow this one in the stream, with nothing in
  /// between: take a page whole by calling next() so many times more.
  uint64_t embedded_following = 0;
  ObjectSpec object;
  RequestKind kind = RequestKind::kBasic;
  RequestMethod method = RequestMethod::kGet;
  uint64_t request_body_bytes = 0;  ///< Of a POST.
  BodyPart part;                    ///< Of kRange: within the object, never empty.
  /// The robot is to go away when so many bytes of the body have come, fewer than it has.
  std::optional<uint64_t> abort_after_bytes;
  /// The origin is asked to break off what it sends for this, after so many 65536ths of the body.
  std::optional<uint16_t> break_off;
  bool is_repeat = false;  ///< Chosen from the working set.
  /// The reference's definition: basic, GET, a repeat, and cachable.
  bool offered_hit_reference = false;
  /// What an infinite cache would answer itself: basic, GET, and held, given all requests before
  /// this one (stored by one that stores, not invalidated by a POST since). The better figure: it
  /// leaves out repeats of what only a HEAD, a POST or a 304 has touched.
  bool offered_hit = false;

  /// Basic, GET and not to be broken off: what hit ratios are a share of.
  bool basic() const {
    return kind == RequestKind::kBasic && method == RequestMethod::kGet && !abort_after_bytes;
  }
};

/// What a phase multiplies the shares of a workload with; each 0 to 1.
struct StreamFactors {
  double recurrence = 1;
  double special = 1;  ///< Chance that kind and method are drawn at all; else basic, GET.
};

/// Produces the intended requests. Two streams of equal workload, seed, world and factors are
/// equal, whatever the timing. Not safe for concurrent use.
///
/// Each direct request is chosen in this order: content type, repeat or new, object, kind, method,
/// part, abort. Embedded requests follow their page and inherit is_repeat and kind; a page whose
/// body does not arrive whole (304, HEAD, POST, a range, broken off) brings none. Revisits are on
/// from the second request of a type, so the stated offered hit ratio holds from the start of a
/// run.
class RequestStream {
 public:
  /// `workload` must pass check_workload(). Generators that run side by side on one seed have
  /// different `world`s, below 2^15.
  RequestStream(const Workload& workload, uint64_t seed, uint16_t world = 0);

  IntendedRequest next(const StreamFactors& factors = {});

  /// Stops the growth of the working set now, as at working_set_objects_max. Idempotent.
  void freeze_working_set();
  bool working_set_frozen() const { return frozen_; }
  /// Direct objects that a revisit can choose.
  uint64_t working_set_objects() const;

 private:
  /// The direct objects of one content type, numbered from 1; the window is the last `window`.
  struct Collection {
    ContentType type = ContentType::kOther;
    double share = 0;                ///< Cumulated over the collections, the last one 1.
    uint64_t newest = 0;             ///< Index of the newest object.
    uint64_t window = 0;             ///< Size of the working set; frozen or `newest`.
    uint64_t hot_position = 0;       ///< Newest index of the hot set; 0: not chosen yet.
    uint64_t hot_chosen_window = 0;  ///< `window` when the position was chosen.
  };

  Collection& choose_collection();
  ObjectName choose_object(Collection& collection, bool repeat);
  uint64_t choose_index(uint64_t newest, uint64_t count);
  uint64_t choose_rank(uint64_t count);
  void draw_part(IntendedRequest& request);
  void draw_aborts(IntendedRequest& request);
  void place_hot_set(Collection& collection);
  uint64_t smallest_cachable_near(const Collection& collection, uint64_t index) const;
  void draw_kind_and_method(IntendedRequest& request, const StreamFactors& factors);
  void judge(IntendedRequest& request);
  IntendedRequest next_embedded();
  void add_to_working_set(Collection& collection);

  Workload workload_;
  ContentUniverse universe_;
  storage::Random random_;
  uint16_t world_;
  std::vector<Collection> collections_;
  bool frozen_ = false;
  uint64_t sequence_ = 0;
  uint64_t posts_ = 0;
  InfiniteCache infinite_cache_;

  ObjectName page_name_;
  IntendedRequest page_;  ///< The page whose embedded requests are coming.
  uint64_t embedded_total_ = 0;
  uint64_t embedded_done_ = 0;
};

}  // namespace workload
