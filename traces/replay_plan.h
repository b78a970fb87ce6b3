// From a log to the requests that replay it: what, in which order, when, and of which size.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "traces/line_account.h"
#include "traces/line_reader.h"
#include "traces/record.h"
#include "traces/replay_rules.h"

namespace traces {

/// Which of the sizes that a URL's lines tell becomes its object's: objects keep one size.
enum class SizePolicy : uint8_t { kMax, kFirst, kLast };

/// What a URL whose query the log cut off stands for.
enum class StrippedQuery : uint8_t {
  kAsIs,        ///< One object: hits are over-stated.
  kUnique,      ///< Another object in every line: hits are under-stated.
  kUncachable,  ///< One object that no cache may keep.
};

/// How a log becomes a plan.
struct PlanOptions {
  std::string host = "log.invalid";  ///< For lines that name no host.
  SizePolicy size_policy = SizePolicy::kMax;
  std::optional<uint64_t> default_size_bytes;  ///< For objects whose size no line tells.
  StrippedQuery stripped_query = StrippedQuery::kAsIs;
  std::optional<uint64_t> requests_max;  ///< Only the first so many, in planned order.
};

/// One object, that is: one URL.
struct PlannedObject {
  std::string url;  ///< Normalised; distinct within a plan.
  uint64_t size_bytes = 0;
  std::string content_type;  ///< As first logged; empty where never.
  bool cachable = true;
};

/// One request, for the whole object.
struct PlannedRequest {
  std::chrono::nanoseconds offset{0};  ///< Since the first request; never falls in plan order.
  uint64_t line_number = 0;
  uint32_t object = 0;  ///< Index into ReplayPlan::objects.
  ReplayMethod method = ReplayMethod::kGet;
};

/// How far the lines of a log stand from the order in which the requests began. Counts all lines
/// that hold an access, replayed or not.
struct OrderReport {
  uint64_t out_of_order = 0;    ///< Lines that began earlier than the latest beginning before them.
  uint64_t backward_steps = 0;  ///< Lines that began earlier than the line just before them.
  std::chrono::nanoseconds lateness_max{0};  ///< Behind the latest beginning, at most.
  std::optional<storage::WallTime> first;    ///< Earliest beginning.
  std::optional<storage::WallTime> last;     ///< Latest beginning.
};

/// What the requests would give against a cache that is empty at first and never evicts.
struct PlainCount {
  uint64_t requests = 0;
  uint64_t hits = 0;
  uint64_t body_bytes = 0;
  uint64_t hit_body_bytes = 0;
};

/// The requests that replay a log, and the account of all its lines.
struct ReplayPlan {
  std::vector<PlannedObject> objects;
  std::vector<PlannedRequest> requests;  ///< In the order to start them.

  LineAccount lines;
  std::array<uint64_t, kLogFormatCount> lines_by_format{};  ///< Index: LogFormat.
  OrderReport order;
  uint64_t requests_of_stripped_urls = 0;  ///< Among `requests`.
  uint64_t urls_of_changing_size = 0;      ///< URLs whose lines tell more than one size.
  uint64_t requests_of_default_size = 0;   ///< Among `requests`: the size is the default one.
  uint64_t requests_spread_in_second = 0;  ///< Moved within the second that their stamp names.
  bool last_line_without_end = false;
  std::optional<LogError> read_error;  ///< The log could be read only up to here.

  /// Bytes of all objects that are requested.
  uint64_t working_set_bytes() const;
};

/// Makes a plan, line by line. One thread at a time. Memory grows with the number of requests
/// (about 100 bytes each) and of distinct URLs.
///
/// Requests are ordered by arrival, stably, so that the order of a log whose lines carry no better
/// time is kept. Requests that share a stamp of whole seconds are spread evenly over that second.
class ReplayPlanner {
 public:
  explicit ReplayPlanner(PlanOptions options);
  ~ReplayPlanner();
  ReplayPlanner(ReplayPlanner&&) noexcept;
  ReplayPlanner& operator=(ReplayPlanner&&) noexcept;

  void add(const Line& line);
  /// Ends the plan; the planner is of no use afterwards. The account then holds every line added.
  ReplayPlan finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Reads the whole log. A read error in the middle keeps what was read and is noted in the plan.
ReplayPlan plan_replay(LineReader& reader, const PlanOptions& options);

/// Counts the hits of an infinite cache over the plan, in order. A GET stores its object; a HEAD is
/// answered by a stored object, but stores none and has no body.
PlainCount plain_count(const ReplayPlan& plan);

}  // namespace traces
