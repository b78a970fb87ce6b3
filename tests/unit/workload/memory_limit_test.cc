#include "workload/experiment/memory_limit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "storage/base/units.h"
#include "workload/experiment/machine_check.h"
#include "workload/report/json_text.h"

namespace workload {
namespace {

using storage::kMiB;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

MemoryUse use_of(uint64_t process_bytes, uint64_t page_cache_bytes = 0) {
  MemoryUse use;
  use.process_bytes = process_bytes;
  use.page_cache_bytes = page_cache_bytes;
  use.usage_bytes = process_bytes + page_cache_bytes;
  return use;
}

TEST(LimitFollower, ThePageCacheGivesWayWhileThereIsAny) {
  LimitFollower follower({64 * kMiB});
  EXPECT_EQ(follower.limit_after(use_of(10 * kMiB, 54 * kMiB)), 64 * kMiB);
  EXPECT_EQ(follower.limit_after(use_of(48 * kMiB, 16 * kMiB)), 64 * kMiB);
  // Kernel memory is inodes for the most part: a limit that followed it would let it grow for ever.
  auto many_inodes = use_of(10 * kMiB);
  many_inodes.kernel_bytes = 60 * kMiB;
  EXPECT_EQ(follower.limit_after(many_inodes), 64 * kMiB);
}

TEST(LimitFollower, FollowsProcessesThatNeedMoreAndComesBack) {
  LimitFollower follower({64 * kMiB});
  EXPECT_EQ(follower.limit_after(use_of(60 * kMiB)), 76 * kMiB);
  EXPECT_EQ(follower.limit_after(use_of(500 * kMiB + 1)), 516 * kMiB + 4096);
  EXPECT_EQ(follower.limit_after(use_of(10 * kMiB)), 64 * kMiB);
  EXPECT_EQ(LimitFollower({16 * kMiB}).allowance_bytes(), 4 * kMiB);
}

TEST(LimitFollower, OfThePageCacheAloneItLiesAboveWhatTheProcessesHave) {
  LimitFollower follower({0, 8 * kMiB});
  EXPECT_GT(follower.first_limit_bytes(), 8 * kMiB);
  MemoryUse use;
  use.process_bytes = 20 * kMiB;
  follower.limit_after(use);
  EXPECT_EQ(follower.limit_after(use), 28 * kMiB);
  use.process_bytes = 90 * kMiB;
  EXPECT_EQ(follower.limit_after(use),
            168 * kMiB);  // It may grow as much again until the next look.
  EXPECT_EQ(follower.limit_after(use), 98 * kMiB);
  use.frozen = true;
  EXPECT_GT(follower.limit_after(use), 98 * kMiB);
  use.frozen = false;
  use.process_bytes = 10 * kMiB;
  EXPECT_EQ(follower.limit_after(use), 18 * kMiB);
}

TEST(LimitFollower, AFrozenGroupIsReleasedWithinAFewLooks) {
  LimitFollower follower({64 * kMiB});
  auto frozen = use_of(40 * kMiB);
  frozen.frozen = true;
  // Whatever fills the group: 24 GiB are less than a dozen doublings away.
  uint64_t limit = 0;
  for (int look = 0; look < 12; ++look) limit = follower.limit_after(frozen);
  EXPECT_GT(limit, 24 * 1024 * kMiB);
  for (int look = 0; look < 200; ++look) limit = follower.limit_after(frozen);
  EXPECT_LE(limit, uint64_t{1} << 50);
}

MemoryAccount held_account() {
  MemoryAccount account;
  account.asked_bytes = account.limit_bytes = account.limit_max_bytes = 64 * kMiB;
  account.usage_peak_bytes = 64 * kMiB;
  account.process_peak_bytes = 20 * kMiB;
  account.looks = 4;
  account.page_cache_sum_bytes = 4.0 * 30 * kMiB;
  account.process_sum_bytes = 4.0 * 10 * kMiB;
  account.last.page_cache_bytes = 31 * kMiB;
  account.last.times_at_limit = 9;
  return account;
}

TEST(MemoryAccount, SaysWhatWasHeld) {
  const MemoryAccount account = held_account();
  const auto json = memory_to_json(account);
  EXPECT_EQ(count_at(json, "asked_bytes"), 64 * kMiB);
  EXPECT_EQ(count_at(json, "page_cache_mean_bytes"), 30 * kMiB);
  EXPECT_EQ(count_at(json, "process_mean_bytes"), 10 * kMiB);
  EXPECT_EQ(count_at(json, "page_cache_end_bytes"), 31 * kMiB);
  EXPECT_EQ(count_at(json, "times_at_limit"), 9U);
  EXPECT_THAT(memory_warnings(account), IsEmpty());
  EXPECT_EQ(memory_excess(account), 0);
  EXPECT_TRUE(memory_to_json(MemoryAccount{}).at("page_cache_mean_bytes").is_null());
}

TEST(MemoryAccount, SaysWhatWasNotHeld) {
  MemoryAccount account = held_account();
  account.limit_max_bytes = 128 * kMiB;
  account.usage_peak_bytes = 96 * kMiB;
  account.frozen = 3;
  account.failure = "no reason";
  EXPECT_THAT(memory_warnings(account),
              ElementsAre(HasSubstr("raised up to 128 MiB"), HasSubstr("stand still"),
                          HasSubstr("no reason")));
  EXPECT_DOUBLE_EQ(memory_excess(account), 0.5);
}

TEST(PageCacheWarning, ComesWhereTheCacheFitsInMemory) {
  EXPECT_THAT(page_cache_warning({}, 8 * kMiB, 4 * kMiB), HasSubstr("no --memory"));
  EXPECT_THAT(page_cache_warning({}, 4 * kMiB - 1, 4 * kMiB), IsEmpty());
  EXPECT_THAT(page_cache_warning({2 * kMiB}, 8 * kMiB, 4 * kMiB), IsEmpty());
  EXPECT_THAT(page_cache_warning({5 * kMiB}, 8 * kMiB, 4 * kMiB),
              HasSubstr("5.00 MiB by --memory"));
}

TEST(MachineCheck, WithoutAGroupEveryCellIsSkippedWithTheReason) {
  ExperimentOptions options;
  options.memory.limit_bytes = 64 * kMiB;
  const std::string reason = why_no_memory_limit();
  MachineCheck machine(options, {}, nullptr);
  CellPlan none;
  none.scheme = "none";
  EXPECT_EQ(machine.why_not(none), reason);
}

}  // namespace
}  // namespace workload
