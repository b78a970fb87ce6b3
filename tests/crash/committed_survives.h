// For stores of which all that was reported as done outlives the process, whenever it is killed.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "storage/base/random.h"
#include "tests/crash/killed_child.h"
#include "tests/crash/versioned_object.h"
#include "tests/support/seed.h"

namespace testing_support {

inline constexpr uint64_t kKilledKeys = 40;

/// What the child tells.
struct CommitReport {
  enum class Kind : uint64_t { kStored, kWillRemove, kRemoved };
  Kind kind = Kind::kRemoved;
  uint64_t key = 0;
  uint64_t version = 0;  ///< Grows with every operation of every child.
};

/// What must be true of each key after a crash, by all that was reported so far.
class CommittedExpectation {
 public:
  void note(const CommitReport& report) {
    last_[report.key] = report;
    version_max_ = std::max(version_max_, report.version);
  }
  uint64_t version_max() const { return version_max_; }
  /// Of the objects that were reported as stored and neither replaced nor removed since, how many
  /// were there after a kill.
  double survived_percent() const {
    return committed_ == 0
               ? 100.0
               : 100.0 * static_cast<double>(survived_) / static_cast<double>(committed_);
  }

  /// `found` is what the store gives for `key`. `evicting`: an object may also have gone because
  /// the store was full.
  void check(uint64_t key, const storage::Result<StoredObject>& found, bool evicting) {
    CommitReport& last = last_[key];
    const bool stored = last.kind == CommitReport::Kind::kStored;
    committed_ += stored ? 1 : 0;
    if (found.has_error()) {
      EXPECT_EQ(found.error().code, storage::Errc::kNotFound);
      EXPECT_TRUE(evicting || !stored) << "key " << key << " is lost";
      last.kind = CommitReport::Kind::kRemoved;
      return;
    }
    survived_ += stored ? 1 : 0;
    // An operation that was under way may have come to its end unreported.
    const uint64_t version = verified_version(key, *found);
    if (last.kind == CommitReport::Kind::kRemoved) {
      EXPECT_GT(version, last.version) << "key " << key << " was removed";
    } else if (stored) {
      EXPECT_GE(version, last.version) << "key " << key << " is old";
    }
    last = {CommitReport::Kind::kStored, key, version};
    version_max_ = std::max(version_max_, version);
  }

 private:
  std::map<uint64_t, CommitReport> last_;
  uint64_t version_max_ = 0;
  uint64_t committed_ = 0;
  uint64_t survived_ = 0;
};

/// What the child does until it is killed, all of it following from `seed`. `Store` is a store
/// under test, `start` starts it.
template <class Store>
class CommittingChild {
 public:
  using Start = std::function<storage::Result<storage::RecoveryReport>(Store&)>;

  CommittingChild(Store& store, Start start, int pipe_fd, uint64_t seed, uint64_t first_version)
      : store_(store),
        start_(std::move(start)),
        pipe_fd_(pipe_fd),
        random_(seed),
        version_(first_version) {}

  void run() {
    if (!start_(store_).has_value()) return;
    for (uint64_t i = 0; i < 5000; ++i, ++version_) {
      const uint64_t key = random_.below(kKilledKeys);
      const uint64_t kind = random_.below(10);
      if (kind == 0) {
        tell(key, CommitReport::Kind::kWillRemove);
        if (store_.remove(key_text(key)).has_value()) tell(key, CommitReport::Kind::kRemoved);
      } else if (kind <= 3) {
        update(key);
      } else {
        put(key);
      }
      if (random_.below(400) == 0) {  // clean restarts on the way
        if (!store_.stop().has_value() || !start_(store_).has_value()) return;
      }
    }
  }

 private:
  void put(uint64_t key) {
    const size_t size_bytes = random_.below(3) == 0 ? random_.below(120'000) : random_.below(9000);
    const BodySize told = random_.below(2) == 0 ? BodySize::kKnown : BodySize::kUnknown;
    if (store_.put(key_text(key), versioned_object(key, version_, size_bytes), told).has_value()) {
      tell(key, CommitReport::Kind::kStored);
    }
  }
  void update(uint64_t key) {
    const auto found = store_.get(key_text(key));
    if (found.has_error()) return;
    // Sometimes so long that the object must be rewritten, or takes more slots.
    const std::string padding(random_.below(3) == 0 ? 6000 : 10, '.');
    const std::string metadata = version_text(version_, found->body.size(), padding);
    if (store_.update(key_text(key), metadata).has_value()) tell(key, CommitReport::Kind::kStored);
  }
  void tell(uint64_t key, CommitReport::Kind kind) const {
    send_report(pipe_fd_, CommitReport{kind, key, version_});
  }

  Store& store_;
  Start start_;
  int pipe_fd_;
  storage::Random random_;
  uint64_t version_;
};

/// What differs from store to store.
template <class Store>
struct KilledStore {
  std::string name;  ///< For people.
  /// As CommittingChild has it.
  typename CommittingChild<Store>::Start start;
  /// Another one over the same file or folder, in the child.
  std::function<std::unique_ptr<Store>(Store&)> twin;
  /// Looks at what a start after a kill says.
  std::function<void(Store&, const storage::RecoveryReport&)> check_recovery;
};

/// Kills a process that works on `store`, `rounds` times, and looks at every key after each.
template <class Store>
void kill_again_and_again(Store& store, const KilledStore<Store>& how, uint64_t rounds,
                          uint64_t seed, bool evicting) {
  CommittedExpectation expectation;
  for (uint64_t round = 0; round < rounds && !::testing::Test::HasFailure(); ++round) {
    SCOPED_TRACE("round " + std::to_string(round) + ", " + seed_trace(seed));
    const uint64_t round_seed = seed * 1000 + round;
    storage::Random random(round_seed);
    const auto work = [&](int pipe_fd) {
      const std::unique_ptr<Store> twin = how.twin(store);
      CommittingChild<Store>(*twin, how.start, pipe_fd, round_seed, expectation.version_max() + 1)
          .run();
      ::_exit(0);  // The twin is not stopped.
    };
    for (const auto& report : reports_until_killed<CommitReport>(random, 150, 1500, work)) {
      expectation.note(report);
    }
    const auto recovery = how.start(store);
    ASSERT_TRUE(recovery.has_value()) << to_string(recovery.error());
    how.check_recovery(store, *recovery);
    for (uint64_t key = 0; key < kKilledKeys; ++key) {
      expectation.check(key, store.get(key_text(key)), evicting);
    }
    EXPECT_EQ(store.count("dropped_objects_total", "reason=\"damaged\""), 0);
    store.crash();
  }
  std::ostringstream percent;
  percent.precision(4);
  percent << expectation.survived_percent();
  ::testing::Test::RecordProperty("survived_percent", percent.str());
  std::cout << "  " << how.name << (evicting ? ", full" : "") << ": " << rounds << " kills, "
            << percent.str() << " % of the committed objects were there after a kill\n";
}

}  // namespace testing_support
