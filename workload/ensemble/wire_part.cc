#include "workload/ensemble/wire_part.h"

#include <algorithm>

#include "workload/ensemble/wire_run.h"
#include "workload/ensemble/wire_sums.h"

namespace workload {
namespace {

/// As many as a trace.csv may have.
constexpr uint64_t kWireRowsMax = 10'000'000;
constexpr uint64_t kStatusMax = 999;

void put_measurements(WireWriter& writer, const Measurements& measured) {
  put_sums(writer, measured.total);
  for (const Histogram* const histogram :
       {&measured.response_time, &measured.hit_response_time, &measured.miss_response_time,
        &measured.first_byte_time, &measured.waiting_time}) {
    put_histogram(writer, *histogram);
  }
  writer.number(measured.responses_by_status.size());
  for (const auto& [status, count] : measured.responses_by_status) {
    writer.number(static_cast<uint64_t>(status));
    writer.number(count);
  }
}

void get_measurements(WireReader& reader, Measurements& measured) {
  measured.total = get_sums<Tally>(reader);
  for (Histogram* const histogram :
       {&measured.response_time, &measured.hit_response_time, &measured.miss_response_time,
        &measured.first_byte_time, &measured.waiting_time}) {
    *histogram = get_histogram(reader);
  }
  for (size_t left = reader.count(); left > 0; --left) {
    const auto status = static_cast<int>(reader.number_up_to(kStatusMax));
    measured.responses_by_status[status] = reader.number();
  }
}

void put_health(WireWriter& writer, const WorkerHealth& health) {
  put_histogram(writer, health.lag);
  put_histogram(writer, health.lateness);
  writer.real(health.cpu_s);
  writer.real(health.wall_s);
  writer.number(health.connections);
  writer.number(health.retries);
  writer.number(health.ports_exhausted);
  writer.number(health.descriptors_exhausted);
}

void get_health(WireReader& reader, WorkerHealth& health) {
  health.lag = get_histogram(reader);
  health.lateness = get_histogram(reader);
  health.cpu_s = reader.real();
  health.wall_s = reader.real();
  health.connections = reader.number();
  health.retries = reader.number();
  health.ports_exhausted = reader.number();
  health.descriptors_exhausted = reader.number();
}

void put_series(WireWriter& writer, const Series& series) {
  writer.number(series.size());
  for (size_t index = 0; index < series.size(); ++index) put_sums(writer, series.row(index));
}

void get_series(WireReader& reader, Series& series) {
  const size_t rows = reader.count();
  for (size_t index = 0; index < rows; ++index) {
    series.at(series.interval() * static_cast<int64_t>(index)) = get_sums<Tally>(reader);
  }
}

void put_latency(WireWriter& writer, const LatencyLog& latency) {
  latency.for_each([&writer](size_t index, const std::string& hit, const std::string& miss) {
    writer.flag(true);
    writer.number(index);
    writer.text(hit);
    writer.text(miss);
  });
  writer.flag(false);
}

void get_latency(WireReader& reader, LatencyLog& latency) {
  while (reader.flag()) {
    const size_t index = reader.number_up_to(kWireRowsMax);
    const std::string hit = reader.text();
    const std::string miss = reader.text();
    if (!latency.add(index, hit, miss)) throw WireError("a message has a damaged histogram");
  }
}

}  // namespace

void put_histogram(WireWriter& writer, const Histogram& histogram) {
  const auto counters = histogram.counters();
  writer.number(histogram.clamped_count());
  writer.number(
      static_cast<uint64_t>(std::ranges::count_if(counters, [](uint64_t n) { return n > 0; })));
  size_t next = 0;
  for (size_t index = 0; index < counters.size(); ++index) {
    if (counters[index] == 0) continue;
    writer.number(index - next);
    writer.number(counters[index]);
    next = index + 1;
  }
}

Histogram get_histogram(WireReader& reader) {
  Histogram histogram;
  const uint64_t clamped = reader.number();
  size_t index = 0;
  for (size_t left = reader.count(); left > 0; --left) {
    index += reader.number_up_to(Histogram::counter_count_max());
    uint64_t count = reader.number();
    // What was clamped stands in the highest counter too.
    if (index == Histogram::index_of(Histogram::kHighestNs)) {
      if (clamped > count) throw WireError("a message has a histogram that contradicts itself");
      histogram.record(Histogram::kHighestNs + 1, clamped);
      count -= clamped;
    }
    if (!histogram.add_to_counter(index, count)) {
      throw WireError("a message has a histogram out of range");
    }
    ++index;
  }
  return histogram;
}

void put_part(WireWriter& writer, const RunPart& part) {
  put_series(writer, part.recorder.series);
  put_latency(writer, part.recorder.latency);
  for (const Measurements& phase : part.phases) put_measurements(writer, phase);
  put_sums(writer, part.ideal);
  put_health(writer, part.health);
  writer.real(part.cpu_percent_max);
  put_time(writer, part.last_counted_end);
  writer.text(part.first_error);
}

void get_part(WireReader& reader, RunPart& part) {
  get_series(reader, part.recorder.series);
  get_latency(reader, part.recorder.latency);
  for (Measurements& phase : part.phases) get_measurements(reader, phase);
  part.ideal = get_sums<IdealTally>(reader);
  get_health(reader, part.health);
  part.cpu_percent_max = reader.real();
  part.last_counted_end = get_time(reader);
  part.first_error = reader.text();
}

}  // namespace workload
