// A process writes to a store on a filesystem on a modelled disk, and the power is cut, again and
// again. Stores do not flush each object, so that any of them may be lost or old afterwards; but
// what is found must be whole, and the store must go on.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <iostream>
#include <map>
#include <set>

#include "tests/crash/committed_survives.h"
#include "tests/crash/crash_rounds.h"
#include "tests/support/coss_under_test.h"
#include "tests/support/modelled_disk.h"
#include "tests/support/process.h"
#include "tests/support/rock_under_test.h"
#include "tests/support/ufs_under_test.h"

namespace testing_support {
namespace {

/// Which versions a key may have, by all that was ever stored under it.
class EverStored {
 public:
  void note(const CommitReport& report) {
    if (report.kind == CommitReport::Kind::kStored) versions_[report.key].insert(report.version);
    keys_[report.version] = report.key;
    version_max_ = std::max(version_max_, report.version);
  }
  uint64_t version_max() const { return version_max_; }
  void check(uint64_t key, const storage::Result<StoredObject>& found) {
    const auto& stored = versions_[key];
    committed_ += stored.empty() ? 0 : 1;
    if (found.has_error()) {
      EXPECT_EQ(found.error().code, storage::Errc::kNotFound);
      return;
    }
    const uint64_t version = verified_version(key, *found);
    // The last operation before a cut may have come to its end unreported.
    const auto reported = keys_.find(version);
    EXPECT_TRUE(stored.contains(version) || reported == keys_.end()) << "key " << key;
    survived_ += !stored.empty() && version == *stored.rbegin() ? 1 : 0;
    version_max_ = std::max(version_max_, version);
  }
  /// Of the keys that were ever stored, how many had their last version after a cut.
  uint64_t survived_percent() const { return committed_ == 0 ? 0 : 100 * survived_ / committed_; }

 private:
  std::map<uint64_t, std::set<uint64_t>> versions_;
  std::map<uint64_t, uint64_t> keys_;
  uint64_t version_max_ = 0;
  uint64_t committed_ = 0;
  uint64_t survived_ = 0;
};

class StorePowerCut : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    std::ofstream(folder_ / "lazy.toml") << "base = \"sata-ssd\"\nwrite_cache = \"64M\"\n"
                                            "destage_delay = \"1h\"\nsector = \""
                                         << sector_for(GetParam()) << "\"\n";
    disk_ = std::make_unique<ModelledDisk>(
        std::vector<std::string>{"--profile", folder_ / "lazy.toml", "--size", "512M", "--seed",
                                 std::to_string(seed_), "--time-scale", "20", "--fast"});
    if (!disk_->problem().empty()) GTEST_SKIP() << disk_->problem();
    filesystem_ = std::make_unique<MountedFilesystem>(*disk_, GetParam());
    if (!filesystem_->mounted()) GTEST_SKIP() << filesystem_->problem();
    disk_->control("fast off");
  }

  /// `make` makes the store under test in a folder, `start` starts it.
  template <class Store>
  void cut_again_and_again(const std::string& name,
                           const std::function<std::unique_ptr<Store>()>& make,
                           const typename CommittingChild<Store>::Start& start) {
    EverStored stored;
    const uint64_t rounds = std::max<uint64_t>(crash_rounds() / 5, 2);
    for (uint64_t round = 0; round < rounds && !HasFailure(); ++round) {
      SCOPED_TRACE(name + ", round " + std::to_string(round) + ", " + seed_trace(seed_));
      const uint64_t round_seed = seed_ * 1000 + round;
      storage::Random random(round_seed);
      // The child may write on while it is waited for; what it could not write it does not report.
      const auto reports = reports_until_killed<CommitReport>(random, 150, 1, [&](int pipe_fd) {
        const auto store = make();
        CommittingChild<Store>(*store, start, pipe_fd, round_seed, stored.version_max() + 1).run();
        ::_exit(0);
      });
      write_back(random);
      ASSERT_EQ(disk_->control("cut reorder").at("ok"), true);  // if it did not come before
      for (const CommitReport& report : reports) stored.note(report);
      ASSERT_TRUE(filesystem_->unmount());
      disk_->control("power-on");
      ASSERT_TRUE(filesystem_->mount()) << filesystem_->problem();
      const auto store = make();
      const auto recovery = start(*store);
      ASSERT_TRUE(recovery.has_value()) << to_string(recovery.error());
      for (uint64_t key = 0; key < kKilledKeys; ++key) {
        stored.check(key, store->get(key_text(key)));
      }
      const StoredObject object = versioned_object(1000, 1, 20'000);
      EXPECT_TRUE(store->put(key_text(1000), object).has_value());
      EXPECT_TRUE(*store->get(key_text(1000)) == object);
      EXPECT_TRUE(store->stop().has_value());
    }
    std::cout << "  " << name << " on " << GetParam() << ": " << rounds << " power cuts, "
              << stored.survived_percent() << " % of the keys had their last version\n";
  }

  /// What the kernel has of the files goes to the disk: not at all, wholly, or until the power goes
  /// on the way.
  void write_back(storage::Random& random) const {
    const uint64_t how = random.below(3);
    if (how == 0) return;
    if (how == 1) {
      const std::string command = "cut-after-writes " + std::to_string(1 + random.below(40));
      ASSERT_EQ(disk_->control(command + " reorder").at("ok"), true);
    }
    const int folder = ::open(filesystem_->path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    static_cast<void>(::syncfs(folder));  // fails where the power went
    ::close(folder);
  }
  void cut_ufs(const std::string& engine) {
    const auto folder = filesystem_->path() / engine;
    std::filesystem::create_directory(folder);
    cut_again_and_again<UfsUnderTest>(
        "ufs, " + engine,
        [&] {
          auto store = std::make_unique<UfsUnderTest>(64 << 20, 16 * 1024, folder);
          store->engine = UfsUnderTest::engine_named(engine);
          // With mounts of its own this process may not see the place of its own program any more.
          store->engine.helper.program = program_path("cacheoff-diskd");
          return store;
        },
        [](UfsUnderTest& store) { return store.start(); });
  }
  template <class Store>
  void cut_volume(const std::string& name, const std::string& engine) {
    cut_again_and_again<Store>(
        name + ", " + engine,
        [&] {
          auto store = std::make_unique<Store>(32 << 20, filesystem_->path());
          store->spec().options["engine"] = engine;
          return store;
        },
        [](Store& store) { return store.start_on_its_engine(); });
  }

  const uint64_t seed_ = test_seed(1);
  TempDir folder_;
  std::unique_ptr<ModelledDisk> disk_;
  std::unique_ptr<MountedFilesystem> filesystem_;
};

INSTANTIATE_TEST_SUITE_P(Filesystems, StorePowerCut, ::testing::Values("ext4", "xfs", "btrfs"),
                         [](const auto& tested) { return tested.param; });

TEST_P(StorePowerCut, FilesByBlockingCallsAreWholeOrGone) {
  cut_ufs("blocking");
}
TEST_P(StorePowerCut, FilesByThreadsAreWholeOrGone) {
  cut_ufs("thread_pool");
}
TEST_P(StorePowerCut, FilesByAHelperAreWholeOrGone) {
  cut_ufs("helper");
}
TEST_P(StorePowerCut, TheLogOfStripesIsWholeUpToItsEnd) {
  cut_volume<CossUnderTest>("coss", "libaio");
}
TEST_P(StorePowerCut, ChainsOfSlotsAreWholeOrGone) {
  cut_volume<RockUnderTest>("rock", "thread_pool");
}

}  // namespace
}  // namespace testing_support
