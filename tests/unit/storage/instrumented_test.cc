#include "storage/instrumented.h"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>

#include "storage/layout/memory.h"
#include "tests/support/counts.h"
#include "tests/support/fake_clock.h"
#include "tests/support/gated_scheme.h"
#include "tests/support/run_task.h"
#include "tests/support/stored_object.h"

namespace storage {
namespace {

using testing_support::Counts;
using testing_support::FakeClock;
using testing_support::GatedScheme;
using testing_support::load_object;
using testing_support::run_task;
using testing_support::spawn_task;
using testing_support::store_object;
using testing_support::StoredObject;

class InstrumentedTest : public ::testing::Test {
 protected:
  InstrumentedTest() {
    SchemeSpec spec;
    spec.capacity_bytes = 1 << 20;
    const SchemeEnvironment environment{io_.get_executor(), clock_, buffers_};
    auto gated = std::make_unique<GatedScheme>(make_memory(spec, environment).scheme);
    gated_ = gated.get();
    scheme_ = make_instrumented(std::move(gated), clock_);
    EXPECT_TRUE(run_task(io_, scheme_->start()).has_value());
  }

  double count(const char* name, const char* label = "") const {
    Counts counts;
    scheme_->visit_counters(counts);
    return counts.of(name, label);
  }
  void store(const std::string& body) {
    ASSERT_TRUE(
        run_task(io_, store_object(*scheme_, "key", StoredObject("head", body))).has_value());
  }

  FakeClock clock_;
  boost::asio::io_context io_;
  BufferPool buffers_{io_.get_executor(), 65536, 1 << 20};
  GatedScheme* gated_ = nullptr;
  std::unique_ptr<StorageScheme> scheme_;
};

TEST_F(InstrumentedTest, CountsHitsMissesAndBytes) {
  EXPECT_TRUE(run_task(io_, load_object(*scheme_, "key")).has_error());
  store("12345");
  EXPECT_TRUE(run_task(io_, load_object(*scheme_, "key")).has_value());
  EXPECT_TRUE(run_task(io_, load_object(*scheme_, "key")).has_value());
  EXPECT_EQ(count("opens_total", "result=\"hit\""), 2);
  EXPECT_EQ(count("opens_total", "result=\"miss\""), 1);
  EXPECT_EQ(count("opens_total", "result=\"error\""), 0);
  EXPECT_EQ(count("bytes_written_total"), 5);
  EXPECT_EQ(count("bytes_read_total"), 10);
  EXPECT_EQ(count("operations_total", "operation=\"open\""), 3);
  EXPECT_EQ(count("objects"), 1) << "the scheme's own counters are missing";
}

TEST_F(InstrumentedTest, CountsRefusalsByReason) {
  EXPECT_TRUE(run_task(io_, scheme_->create(Key("k"), Metadata(), 1 << 21)).has_error());
  EXPECT_EQ(count("creates_total", "result=\"declined\""), 1);
  EXPECT_EQ(count("declines_total", "reason=\"too_large\""), 1);
  EXPECT_EQ(count("declines_total", "reason=\"no_space\""), 0);
  EXPECT_EQ(count("aborts_total"), 0);
}

TEST_F(InstrumentedTest, CountsWritersThatEndWithoutACommit) {
  {
    const auto writer = run_task(io_, scheme_->create(Key("k"), Metadata(), 10));
    EXPECT_EQ(count("writers_open"), 1);
    EXPECT_EQ(run_task(io_, (*writer)->commit()).error(), Errc::kAborted);
  }
  EXPECT_EQ(count("writers_open"), 0);
  EXPECT_EQ(count("creates_total", "result=\"accepted\""), 1);
  EXPECT_EQ(count("commits_total", "result=\"failed\""), 1);
  EXPECT_EQ(count("failures_total", "operation=\"commit\",reason=\"aborted\""), 1);
  EXPECT_EQ(count("aborts_total"), 1);
  store("body");
  EXPECT_EQ(count("commits_total", "result=\"published\""), 1);
  EXPECT_EQ(count("aborts_total"), 1);
}

TEST_F(InstrumentedTest, CountsUpdatesAndRemoves) {
  store("body");
  EXPECT_TRUE(run_task(io_, scheme_->update(Key("key"), Metadata("x"))).has_value());
  EXPECT_TRUE(run_task(io_, scheme_->update(Key("none"), Metadata("x"))).has_error());
  EXPECT_TRUE(run_task(io_, scheme_->remove(Key("key"))).has_value());
  gated_->failure = Error(Errc::kIo);
  EXPECT_TRUE(run_task(io_, scheme_->update(Key("key"), Metadata("x"))).has_error());
  EXPECT_TRUE(run_task(io_, scheme_->remove(Key("key"))).has_error());
  EXPECT_EQ(count("updates_total", "result=\"done\""), 1);
  EXPECT_EQ(count("updates_total", "result=\"miss\""), 1);
  EXPECT_EQ(count("updates_total", "result=\"error\""), 1);
  EXPECT_EQ(count("removes_total", "result=\"done\""), 1);
  EXPECT_EQ(count("failures_total", "operation=\"remove\",reason=\"io\""), 1);
}

TEST_F(InstrumentedTest, TimesAnOperationFromItsCallToItsEnd) {
  gated_->before.close();
  auto opening = spawn_task(io_, scheme_->open(Key("key")));
  io_.restart();
  io_.poll();
  EXPECT_EQ(count("operations_in_flight"), 1);
  EXPECT_EQ(count("operation_time_ns_total", "operation=\"open\""), 0);
  clock_.advance(std::chrono::milliseconds(7));
  gated_->before.let_go();
  EXPECT_EQ(opening.finish().error(), Errc::kNotFound);
  EXPECT_EQ(count("operations_in_flight"), 0);
  EXPECT_EQ(count("operation_time_ns_total", "operation=\"open\""), 7'000'000);
}

TEST_F(InstrumentedTest, PassesOnWhatReadersSay) {
  store("body");
  const auto reader = run_task(io_, scheme_->open(Key("key")));
  EXPECT_EQ(count("readers_open"), 1);
  EXPECT_EQ((*reader)->metadata().bytes(), "head");
  EXPECT_EQ((*reader)->body_size_bytes(), 4u);
  EXPECT_TRUE((*reader)->in_memory());
}

}  // namespace
}  // namespace storage
