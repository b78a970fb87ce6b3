// A process that writes to a coss store is killed at any moment, again and again.
#include <gtest/gtest.h>
#include <unistd.h>

#include <iostream>

#include "storage/base/random.h"
#include "tests/crash/crash_rounds.h"
#include "tests/crash/killed_child.h"
#include "tests/crash/versioned_object.h"
#include "tests/support/coss_under_test.h"
#include "tests/support/durable_history.h"
#include "tests/support/seed.h"

namespace testing_support {
namespace {

constexpr uint64_t kKeys = 60;

// What the child tells.
struct Report {
  enum class Kind : uint64_t { kStored, kWillRemove, kStopped, kBegins };
  Kind kind = Kind::kStored;
  uint64_t key = 0;
  uint64_t version = 0;  // grows with every operation of every child
  uint64_t stripe = 0;   // that holds the operation, or an earlier one does
  uint64_t settled = 0;  // so many stripes are on disk and none is on its way
};

enum class Work {
  kMixed,         // everything on a few keys
  kDistinctKeys,  // objects of new keys, told as they are committed
};

// What the child does until it is killed. Everything random follows from `seed`.
class Child {
 public:
  Child(CossUnderTest& store, int pipe_fd, uint64_t seed, uint64_t first_version)
      : store_(store), pipe_fd_(pipe_fd), random_(seed), version_(first_version) {}

  void run(Work work) {
    if (!start()) return;
    if (work == Work::kDistinctKeys) {
      put_distinct();
    } else {
      mix();
    }
  }

 private:
  void put_distinct() {
    for (;; ++version_) {
      const StoredObject object = versioned_object(version_, version_, 11'000);
      if (store_.put(key_text(version_), object)) tell(version_, Report::Kind::kStored);
    }
  }
  void mix() {
    for (uint64_t i = 0; i < 20'000; ++i, ++version_) {
      const uint64_t key = random_.below(kKeys);
      const uint64_t kind = random_.below(10);
      if (kind == 0) {
        tell(key, Report::Kind::kWillRemove);
        static_cast<void>(store_.remove(key_text(key)));
      } else if (kind <= 3) {
        update(key);
      } else {
        const size_t size = random_.below(3) == 0 ? random_.below(50'000) : random_.below(9000);
        const StoredObject object = versioned_object(key, version_, size);
        const auto told = random_.below(2) == 0 ? BodySize::kKnown : BodySize::kUnknown;
        if (store_.put(key_text(key), object, told)) tell(key, Report::Kind::kStored);
      }
      if (random_.below(400) != 0) continue;  // clean restarts on the way
      if (!store_.stop().has_value()) return;
      tell(0, Report::Kind::kStopped);
      if (!start()) return;
    }
  }
  bool start() {
    if (!store_.start_on_its_engine().has_value()) return false;
    tell(0, Report::Kind::kBegins);
    return true;
  }
  void update(uint64_t key) {
    const auto found = store_.get(key_text(key));
    if (found.has_error()) return;
    const std::string metadata =
        version_text(version_, found->body.size(), std::string(random_.below(3000), '.'));
    if (store_.update(key_text(key), metadata)) tell(key, Report::Kind::kStored);
  }
  void tell(uint64_t key, Report::Kind kind) const {
    Report report;
    report.kind = kind;
    report.key = key;
    report.version = version_;
    const double written = store_.count("stripes_written_total");
    const double in_flight = store_.count("stripes_in_flight");
    report.stripe = static_cast<uint64_t>(written + in_flight) + 1;
    // What is told before it is done may come a stripe later.
    if (kind == Report::Kind::kWillRemove) ++report.stripe;
    report.settled = in_flight == 0 ? static_cast<uint64_t>(written) : 0;
    send_report(pipe_fd_, report);
  }

  CossUnderTest& store_;
  int pipe_fd_;
  storage::Random random_;
  uint64_t version_;
};

// Lets a child work on the store for some reports and a little longer; returns all reports.
std::vector<Report> run_and_kill(CossUnderTest& parent, uint64_t seed, uint64_t first_version,
                                 Work work = Work::kMixed) {
  storage::Random random(seed);
  return reports_until_killed<Report>(random, 600, 3000, [&](int pipe_fd) {
    CossUnderTest store(parent.spec().capacity_bytes, parent.file().parent_path());
    store.spec() = parent.spec();
    Child(store, pipe_fd, seed, first_version).run(work);
    ::_exit(0);  // The store is not stopped.
  });
}

// All that was reported, and what of it has to be there.
class Expectation {
 public:
  void note(const Report& report) {
    version_max_ = std::max(version_max_, report.version);
    switch (report.kind) {
      case Report::Kind::kBegins:
        // Stripes of the run before are numbered otherwise: what was not durable by then may
        // still be lost by this crash, but was there when the run began.
        break;
      case Report::Kind::kStopped:
        history_.settle_all();
        break;
      case Report::Kind::kStored:
        history_.note(report.key, report.version, report.stripe);
        ++stored_;
        break;
      case Report::Kind::kWillRemove:
        history_.note(report.key, std::nullopt, report.stripe);
        break;
    }
    if (report.kind != Report::Kind::kStopped) history_.settle(report.settled);
  }
  uint64_t version_max() const { return version_max_; }

  void check(CossUnderTest& store, uint64_t key, bool evicting) {
    const auto found = store.get(key_text(key));
    std::optional<uint64_t> seen;
    if (found.has_value()) {
      seen = verified_version(key, *found);
    } else {
      EXPECT_EQ(found.error().code, storage::Errc::kNotFound);
    }
    // An operation that was under way may have come to its end unreported.
    const bool unreported = seen && *seen > version_max_;
    EXPECT_TRUE(unreported || history_.allows(key, seen) || (evicting && !seen))
        << "key " << key << " is version " << seen.value_or(0);
    history_.found(key, seen);
    if (seen) version_seen_max_ = std::max(version_seen_max_, *seen);
  }
  void end_round() { version_max_ = std::max(version_max_, version_seen_max_); }

 private:
  DurableHistory history_;
  uint64_t version_max_ = 0;
  uint64_t version_seen_max_ = 0;
  uint64_t stored_ = 0;
};

void kill_again_and_again(uint64_t capacity_bytes, uint64_t rounds, uint64_t seed, bool evicting,
                          const char* engine) {
  Expectation expectation;
  CossUnderTest store(capacity_bytes);
  store.spec().options["engine"] = engine;
  uint64_t there = 0;
  for (uint64_t round = 0; round < rounds && !::testing::Test::HasFailure(); ++round) {
    SCOPED_TRACE("round " + std::to_string(round) + ", " + seed_trace(seed));
    const std::vector<Report> reports =
        run_and_kill(store, seed * 1000 + round, expectation.version_max() + 1);
    for (const Report& report : reports) expectation.note(report);
    const auto recovery = store.start_on_its_engine();
    ASSERT_TRUE(recovery.has_value()) << to_string(recovery.error());
    EXPECT_EQ(recovery->dropped_damaged, 0u);
    for (uint64_t key = 0; key < kKeys; ++key) expectation.check(store, key, evicting);
    expectation.end_round();
    there += recovery->objects;
    EXPECT_EQ(store.count("dropped_objects_total", "reason=\"damaged\""), 0);
    store.crash();
  }
  const std::string percent = std::to_string(there * 100 / (rounds * kKeys));
  ::testing::Test::RecordProperty("present_percent", percent);
  std::cout << "  present after a kill: " << percent << " % of the keys\n";
}

TEST(CossKill, WhatIsDurableIsThereAndWholeAndWhatWasRemovedDurablyIsNot) {
  kill_again_and_again(256 << 20, crash_rounds(), test_seed(1), false, "libaio");
}

TEST(CossKill, AStoreThatOverwritesIsWholeToo) {
  kill_again_and_again(1 << 20, crash_rounds(), test_seed(2), true, "libaio");
  kill_again_and_again(1 << 20, crash_rounds(), test_seed(3), true, "blocking");
}

TEST(CossKill, AllThatWasCommittedSurvivesButTheMembufs) {
  const uint64_t seed = test_seed(4);
  CossUnderTest store(32 << 20);
  uint64_t committed = 0;
  uint64_t survived = 0;
  uint64_t lost_max = 0;
  for (uint64_t round = 0; round < crash_rounds(); ++round) {
    SCOPED_TRACE("round " + std::to_string(round) + ", " + seed_trace(seed));
    std::filesystem::remove(store.file());
    const std::vector<Report> reports =
        run_and_kill(store, seed * 1000 + round, 0, Work::kDistinctKeys);
    ASSERT_TRUE(store.start_on_its_engine().has_value());
    uint64_t told = 0;
    uint64_t lost = 0;
    for (const Report& report : reports) {
      if (report.kind != Report::Kind::kStored) continue;
      ++told;
      const auto found = store.get(key_text(report.key));
      if (found.has_value()) {
        EXPECT_EQ(verified_version(report.key, *found), report.key);
      } else {
        ++lost;
      }
    }
    // Eight membufs, each with five objects.
    EXPECT_LE(lost, 8u * 5);
    committed += told;
    survived += told - lost;
    lost_max = std::max(lost_max, lost);
    store.crash();
  }
  std::cout << "  of " << committed << " committed objects " << survived
            << " survived; a kill took at most " << lost_max << "\n";
}

}  // namespace
}  // namespace testing_support
