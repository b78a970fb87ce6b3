#include "workload/measure/tally.h"

namespace workload {

std::string_view name_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kNone:
      return "none";
    case ErrorKind::kConnect:
      return "connect";
    case ErrorKind::kRefused:
      return "refused";
    case ErrorKind::kReset:
      return "reset";
    case ErrorKind::kTimeout:
      return "timeout";
    case ErrorKind::kTruncated:
      return "truncated";
    case ErrorKind::kWrongBody:
      return "wrong_body";
    case ErrorKind::kStale:
      return "stale";
    case ErrorKind::kWrongStatus:
      return "wrong_status";
    case ErrorKind::kProtocol:
      return "protocol";
  }
  return "none";
}

std::string_view name_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::kUnknown:
      return "unknown";
    case Outcome::kMiss:
      return "miss";
    case Outcome::kHit:
      return "hit";
    case Outcome::kValidated:
      return "validated";
  }
  return "unknown";
}

bool is_hit(Outcome outcome) {
  return outcome == Outcome::kHit || outcome == Outcome::kValidated;
}

std::string_view name_of(NotSent reason) {
  switch (reason) {
    case NotSent::kQueueFull:
      return "queue_full";
    case NotSent::kWaitedOut:
      return "waited_out";
    case NotSent::kPageFailed:
      return "page_failed";
  }
  return "queue_full";
}

std::string_view name_of(Ending ending) {
  switch (ending) {
    case Ending::kWhole:
      return "whole";
    case Ending::kAborted:
      return "aborted";
    case Ending::kCut:
      return "cut";
  }
  return "whole";
}

std::optional<double> percent_of(uint64_t part, uint64_t whole) {
  if (whole == 0) return std::nullopt;
  return 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

namespace {

std::optional<double> mean_ms(uint64_t sum_ns, uint64_t count) {
  if (count == 0) return std::nullopt;
  return static_cast<double>(sum_ns) / static_cast<double>(count) / 1e6;
}

}  // namespace

void Tally::add(const TransactionRecord& record) {
  ++completed;
  received_bytes += record.received_bytes;
  if (record.error != ErrorKind::kNone) {
    ++errors[static_cast<size_t>(record.error) - 1];
    return;
  }
  const bool hit = is_hit(record.outcome);
  if (record.ending == Ending::kAborted) {
    ++aborted;
    aborted_hits += hit ? 1 : 0;
    return;
  }
  if (record.ending == Ending::kCut) {
    ++cut;
    cut_shared += record.shared ? 1 : 0;
    return;
  }
  ++good;
  response_time_ns += record.response_time_ns;
  good_bytes += record.body_bytes;
  if (hit) {
    ++hits;
    hit_response_time_ns += record.response_time_ns;
    good_hit_bytes += record.body_bytes;
  } else {
    ++misses;
    miss_response_time_ns += record.response_time_ns;
    if (record.fill) fill_bytes += record.received_bytes;
  }
  if (record.reload && record.outcome == Outcome::kHit) ++reload_hits;
  if (record.range) {
    ++ranges;
    range_hits += hit ? 1 : 0;
    ranges_whole += record.answered_whole ? 1 : 0;
  }
  if (!record.basic) return;
  ++basic;
  basic_bytes += record.body_bytes;
  if (hit) {
    ++basic_hits;
    basic_hit_bytes += record.body_bytes;
    if (record.outcome == Outcome::kValidated) {
      ++validated_hits;
    } else if (record.shared) {
      ++shared_hits;
    }
  }
  if (record.offered_hit) {
    ++offered_hits;
    offered_hit_bytes += record.body_bytes;
  }
  if (record.ideal_hit) {
    ++ideal_hits;
    ideal_hit_bytes += record.body_bytes;
  }
}

void Tally::merge(const Tally& other) {
  offered += other.offered;
  sent += other.sent;
  blocked_ns += other.blocked_ns;
  completed += other.completed;
  good += other.good;
  aborted += other.aborted;
  aborted_hits += other.aborted_hits;
  cut += other.cut;
  cut_shared += other.cut_shared;
  response_time_ns += other.response_time_ns;
  hits += other.hits;
  hit_response_time_ns += other.hit_response_time_ns;
  misses += other.misses;
  miss_response_time_ns += other.miss_response_time_ns;
  basic += other.basic;
  basic_hits += other.basic_hits;
  basic_bytes += other.basic_bytes;
  basic_hit_bytes += other.basic_hit_bytes;
  good_bytes += other.good_bytes;
  good_hit_bytes += other.good_hit_bytes;
  reload_hits += other.reload_hits;
  validated_hits += other.validated_hits;
  shared_hits += other.shared_hits;
  ranges += other.ranges;
  range_hits += other.range_hits;
  ranges_whole += other.ranges_whole;
  offered_hits += other.offered_hits;
  offered_hit_bytes += other.offered_hit_bytes;
  ideal_hits += other.ideal_hits;
  ideal_hit_bytes += other.ideal_hit_bytes;
  received_bytes += other.received_bytes;
  fill_bytes += other.fill_bytes;
  for (size_t kind = 0; kind < kErrorKindCount; ++kind) errors[kind] += other.errors[kind];
  for (size_t reason = 0; reason < kNotSentCount; ++reason) {
    not_sent[reason] += other.not_sent[reason];
  }
}

uint64_t Tally::errors_of(ErrorKind kind) const {
  return kind == ErrorKind::kNone ? 0 : errors[static_cast<size_t>(kind) - 1];
}

uint64_t Tally::error_count() const {
  uint64_t sum = 0;
  for (uint64_t count : errors) sum += count;
  return sum;
}

uint64_t Tally::not_sent_count() const {
  uint64_t sum = 0;
  for (uint64_t count : not_sent) sum += count;
  return sum;
}

std::optional<double> Tally::response_time_ms() const {
  return mean_ms(response_time_ns, good);
}

std::optional<double> Tally::hit_response_time_ms() const {
  return mean_ms(hit_response_time_ns, hits);
}

std::optional<double> Tally::miss_response_time_ms() const {
  return mean_ms(miss_response_time_ns, misses);
}

std::optional<double> Tally::hit_ratio_percent() const {
  return percent_of(basic_hits, basic);
}

std::optional<double> Tally::byte_hit_ratio_percent() const {
  return percent_of(basic_hit_bytes, basic_bytes);
}

std::optional<double> Tally::hit_ratio_all_percent() const {
  return percent_of(hits, good);
}

std::optional<double> Tally::offered_hit_ratio_percent() const {
  return percent_of(offered_hits, basic);
}

std::optional<double> Tally::offered_byte_hit_ratio_percent() const {
  return percent_of(offered_hit_bytes, basic_bytes);
}

std::optional<double> Tally::attainable_hit_ratio_percent() const {
  return percent_of(ideal_hits, basic);
}

std::optional<double> Tally::attainable_byte_hit_ratio_percent() const {
  return percent_of(ideal_hit_bytes, basic_bytes);
}

std::optional<double> Tally::stored_hit_ratio_percent() const {
  return percent_of(basic_hits - validated_hits - shared_hits, basic);
}

std::optional<double> Tally::range_hit_ratio_percent() const {
  return percent_of(range_hits, ranges);
}

}  // namespace workload
