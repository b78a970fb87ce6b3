#include "workload/client/request_source.h"

#include <gtest/gtest.h>

#include <vector>

#include "workload/model/phases.h"

namespace workload {
namespace {

constexpr uint64_t kFirstPhaseRequests = 200;
constexpr storage::SteadyTime kNow{std::chrono::seconds(1)};

/// New objects only in the first phase, revisits only in the second.
std::vector<Phase> opposite_phases() {
  Phase fill;
  fill.name = "fill";
  fill.goal.requests = kFirstPhaseRequests;
  fill.recurrence = {0, 0};
  fill.primary = false;
  Phase plateau;
  plateau.name = "plateau";
  plateau.goal.requests = 100;
  return {fill, plateau};
}

/// What is granted, in its order; `look` as a timer may do in between.
std::vector<IntendedRequest> requests_of(bool look) {
  Workload workload = polymix4_workload();
  workload.requests.recurrence_percent = 100;
  RunControl control(opposite_phases(), 0);
  control.start(kNow);
  RequestSource source(workload, 5, control);
  std::vector<IntendedRequest> all;
  std::vector<IntendedRequest> page;
  while (source.next_page(page, kNow).requests > 0) {
    all.insert(all.end(), page.begin(), page.end());
    if (look) control.look(kNow);
  }
  return all;
}

TEST(RequestSource, APhaseWithAGoalOfRequestsEndsAtAPlaceInTheStream) {
  const auto unseen = requests_of(false);
  const auto looked_at = requests_of(true);
  ASSERT_EQ(unseen.size(), kFirstPhaseRequests + 100);
  ASSERT_EQ(looked_at.size(), unseen.size());
  EXPECT_FALSE(unseen[kFirstPhaseRequests - 1].is_repeat);
  EXPECT_TRUE(unseen[kFirstPhaseRequests].is_repeat);
  for (size_t index = 0; index < unseen.size(); ++index) {
    EXPECT_EQ(unseen[index].object.id, looked_at[index].object.id) << index;
  }
}

}  // namespace
}  // namespace workload
