// A plan's URLs as objects of the workload: what is asked for in place of what the log names.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "traces/replay_plan.h"
#include "workload/model/object.h"
#include "workload/model/request_stream.h"

namespace workload {

/// One request of a replay.
struct ReplayStep {
  std::chrono::nanoseconds due{0};  ///< Since the first request, as logged; never falls.
  uint32_t object = 0;              ///< Index into ReplayWork::objects.
  RequestMethod method = RequestMethod::kGet;
  bool offered_hit = false;  ///< An infinite cache, asked in this order, has the object.
};

/// All requests of a replay and the objects they ask for.
struct ReplayWork {
  std::vector<ObjectSpec> objects;
  std::vector<ReplayStep> steps;
  uint64_t id_collisions = 0;  ///< URLs whose hash was taken; they got another id.
  /// Shares of an infinite cache over the steps, in percent; nothing where there is nothing to
  /// share. Byte shares leave HEAD out.
  std::optional<double> ideal_hit_ratio_percent;
  std::optional<double> ideal_byte_hit_ratio_percent;
};

/// Makes an object of each URL: its id is a hash of the URL (distinct within the work), its size
/// and cachability are the plan's, its type follows the media type or else the extension. All were
/// modified at one fixed time and stay fresh for a year, so that no cache validates anything.
ReplayWork make_replay_work(const traces::ReplayPlan& plan, uint64_t seed);

/// The content type for a media type (`image/png`, parameters allowed), or, where that is empty or
/// says nothing, for an extension without its point.
ContentType content_type_of(std::string_view media_type, std::string_view extension);

}  // namespace workload
