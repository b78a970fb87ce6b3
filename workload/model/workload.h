// A workload, whole: content, requests, popularity, and how robots and servers behave.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "workload/model/content.h"
#include "workload/model/phases.h"

namespace workload {

/// Whom POST requests go to.
enum class PostTarget {
  kOwn,     ///< Uncachable objects of their own, each asked once: no cache loses anything by them.
  kRepeat,  ///< The object that the request would have got anyway, as the reference does: caches
            ///< that follow RFC 9111 section 4.4 then drop it.
};

/// Percentages of all direct requests; what embedded requests are follows from their page.
struct RequestModel {
  double recurrence_percent = 70;  ///< Share that revisits a known object.
  double ims_200_percent = 0;      ///< If-Modified-Since a second before the last change.
  double ims_304_percent = 0;      ///< If-Modified-Since a second after the last change.
  double reload_percent = 0;       ///< Cache-Control: no-cache.
  double etag_200_percent = 0;     ///< If-None-Match with the tag of the version before.
  double etag_304_percent = 0;     ///< If-None-Match with the tag of this version.
  double range_percent = 0;        ///< A part of the object. The rest is basic.
  /// Bytes of a part, cut to the object's size; it lies anywhere in the object.
  Distribution range_size = Distribution::constant(64 * 1024.0);
  double post_percent = 0;
  double head_percent = 0;  ///< The rest is GET.
  Distribution post_body;   ///< Bytes.
  PostTarget post_target = PostTarget::kOwn;
  friend bool operator==(const RequestModel& left, const RequestModel& right) = default;
};

/// Which objects of the working set have which rank.
enum class ZipfOrder {
  kNewest,  ///< The newest object is the most popular one, as in the reference.
  /// Each object keeps its rank for as long as it is in the working set; while that grows, the
  /// first object is the most popular one. An object that joins a working set which has stopped
  /// growing takes the rank of the one that leaves.
  kFixed,
};

/// How revisits choose among the working set.
struct PopularityModel {
  /// The reference's law: 0: uniform. s > 0: rank r = floor((n + 1)^(U^s)).
  double zipf_skew = 0;
  /// Zipf's law with this exponent, as zipf_rank() has it; 0: zipf_skew decides.
  double zipf_exponent = 0;
  ZipfOrder zipf_order = ZipfOrder::kNewest;
  double hot_set_percent = 0;        ///< Size of the hot set in percent of the working set.
  double hot_set_share_percent = 0;  ///< Share of revisits that go to the hot set.
  /// Chance that a cachable choice gives way to the smallest cachable object near it.
  double byte_hit_discrimination_percent = 0;
  /// The working set stops growing at so many objects (embedded ones not counted) and slides from
  /// then on; 0: it grows for ever.
  uint64_t working_set_objects_max = 0;
  friend bool operator==(const PopularityModel& left, const PopularityModel& right) = default;
};

/// How a robot behaves.
struct RobotModel {
  double requests_per_second = 0.4;  ///< Poisson, of each robot.
  uint64_t connections_max = 4;      ///< Open at once, of each robot.
  /// Share of the responses with a body that the robot breaks off in it.
  double abort_percent = 0;
  Distribution requests_per_connection = Distribution::zipf(64);
  friend bool operator==(const RobotModel& left, const RobotModel& right) = default;
};

/// How the origin behaves.
struct ServerModel {
  Distribution think;  ///< Durations.
  Distribution requests_per_connection = Distribution::zipf(16);
  std::chrono::nanoseconds idle_timeout = std::chrono::seconds(15);
  /// Share of the responses that the origin breaks off in the body.
  double abort_percent = 0;
  friend bool operator==(const ServerModel& left, const ServerModel& right) = default;
};

/// Most content types of a workload.
inline constexpr size_t kContentTypesMax = 64;

struct Workload {
  std::string name;
  std::vector<ContentModel> content;  ///< Each type at most once, at most kContentTypesMax.
  RequestModel requests;
  PopularityModel popularity;
  RobotModel robot;
  ServerModel server;
  std::vector<Phase> phases;  ///< Empty: a run has those that its goals say.
  friend bool operator==(const Workload& left, const Workload& right) = default;
};

/// PolyMix-4, except for its phases, network delays and aborts.
Workload polymix4_workload();
/// Pages of today with what they embed, popular by Zipf's law, and validation by entity tags.
Workload cdn_workload();
/// Video segments and software downloads, partly by ranges, some broken off.
Workload large_workload();
/// One content type, no think time, GET only: the smallest thing that fills a cache.
Workload simple_workload();
/// The workload of that name; nothing for a name that is not built in.
std::optional<Workload> built_in_workload(std::string_view name);
/// The names of all that are built in, separated by commas, for messages to people.
std::string_view built_in_workload_names();

/// What is wrong with a workload, naming the key as workload files spell it; empty where all is
/// well.
std::string check_workload(const Workload& workload);

}  // namespace workload
