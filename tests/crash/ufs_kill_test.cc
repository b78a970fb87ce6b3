// A process that writes to a ufs store is killed at any moment, again and again.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <map>
#include <sstream>
#include <thread>

#include "storage/base/random.h"
#include "storage/base/units.h"
#include "tests/crash/crash_rounds.h"
#include "tests/support/pattern.h"
#include "tests/support/seed.h"
#include "tests/support/ufs_under_test.h"

namespace testing_support {
namespace {

using storage::Errc;

constexpr uint64_t kKeys = 40;

std::string key_of(uint64_t key) {
  return "http://example.org/" + std::to_string(key);
}

// What the child tells. Short enough to arrive whole.
struct Report {
  enum class Kind : uint64_t { kStored, kWillRemove, kRemoved };
  Kind kind = Kind::kRemoved;
  uint64_t key = 0;
  uint64_t version = 0;  // grows with every operation of every child
};

// The body follows from key and size, so that an update keeps it true; the metadata names all.
StoredObject object_of(uint64_t key, uint64_t version, size_t size) {
  return StoredObject(std::to_string(version) + " " + std::to_string(size) + " ",
                      pattern_body(key * 7 + size, size));
}

// The version of a stored object, after a look at every byte of it.
uint64_t verified_version(uint64_t key, const StoredObject& object) {
  uint64_t version = 0;
  size_t size = 0;
  std::istringstream(object.metadata) >> version >> size;
  EXPECT_EQ(object.body.size(), size);
  EXPECT_TRUE(matches_pattern(key * 7 + size, 0, std::as_bytes(std::span(object.body))));
  return version;
}

// What the child does until it is killed. Everything random follows from `seed`.
class Child {
 public:
  Child(UfsUnderTest& store, int pipe_fd, uint64_t seed, uint64_t first_version)
      : store_(store), pipe_fd_(pipe_fd), random_(seed), version_(first_version) {}

  void run() {
    if (!store_.start().has_value()) return;
    for (uint64_t i = 0; i < 5000; ++i, ++version_) {
      const uint64_t key = random_.below(kKeys);
      const uint64_t kind = random_.below(10);
      if (kind == 0) {
        tell(key, Report::Kind::kWillRemove);
        if (store_.remove(key_of(key)).has_value()) tell(key, Report::Kind::kRemoved);
      } else if (kind <= 3) {
        update(key);
      } else {
        const size_t size = random_.below(3) == 0 ? random_.below(120'000) : random_.below(9000);
        const StoredObject object = object_of(key, version_, size);
        const auto body_size = random_.below(2) == 0 ? BodySize::kKnown : BodySize::kUnknown;
        if (store_.put(key_of(key), object, body_size).has_value())
          tell(key, Report::Kind::kStored);
      }
      if (random_.below(400) == 0) {  // clean restarts on the way
        if (!store_.stop().has_value() || !store_.start().has_value()) return;
      }
    }
  }

 private:
  void update(uint64_t key) {
    const auto found = store_.get(key_of(key));
    if (found.has_error()) return;
    // Sometimes so long that the object must be rewritten.
    const std::string padding(random_.below(3) == 0 ? 3000 : 10, '.');
    const std::string metadata =
        std::to_string(version_) + " " + std::to_string(found->body.size()) + " " + padding;
    if (store_.update(key_of(key), metadata).has_value()) tell(key, Report::Kind::kStored);
  }
  void tell(uint64_t key, Report::Kind kind) const {
    Report report;
    report.kind = kind;
    report.key = key;
    report.version = version_;
    if (::write(pipe_fd_, &report, sizeof report) != sizeof report) ::_exit(1);
  }

  UfsUnderTest& store_;
  int pipe_fd_;
  storage::Random random_;
  uint64_t version_;
};

// Lets a child work on the store for some reports and a little longer; returns all reports.
std::vector<Report> run_and_kill(const std::filesystem::path& folder, uint64_t capacity_bytes,
                                 const std::string& engine, uint64_t seed, uint64_t first_version) {
  int ends[2] = {-1, -1};
  EXPECT_EQ(::pipe(ends), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(ends[0]);
    UfsUnderTest store(capacity_bytes, 16 * 1024, folder);
    store.engine = UfsUnderTest::engine_named(engine);
    Child(store, ends[1], seed, first_version).run();
    ::_exit(0);
  }
  ::close(ends[1]);
  storage::Random random(seed);
  const uint64_t wanted = random.below(150);
  std::vector<Report> reports;
  Report report;
  while (reports.size() < wanted && ::read(ends[0], &report, sizeof report) == sizeof report) {
    reports.push_back(report);
  }
  std::this_thread::sleep_for(std::chrono::microseconds(random.below(1500)));
  ::kill(child, SIGKILL);
  while (::read(ends[0], &report, sizeof report) == sizeof report) reports.push_back(report);
  ::close(ends[0]);
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return reports;
}

// What must be true of each key after a crash, by all that was reported so far.
class Expectation {
 public:
  void note(const Report& report) {
    last_[report.key] = report;
    version_max_ = std::max(version_max_, report.version);
  }
  uint64_t version_max() const { return version_max_; }

  // `evicting`: an object may also have gone because the store was full.
  void check(UfsUnderTest& store, uint64_t key, bool evicting) {
    const auto found = store.get(key_of(key));
    Report& last = last_[key];
    if (found.has_error()) {
      EXPECT_EQ(found.error().code, Errc::kNotFound);
      EXPECT_TRUE(evicting || last.kind != Report::Kind::kStored) << "key " << key << " is lost";
      last.kind = Report::Kind::kRemoved;
      return;
    }
    // An operation that was under way may have come to its end unreported.
    const uint64_t version = verified_version(key, *found);
    if (last.kind == Report::Kind::kRemoved) {
      EXPECT_GT(version, last.version) << "key " << key << " was removed";
    } else if (last.kind == Report::Kind::kStored) {
      EXPECT_GE(version, last.version) << "key " << key << " is old";
    }
    last.kind = Report::Kind::kStored;
    last.key = key;
    last.version = version;
    version_max_ = std::max(version_max_, version);
  }

 private:
  std::map<uint64_t, Report> last_;
  uint64_t version_max_ = 0;
};

void kill_again_and_again(const std::string& engine, uint64_t capacity_bytes, uint64_t rounds,
                          uint64_t seed, bool evicting) {
  Expectation expectation;
  UfsUnderTest store(capacity_bytes);
  store.engine = UfsUnderTest::engine_named(engine);
  for (uint64_t round = 0; round < rounds; ++round) {
    SCOPED_TRACE("round " + std::to_string(round) + ", " + seed_trace(seed));
    const std::vector<Report> reports = run_and_kill(
        store.folder(), capacity_bytes, engine, seed * 1000 + round, expectation.version_max() + 1);
    for (const Report& report : reports) expectation.note(report);

    const auto recovery = store.start();
    ASSERT_TRUE(recovery.has_value()) << to_string(recovery.error());
    EXPECT_EQ(recovery->dropped_damaged, 0u);
    EXPECT_EQ(recovery->size_bytes, store.allocated_bytes());
    EXPECT_EQ(recovery->objects, store.files().size());
    EXPECT_LE(recovery->size_bytes, capacity_bytes);
    EXPECT_TRUE(store.files(true).empty()) << "an unfinished file is left";
    for (uint64_t key = 0; key < kKeys; ++key) expectation.check(store, key, evicting);
    EXPECT_EQ(store.count("dropped_objects_total", "reason=\"damaged\""), 0);
    EXPECT_EQ(store.count("dropped_objects_total", "reason=\"missing\""), 0);
    store.crash();
  }
}

class UfsKill : public ::testing::TestWithParam<std::string> {};

INSTANTIATE_TEST_SUITE_P(Engines, UfsKill, ::testing::ValuesIn(engines_of_ufs()),
                         [](const auto& tested) { return tested.param; });

TEST_P(UfsKill, WhatWasCommittedIsThereAndWholeAndWhatWasRemovedIsNot) {
  kill_again_and_again(GetParam(), 256 << 20, crash_rounds(), test_seed(1), false);
}

TEST_P(UfsKill, AStoreThatEvictsIsWholeToo) {
  kill_again_and_again(GetParam(), 400 << 10, crash_rounds(), test_seed(2), true);
}

}  // namespace
}  // namespace testing_support
