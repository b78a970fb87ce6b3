#include "workload/measure/recorder.h"

#include <algorithm>

#include "storage/base/units.h"
#include "workload/measure/interval_log.h"

namespace workload {
namespace {

/// A histogram that this class itself has encoded.
Histogram decode_own(const std::string& encoded) {
  if (encoded.empty()) return {};
  return std::get<Histogram>(decode_histogram(encoded));
}

}  // namespace

LatencyLog::LatencyLog(std::chrono::nanoseconds interval) : interval_(interval) {}

void LatencyLog::record(std::chrono::nanoseconds elapsed, bool hit, uint64_t response_time_ns) {
  const auto bounded = std::max(elapsed, std::chrono::nanoseconds(0));
  const auto index = static_cast<size_t>(bounded / interval_);
  if (index > current_) {
    close_current();
    current_ = index;
  }
  (hit ? hit_ : miss_).record(response_time_ns);
}

void LatencyLog::add_encoded(std::string& target, const std::string& encoded) {
  if (encoded.empty()) return;
  if (target.empty()) {
    target = encoded;
    return;
  }
  Histogram sum = decode_own(target);
  sum.merge(decode_own(encoded));
  target = encode_histogram(sum);
}

void LatencyLog::close_current() {
  if (hit_.empty() && miss_.empty()) return;
  Interval& interval = closed_[current_];
  if (!hit_.empty()) add_encoded(interval.hit, encode_histogram(hit_));
  if (!miss_.empty()) add_encoded(interval.miss, encode_histogram(miss_));
  hit_.clear();
  miss_.clear();
}

void LatencyLog::for_each(
    const std::function<void(size_t, const std::string&, const std::string&)>& take) const {
  LatencyLog finished = *this;
  finished.close_current();
  for (const auto& [index, interval] : finished.closed_) take(index, interval.hit, interval.miss);
}

bool LatencyLog::add(size_t index, const std::string& hit, const std::string& miss) {
  for (const std::string* const text : {&hit, &miss}) {
    if (!text->empty() && std::holds_alternative<std::string>(decode_histogram(*text))) {
      return false;
    }
  }
  Interval& mine = closed_[index];
  add_encoded(mine.hit, hit);
  add_encoded(mine.miss, miss);
  return true;
}

void LatencyLog::merge(const LatencyLog& other) {
  close_current();
  LatencyLog finished = other;
  finished.close_current();
  for (const auto& [index, interval] : finished.closed_) {
    Interval& mine = closed_[index];
    add_encoded(mine.hit, interval.hit);
    add_encoded(mine.miss, interval.miss);
  }
}

void LatencyLog::write(std::ostream& out, storage::WallTime start,
                       std::chrono::nanoseconds duration) const {
  LatencyLog finished = *this;
  finished.close_current();
  IntervalLogWriter writer(out, start);
  for (const auto& [index, interval] : finished.closed_) {
    const auto begin = interval_ * static_cast<int64_t>(index);
    const auto end = std::max(begin, std::min(begin + interval_, duration));
    const double start_s = storage::seconds_of(begin);
    const double length_s = storage::seconds_of(end - begin);
    const Histogram hits = decode_own(interval.hit);
    const Histogram misses = decode_own(interval.miss);
    Histogram all = hits;
    all.merge(misses);
    writer.write("", start_s, length_s, all);
    if (!hits.empty()) writer.write("hit", start_s, length_s, hits);
    if (!misses.empty()) writer.write("miss", start_s, length_s, misses);
  }
}

void Measurements::record(const TransactionRecord& transaction, int status) {
  total.add(transaction);
  if (status != 0) ++responses_by_status[status];
  if (!transaction.good()) return;
  response_time.record(transaction.response_time_ns);
  first_byte_time.record(transaction.first_byte_ns);
  Histogram& times = is_hit(transaction.outcome) ? hit_response_time : miss_response_time;
  times.record(transaction.response_time_ns);
}

void Measurements::merge(const Measurements& other) {
  total.merge(other.total);
  response_time.merge(other.response_time);
  hit_response_time.merge(other.hit_response_time);
  miss_response_time.merge(other.miss_response_time);
  first_byte_time.merge(other.first_byte_time);
  waiting_time.merge(other.waiting_time);
  for (const auto& [status, count] : other.responses_by_status) {
    responses_by_status[status] += count;
  }
}

void RunRecorder::record(const TransactionRecord& transaction, int status,
                         std::chrono::nanoseconds elapsed) {
  Measurements::record(transaction, status);
  record_in_time(transaction, elapsed);
}

void RunRecorder::record_in_time(const TransactionRecord& transaction,
                                 std::chrono::nanoseconds elapsed) {
  series.at(elapsed).add(transaction);
  if (!transaction.good()) return;
  latency.record(elapsed, is_hit(transaction.outcome), transaction.response_time_ns);
}

void RunRecorder::merge(const RunRecorder& other) {
  Measurements::merge(other);
  series.merge(other.series);
  latency.merge(other.latency);
}

}  // namespace workload
