#include "workload/webproxy/account.h"

#include "storage/base/units.h"

namespace webproxy {

void Account::count(std::chrono::nanoseconds elapsed, std::chrono::nanoseconds took,
                    uint64_t size_bytes, bool is_read) {
  const auto took_ns = static_cast<uint64_t>(took.count());
  // Not by Tally::add(), which knows hits and misses only: this is no cache and has neither.
  for (workload::Tally* tally : {&recorder_.total, &recorder_.series.at(elapsed)}) {
    ++tally->offered;
    ++tally->sent;
    ++tally->completed;
    ++tally->good;
    tally->response_time_ns += took_ns;
    tally->good_bytes += size_bytes;
    if (is_read) {
      tally->received_bytes += size_bytes;
    } else {
      tally->fill_bytes += size_bytes;
    }
  }
  recorder_.response_time.record(took_ns);
  recorder_.latency.record(elapsed, is_read, took_ns);
}

void Account::count_read(std::chrono::nanoseconds elapsed, std::chrono::nanoseconds took,
                         uint64_t size_bytes) {
  count(elapsed, took, size_bytes, true);
  read_time_.record(static_cast<uint64_t>(took.count()));
  read_bytes_ += size_bytes;
}

void Account::count_created(std::chrono::nanoseconds elapsed, std::chrono::nanoseconds took,
                            uint64_t size_bytes) {
  count(elapsed, took, size_bytes, false);
  create_time_.record(static_cast<uint64_t>(took.count()));
}

void Account::count_wrong(std::chrono::nanoseconds elapsed) {
  for (workload::Tally* tally : {&recorder_.total, &recorder_.series.at(elapsed)}) {
    ++tally->offered;
    ++tally->sent;
    ++tally->completed;
    ++tally->errors[static_cast<size_t>(workload::ErrorKind::kWrongBody) - 1];
  }
}

void Account::finish(std::chrono::nanoseconds elapsed) {
  duration_ = elapsed;
  recorder_.series.finish(elapsed);
}

double Account::rate_of(uint64_t count) const {
  return duration_.count() > 0 ? static_cast<double>(count) / storage::seconds_of(duration_) : 0;
}

}  // namespace webproxy
