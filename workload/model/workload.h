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
  double reload_percent = 0;       ///< Cache-Control: no-cache. The rest is basic.
  double post_percent = 0;
  double head_percent = 0;  ///< The rest is GET.
  Distribution post_body;   ///< Bytes.
  PostTarget post_target = PostTarget::kOwn;
  friend bool operator==(const RequestModel& left, const RequestModel& right) = default;
};

/// How revisits choose among the working set.
struct PopularityModel {
  /// 0: uniform. s > 0: by recency, rank r = floor((n + 1)^(U^s)), the newest the most popular.
  double zipf_skew = 0;
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
  Distribution requests_per_connection = Distribution::zipf(64);
  friend bool operator==(const RobotModel& left, const RobotModel& right) = default;
};

/// How the origin behaves.
struct ServerModel {
  Distribution think;  ///< Durations.
  Distribution requests_per_connection = Distribution::zipf(16);
  std::chrono::nanoseconds idle_timeout = std::chrono::seconds(15);
  friend bool operator==(const ServerModel& left, const ServerModel& right) = default;
};

struct Workload {
  std::string name;
  std::vector<ContentModel> content;  ///< Each type at most once.
  RequestModel requests;
  PopularityModel popularity;
  RobotModel robot;
  ServerModel server;
  std::vector<Phase> phases;  ///< Empty: a run has those that its goals say.
  friend bool operator==(const Workload& left, const Workload& right) = default;
};

/// PolyMix-4, except for its phases, network delays and aborts.
Workload polymix4_workload();
/// One content type, no think time, GET only: the smallest thing that fills a cache.
Workload simple_workload();
/// `polymix4` or `simple`; nothing for any other name.
std::optional<Workload> built_in_workload(std::string_view name);

/// What is wrong with a workload, naming the key as workload files spell it; empty where all is
/// well.
std::string check_workload(const Workload& workload);

}  // namespace workload
