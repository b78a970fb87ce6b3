// Messages between ranks: what is written comes back, and damage is noticed.
#include <gtest/gtest.h>

#include <limits>

#include "storage/base/random.h"
#include "tests/support/effort.h"
#include "workload/ensemble/wire_part.h"
#include "workload/ensemble/wire_run.h"
#include "workload/model/workload.h"

namespace workload {
namespace {

constexpr size_t kPhases = 3;

TEST(Wire, NumbersComeBack) {
  const std::vector<int64_t> numbers{0,
                                     1,
                                     -1,
                                     63,
                                     -64,
                                     64,
                                     127,
                                     128,
                                     1'000'000'007,
                                     -5,
                                     std::numeric_limits<int64_t>::max(),
                                     std::numeric_limits<int64_t>::min()};
  WireWriter writer;
  for (const int64_t number : numbers) {
    writer.signed_number(number);
    writer.number(static_cast<uint64_t>(number));
  }
  writer.real(-0.1);
  writer.text(std::string("a\0b", 3));
  writer.number(std::optional<uint64_t>());
  writer.number(std::optional<uint64_t>(7));
  const std::string bytes = writer.take();
  WireReader reader(bytes);
  for (const int64_t number : numbers) {
    EXPECT_EQ(reader.signed_number(), number);
    EXPECT_EQ(reader.number(), static_cast<uint64_t>(number));
  }
  EXPECT_EQ(reader.real(), -0.1);
  EXPECT_EQ(reader.text(), std::string("a\0b", 3));
  EXPECT_EQ(reader.optional_number(), std::nullopt);
  EXPECT_EQ(reader.optional_number(), 7U);
  reader.end();
  EXPECT_THROW(reader.number(), WireError);
}

TEST(Wire, WhatCannotBeIsRefused) {
  WireWriter writer;
  writer.number(1000);
  const std::string bytes = writer.take();
  EXPECT_THROW(WireReader(bytes).count(), WireError);
  EXPECT_THROW(WireReader(bytes).text(), WireError);
  EXPECT_THROW(WireReader(bytes).flag(), WireError);
  EXPECT_THROW(WireReader(bytes).end(), WireError);
  EXPECT_THROW(WireReader(std::string(11, '\xff')).number(), WireError);
}

/// Pages of every kind of request.
std::vector<ScheduledPage> sample_pages() {
  Workload workload = polymix4_workload();
  workload.robot.abort_percent = 20;
  workload.server.abort_percent = 20;
  RequestStream stream(workload, 5);
  std::vector<ScheduledPage> pages;
  for (int index = 0; index < 300; ++index) {
    ScheduledPage page;
    page.requests.push_back(stream.next());
    while (page.requests.front().embedded_following >= page.requests.size()) {
      page.requests.push_back(stream.next());
    }
    page.grant = {page.requests.size(), static_cast<size_t>(index) % kPhases, false};
    page.place = index * 1.5;
    pages.push_back(std::move(page));
  }
  return pages;
}

void expect_same(const IntendedRequest& left, const IntendedRequest& right) {
  EXPECT_EQ(left.sequence, right.sequence);
  EXPECT_EQ(left.page_sequence, right.page_sequence);
  EXPECT_EQ(left.embedded, right.embedded);
  EXPECT_EQ(left.embedded_following, right.embedded_following);
  EXPECT_EQ(left.object, right.object);
  EXPECT_EQ(left.kind, right.kind);
  EXPECT_EQ(left.method, right.method);
  EXPECT_EQ(left.request_body_bytes, right.request_body_bytes);
  EXPECT_EQ(left.part, right.part);
  EXPECT_EQ(left.abort_after_bytes, right.abort_after_bytes);
  EXPECT_EQ(left.break_off, right.break_off);
  EXPECT_EQ(left.is_repeat, right.is_repeat);
  EXPECT_EQ(left.offered_hit_reference, right.offered_hit_reference);
  EXPECT_EQ(left.offered_hit, right.offered_hit);
}

TEST(Wire, PagesComeBackWhole) {
  for (const ScheduledPage& page : sample_pages()) {
    WireWriter writer;
    put_page(writer, page);
    const std::string bytes = writer.take();
    WireReader reader(bytes);
    const ScheduledPage back = get_page(reader, kPhases);
    reader.end();
    EXPECT_EQ(back.grant.requests, page.grant.requests);
    EXPECT_EQ(back.grant.phase, page.grant.phase);
    EXPECT_EQ(back.place, page.place);
    ASSERT_EQ(back.requests.size(), page.requests.size());
    for (size_t index = 0; index < page.requests.size(); ++index) {
      expect_same(back.requests[index], page.requests[index]);
    }
  }
}

TEST(Wire, DamagedPagesAreRefusedOrReadAsOthers) {
  storage::Random random(3);
  size_t refused = 0;
  for (const ScheduledPage& page : sample_pages()) {
    WireWriter writer;
    put_page(writer, page);
    const std::string bytes = writer.take();
    for (int round = 0; round < 20; ++round) {
      std::string damaged = bytes;
      damaged[random.below(damaged.size())] = static_cast<char>(random.below(256));
      if (round % 2 == 0) damaged.resize(random.below(damaged.size()));
      WireReader reader(damaged);
      try {
        const ScheduledPage back = get_page(reader, kPhases);
        EXPECT_LT(back.grant.phase, kPhases);
        for (const IntendedRequest& request : back.requests) {
          EXPECT_LE(request.object.size_bytes, kObjectSizeBytesMax);
        }
      } catch (const WireError&) {
        ++refused;
      }
    }
  }
  EXPECT_GT(refused, 3000U);
}

TEST(Wire, StatesComeBack) {
  RunState state;
  const storage::SteadyTime at(std::chrono::seconds(5));
  state.times = {{1, at, std::nullopt}, {2, std::nullopt, at}};
  state.end = at;
  state.granted = 7;
  state.fill_bytes = 8;
  state.all_granted = true;
  WireWriter writer;
  put_state(writer, state);
  const std::string bytes = writer.take();
  WireReader reader(bytes);
  const RunState back = get_state(reader, kPhases);
  reader.end();
  ASSERT_EQ(back.times.size(), 2U);
  EXPECT_EQ(back.times[0].phase, 1U);
  EXPECT_EQ(back.times[0].from, at);
  EXPECT_EQ(back.times[0].until, std::nullopt);
  EXPECT_EQ(back.times[1].until, at);
  EXPECT_EQ(back.end, at);
  EXPECT_EQ(back.granted, 7U);
  EXPECT_EQ(back.fill_bytes, 8U);
  EXPECT_TRUE(back.all_granted);
  WireReader fewer(bytes);
  EXPECT_THROW(get_state(fewer, 2), WireError);
}

Histogram back_from_wire(const Histogram& histogram) {
  WireWriter writer;
  put_histogram(writer, histogram);
  const std::string bytes = writer.take();
  WireReader reader(bytes);
  const Histogram back = get_histogram(reader);
  reader.end();
  return back;
}

TEST(Wire, HistogramsComeBackCounterByCounter) {
  EXPECT_TRUE(back_from_wire(Histogram()).empty());
  Histogram histogram;
  storage::Random random(9);
  for (int round = 0; round < 5000; ++round) {
    histogram.record(random() >> random.below(64), 1 + random.below(3));
  }
  histogram.record(0);
  histogram.record(Histogram::kHighestNs, 2);
  EXPECT_GT(histogram.clamped_count(), 0U);
  const Histogram back = back_from_wire(histogram);
  EXPECT_EQ(back, histogram);
  EXPECT_EQ(back.clamped_count(), histogram.clamped_count());
}

TEST(Wire, PartsComeBack) {
  RunPart part(std::chrono::milliseconds(100), 2);
  TransactionRecord record;
  record.outcome = Outcome::kHit;
  record.response_time_ns = 1'234'567;
  record.first_byte_ns = 1000;
  for (int index = 0; index < 50; ++index) {
    const std::chrono::milliseconds elapsed(index * 30);
    record.outcome = index % 3 == 0 ? Outcome::kMiss : Outcome::kHit;
    record.response_time_ns += 1000;
    part.recorder.record_in_time(record, elapsed);
    part.phases[1].record(record, 200);
  }
  part.ideal.basic = 4;
  part.ideal.hit_bytes = 9;
  part.health.lag.record(77);
  part.health.cpu_s = 1.5;
  part.health.wall_s = 2;
  part.health.connections = 3;
  part.cpu_percent_max = 75;
  part.last_counted_end = storage::SteadyTime(std::chrono::seconds(3));
  part.first_error = "what";
  WireWriter writer;
  put_part(writer, part);
  const std::string bytes = writer.take();
  RunPart back(std::chrono::milliseconds(100), 2);
  WireReader reader(bytes);
  get_part(reader, back);
  reader.end();
  EXPECT_EQ(back.recorder.series.size(), part.recorder.series.size());
  EXPECT_EQ(back.recorder.series.total(), part.recorder.series.total());
  EXPECT_EQ(back.recorder.series.row(2), part.recorder.series.row(2));
  EXPECT_EQ(back.phases[1].total, part.phases[1].total);
  EXPECT_EQ(back.phases[1].response_time, part.phases[1].response_time);
  EXPECT_EQ(back.phases[1].miss_response_time, part.phases[1].miss_response_time);
  EXPECT_EQ(back.phases[1].responses_by_status, part.phases[1].responses_by_status);
  EXPECT_TRUE(back.phases[0].response_time.empty());
  EXPECT_EQ(back.ideal.hit_bytes, 9U);
  EXPECT_EQ(back.health.lag, part.health.lag);
  EXPECT_EQ(back.health.cpu_s, 1.5);
  EXPECT_EQ(back.cpu_percent_max, 75);
  EXPECT_EQ(back.last_counted_end, part.last_counted_end);
  EXPECT_EQ(back.first_error, "what");
  std::ostringstream left;
  std::ostringstream right;
  part.recorder.latency.write(left, {}, std::chrono::seconds(2));
  back.recorder.latency.write(right, {}, std::chrono::seconds(2));
  EXPECT_EQ(left.str(), right.str());
  for (size_t size = 0; size < bytes.size();
       size += size + 40 < bytes.size() ? testing_support::effort(7, 101) : 1) {
    RunPart cut(std::chrono::milliseconds(100), 2);
    const std::string shorter = bytes.substr(0, size);
    WireReader shorter_reader(shorter);
    EXPECT_THROW(get_part(shorter_reader, cut), WireError);
  }
}

}  // namespace
}  // namespace workload
