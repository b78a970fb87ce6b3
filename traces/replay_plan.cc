#include "traces/replay_plan.h"

#include <algorithm>
#include <limits>
#include <unordered_map>
#include <variant>

#include "traces/log_format.h"

namespace traces {

namespace {

constexpr std::chrono::nanoseconds kSecond = std::chrono::seconds(1);

/// Sums of hostile sizes stop at the top instead of wrapping round.
void add_bytes(uint64_t& sum, uint64_t size_bytes) {
  sum += std::min(size_bytes, std::numeric_limits<uint64_t>::max() - sum);
}

/// A request whose object's size is still open, because a later line may tell it.
struct Candidate {
  storage::WallTime arrival;
  uint64_t line_number = 0;
  std::optional<uint64_t> whole_size_bytes;
  uint32_t url = 0;
  ReplayMethod method = ReplayMethod::kGet;
  bool whole_seconds = false;
};

/// What the lines of one URL tell about its object.
struct UrlFacts {
  const std::string* url = nullptr;  ///< Owned by the table's key.
  std::string content_type;
  bool stripped_query = false;
  std::optional<uint64_t> size_bytes;
  uint64_t size_bytes_least = std::numeric_limits<uint64_t>::max();
  uint64_t size_bytes_most = 0;
  std::optional<uint32_t> object;
};

void learn_size(UrlFacts& facts, uint64_t size_bytes, SizePolicy policy) {
  facts.size_bytes_least = std::min(facts.size_bytes_least, size_bytes);
  facts.size_bytes_most = std::max(facts.size_bytes_most, size_bytes);
  if (!facts.size_bytes || policy == SizePolicy::kLast) {
    facts.size_bytes = size_bytes;
  } else if (policy == SizePolicy::kMax) {
    facts.size_bytes = facts.size_bytes_most;
  }
}

}  // namespace

struct ReplayPlanner::State {
  PlanOptions options;
  ReplayPlan plan;
  std::vector<Candidate> candidates;
  std::unordered_map<std::string, uint32_t> url_index;
  std::vector<UrlFacts> urls;

  std::optional<storage::WallTime> previous_arrival;
  std::vector<storage::WallTime> starts;  ///< One a planned request.
  std::vector<bool> whole_seconds;        ///< One a planned request.

  void note_order(storage::WallTime arrival);
  UrlFacts& facts_of(Replayable& access, uint32_t& index);
  std::optional<uint64_t> size_of(const Candidate& candidate, const UrlFacts& facts) const;
  uint32_t object_of(const Candidate& candidate, UrlFacts& facts, uint64_t size_bytes);
  void plan_candidate(const Candidate& candidate);
  void skip(const Candidate& candidate, SkipReason reason);
  void spread_whole_seconds();
  void set_offsets();
};

void ReplayPlanner::State::note_order(storage::WallTime arrival) {
  auto& order = plan.order;
  if (previous_arrival && arrival < *previous_arrival) ++order.backward_steps;
  previous_arrival = arrival;
  if (order.last && arrival < *order.last) {
    ++order.out_of_order;
    order.lateness_max = std::max(order.lateness_max, *order.last - arrival);
  }
  if (!order.first || arrival < *order.first) order.first = arrival;
  if (!order.last || arrival > *order.last) order.last = arrival;
}

UrlFacts& ReplayPlanner::State::facts_of(Replayable& access, uint32_t& index) {
  const auto [found, added] =
      url_index.try_emplace(std::move(access.url), static_cast<uint32_t>(urls.size()));
  index = found->second;
  if (added) {
    urls.emplace_back();
    urls.back().url = &found->first;
    urls.back().stripped_query = access.stripped_query;
  }
  return urls[index];
}

std::optional<uint64_t> ReplayPlanner::State::size_of(const Candidate& candidate,
                                                      const UrlFacts& facts) const {
  // Lines that stand for objects of their own know their own size best.
  const bool own_object = facts.stripped_query && options.stripped_query == StrippedQuery::kUnique;
  if (own_object && candidate.whole_size_bytes) return candidate.whole_size_bytes;
  if (facts.size_bytes) return facts.size_bytes;
  return options.default_size_bytes;
}

uint32_t ReplayPlanner::State::object_of(const Candidate& candidate, UrlFacts& facts,
                                         uint64_t size_bytes) {
  const bool own_object = facts.stripped_query && options.stripped_query == StrippedQuery::kUnique;
  if (!own_object && facts.object) return *facts.object;
  PlannedObject object;
  object.url = *facts.url;
  // Normalised URLs have no fragment, so this is no other URL of the log.
  if (own_object) object.url += "#" + std::to_string(candidate.line_number);
  object.size_bytes = size_bytes;
  object.content_type = facts.content_type;
  object.cachable = !facts.stripped_query || options.stripped_query != StrippedQuery::kUncachable;
  const auto index = static_cast<uint32_t>(plan.objects.size());
  plan.objects.push_back(std::move(object));
  if (!own_object) facts.object = index;
  return index;
}

void ReplayPlanner::State::skip(const Candidate& candidate, SkipReason reason) {
  const std::string_view method = candidate.method == ReplayMethod::kHead ? "HEAD " : "GET ";
  plan.lines.count_skipped(reason, candidate.line_number,
                           std::string(method) + *urls[candidate.url].url);
}

void ReplayPlanner::State::plan_candidate(const Candidate& candidate) {
  auto& facts = urls[candidate.url];
  const auto size_bytes = size_of(candidate, facts);
  if (!size_bytes) return skip(candidate, SkipReason::kNoSizeKnown);
  if (*size_bytes > kObjectSizeBytesMax) return skip(candidate, SkipReason::kTooLarge);
  if (options.requests_max && plan.requests.size() >= *options.requests_max) {
    return skip(candidate, SkipReason::kOverLimit);
  }
  PlannedRequest request;
  request.line_number = candidate.line_number;
  request.object = object_of(candidate, facts, *size_bytes);
  request.method = candidate.method;
  plan.requests.push_back(request);
  starts.push_back(candidate.arrival);
  whole_seconds.push_back(candidate.whole_seconds);
  plan.lines.count_used();
  if (facts.stripped_query) ++plan.requests_of_stripped_urls;
  if (!facts.size_bytes && !candidate.whole_size_bytes) ++plan.requests_of_default_size;
}

/// Gives the requests of one stamp equal distances within its second.
void ReplayPlanner::State::spread_whole_seconds() {
  for (size_t begin = 0; begin < starts.size();) {
    size_t end = begin + 1;
    while (end < starts.size() && starts[end] == starts[begin] && whole_seconds[end] &&
           whole_seconds[begin]) {
      ++end;
    }
    const auto count = static_cast<int64_t>(end - begin);
    const storage::WallTime second = starts[begin];
    for (int64_t at = 1; at < count; ++at) {
      starts[begin + static_cast<size_t>(at)] = second + kSecond / count * at;
      ++plan.requests_spread_in_second;
    }
    begin = end;
  }
}

/// Spread requests may now lie behind a later one with a finer stamp: the plan's order stays, and
/// gaps are never negative.
void ReplayPlanner::State::set_offsets() {
  for (size_t at = 0; at < starts.size(); ++at) {
    if (at > 0) starts[at] = std::max(starts[at], starts[at - 1]);
    plan.requests[at].offset = starts[at] - starts[0];
  }
}

ReplayPlanner::ReplayPlanner(PlanOptions options) : state_(std::make_unique<State>()) {
  state_->options = std::move(options);
}
ReplayPlanner::~ReplayPlanner() = default;
ReplayPlanner::ReplayPlanner(ReplayPlanner&&) noexcept = default;
ReplayPlanner& ReplayPlanner::operator=(ReplayPlanner&&) noexcept = default;

void ReplayPlanner::add(const Line& line) {
  auto& plan = state_->plan;
  plan.last_line_without_end = !line.ended;
  if (line.too_long) {
    plan.lines.count_skipped(SkipReason::kTooLong, line.number, line.text);
    return;
  }
  const ParsedLine parsed = parse_log_line(line.text);
  if (const auto* fault = std::get_if<LineFault>(&parsed)) {
    plan.lines.count_skipped(fault->reason, line.number, line.text);
    return;
  }
  const auto& record = std::get<AccessRecord>(parsed);
  ++plan.lines_by_format[static_cast<size_t>(record.format)];
  state_->note_order(record.arrival);
  SkipReason reason{};
  auto access = replayable(record, state_->options.host, reason);
  if (!access) {
    plan.lines.count_skipped(reason, line.number, line.text);
    return;
  }
  Candidate candidate;
  candidate.arrival = record.arrival;
  candidate.line_number = line.number;
  candidate.whole_size_bytes = access->whole_size_bytes;
  candidate.method = access->method;
  candidate.whole_seconds = record.whole_seconds;
  auto& facts = state_->facts_of(*access, candidate.url);
  if (facts.content_type.empty()) facts.content_type = record.content_type;
  state_->candidates.push_back(candidate);
}

ReplayPlan ReplayPlanner::finish() {
  auto& state = *state_;
  std::stable_sort(
      state.candidates.begin(), state.candidates.end(),
      [](const Candidate& left, const Candidate& right) { return left.arrival < right.arrival; });
  for (const auto& candidate : state.candidates) {
    if (!candidate.whole_size_bytes) continue;
    learn_size(state.urls[candidate.url], *candidate.whole_size_bytes, state.options.size_policy);
  }
  for (const auto& facts : state.urls) {
    if (facts.size_bytes && facts.size_bytes_least != facts.size_bytes_most) {
      ++state.plan.urls_of_changing_size;
    }
  }
  for (const auto& candidate : state.candidates) state.plan_candidate(candidate);
  state.spread_whole_seconds();
  state.set_offsets();
  return std::move(state.plan);
}

uint64_t ReplayPlan::working_set_bytes() const {
  uint64_t sum = 0;
  for (const auto& object : objects) add_bytes(sum, object.size_bytes);
  return sum;
}

ReplayPlan plan_replay(LineReader& reader, const PlanOptions& options) {
  ReplayPlanner planner(options);
  std::optional<LogError> failure;
  for (;;) {
    const auto line = reader.next();
    if (!line) failure = line.error();
    if (!line || !*line) break;
    planner.add(**line);
  }
  ReplayPlan plan = planner.finish();
  plan.read_error = std::move(failure);
  return plan;
}

PlainCount plain_count(const ReplayPlan& plan) {
  PlainCount count;
  std::vector<bool> stored(plan.objects.size());
  for (const auto& request : plan.requests) {
    const auto& object = plan.objects[request.object];
    const bool get = request.method == ReplayMethod::kGet;
    const bool hit = stored[request.object];
    ++count.requests;
    count.hits += hit ? 1 : 0;
    add_bytes(count.body_bytes, get ? object.size_bytes : 0);
    add_bytes(count.hit_body_bytes, get && hit ? object.size_bytes : 0);
    if (get && object.cachable) stored[request.object] = true;
  }
  return count;
}

}  // namespace traces
