// What ranks agree on before and during a run: clocks, command lines, pages in hand, launchers.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <thread>

#include "tests/support/fake_ensemble.h"
#include "workload/ensemble/clock_match.h"
#include "workload/ensemble/dealt_pages.h"
#include "workload/ensemble/launch.h"
#include "workload/ensemble/muster.h"

namespace workload {
namespace {

using std::chrono::milliseconds;
using testing_support::FakeEnsemble;
using testing_support::FakeNetwork;

storage::SteadyTime at_ms(int64_t ms) {
  return storage::SteadyTime(milliseconds(ms));
}

TEST(ClockMatch, TheQuickestRoundTripBoundsTheError) {
  ClockMatch match;
  EXPECT_FALSE(match.best());
  // The other clock is 1000 ms behind; all of the delay lies on one way.
  match.add(at_ms(1000), at_ms(0), at_ms(1040));
  match.add(at_ms(2000), at_ms(1008), at_ms(2008));
  match.add(at_ms(3000), at_ms(2000), at_ms(3100));
  ASSERT_TRUE(match.best());
  EXPECT_NEAR(static_cast<double>(match.best()->bound.count()), 4e6, 1);
  const auto error = match.best()->here_less_there - milliseconds(1000);
  EXPECT_LE(std::chrono::abs(error), match.best()->bound);
  EXPECT_EQ(match.best()->to_there(match.best()->to_here(at_ms(5))), at_ms(5));
}

TEST(ClockMatch, WhatDriftedSinceCounts) {
  const ClockOffset first{milliseconds(1000), milliseconds(1)};
  EXPECT_EQ(error_bound(first, std::nullopt), milliseconds(1));
  EXPECT_EQ(error_bound(first, ClockOffset{milliseconds(1007), milliseconds(2)}), milliseconds(9));
}

TEST(Launch, TellsRanksByTheirEnvironment) {
  std::map<std::string, std::string> environment;
  const auto read = [&environment] {
    return read_launch([&environment](const char* name) {
      const auto found = environment.find(name);
      return found == environment.end() ? nullptr : found->second.c_str();
    });
  };
  EXPECT_TRUE(read().alone());
  environment = {{"OMPI_COMM_WORLD_SIZE", "4"}, {"OMPI_COMM_WORLD_RANK", "3"}};
  EXPECT_FALSE(read().alone());
  EXPECT_EQ(read().rank, 3U);
  environment["OMPI_COMM_WORLD_SIZE"] = "1";
  EXPECT_TRUE(read().alone());
  environment = {{"PMIX_RANK", "2"}};
  EXPECT_FALSE(read().alone());
  EXPECT_EQ(read().rank, 2U);
}

/// Musters three ranks with these entries; what each came to.
std::vector<MusterOutcome> muster(const std::vector<MusterEntry>& entries) {
  FakeNetwork network(entries.size(), milliseconds(1));
  const storage::SystemClock clock;
  std::vector<MusterOutcome> outcomes(entries.size());
  std::vector<std::thread> threads;
  for (size_t rank = 0; rank < entries.size(); ++rank) {
    threads.emplace_back([&, rank] {
      FakeEnsemble ensemble(network, rank);
      outcomes[rank] = rank == 0 ? muster_as_lead(ensemble, clock, entries[rank], {})
                                 : muster_as_follower(ensemble, clock, entries[rank], {});
    });
  }
  for (std::thread& thread : threads) thread.join();
  return outcomes;
}

TEST(Muster, GoesOnWhereAllAreAlike) {
  const auto outcomes = muster({{"a", ""}, {"a", ""}, {"a", ""}});
  for (const MusterOutcome& outcome : outcomes) EXPECT_TRUE(outcome.go);
  EXPECT_EQ(outcomes[0].hosts, (std::vector<std::string>{"host0", "host1", "host2"}));
}

TEST(Muster, OneReasonEndsAll) {
  const std::vector<std::pair<std::vector<MusterEntry>, std::string>> cases{
      {{{"a", "bad"}, {"a", "bad"}, {"a", "bad"}}, "bad"},
      {{{"a", ""}, {"a", ""}, {"a", "no file"}}, "rank 2 (host2): no file"},
      {{{"a", ""}, {"b", ""}, {"a", ""}},
       "rank 1 (host1): its version, command line or workload file differs from that of rank 0"}};
  for (const auto& [entries, reason] : cases) {
    const auto outcomes = muster(entries);
    for (const MusterOutcome& outcome : outcomes) EXPECT_FALSE(outcome.go);
    EXPECT_EQ(outcomes[0].refusal, reason);
  }
}

TEST(Muster, RanksThatDoNotComeAreNotWaitedForForEver) {
  FakeNetwork network(2);
  FakeEnsemble lead(network, 0);
  EnsembleTiming timing;
  timing.opening = milliseconds(50);
  const auto outcome = muster_as_lead(lead, storage::SystemClock(), {"a", ""}, timing);
  EXPECT_FALSE(outcome.go);
  EXPECT_NE(outcome.refusal.find("1 of 2 ranks did not come"), std::string::npos)
      << outcome.refusal;
  FakeEnsemble follower(network, 1);
  network.silence(0);
  EXPECT_THROW(start_as_follower(follower, storage::SystemClock(), timing), WireError);
}

/// Two phases, the first of 100 ms, followed elsewhere.
std::vector<Phase> two_phases() {
  Phase first;
  first.name = "first";
  first.goal.duration = milliseconds(100);
  Phase second;
  second.name = "second";
  second.goal.requests = 10;
  return {first, second};
}

std::vector<ScheduledPage> one_page(size_t phase) {
  ScheduledPage page;
  page.requests.resize(2);
  page.grant = {2, phase, false};
  page.place = 3;
  return {page};
}

TEST(DealtPages, SayLaterUntilTheEndIsKnown) {
  RunControl control(two_phases(), 0, Deciding::kElsewhere);
  control.start(at_ms(0));
  DealtPages pages(control, at_ms(0));
  size_t came = 0;
  pages.on_arrival([&came](size_t count) { came += count; });
  std::vector<IntendedRequest> page;
  EXPECT_TRUE(pages.next_page(page, at_ms(1)).later);
  EXPECT_EQ(pages.waiting(), 1U);
  pages.put(one_page(0));
  EXPECT_EQ(came, 1U);
  const Grant grant = pages.next_page(page, at_ms(2));
  EXPECT_EQ(grant.requests, 2U);
  EXPECT_EQ(page.size(), 2U);
  pages.set_exhausted(true, 0);
  EXPECT_FALSE(pages.next_page(page, at_ms(3)).later);
  // What was given back since may come again.
  control.give_back(1, grant);
  EXPECT_TRUE(pages.next_page(page, at_ms(4)).later);
  pages.set_exhausted(true, 1);
  EXPECT_FALSE(pages.next_page(page, at_ms(5)).later);
  EXPECT_EQ(control.take_given_back().front().requests, 1U);
  EXPECT_TRUE(control.take_given_back().empty());
}

TEST(DealtPages, WhoeverWaitsIsToldThatNoneWillCome) {
  RunControl control(two_phases(), 0, Deciding::kElsewhere);
  control.start(at_ms(0));
  DealtPages pages(control, at_ms(0));
  bool told = false;
  pages.on_arrival([&told](size_t) { told = true; });
  std::vector<IntendedRequest> page;
  pages.put(one_page(0));
  const Grant grant = pages.next_page(page, at_ms(1));
  EXPECT_TRUE(pages.next_page(page, at_ms(1)).later);
  EXPECT_TRUE(pages.next_page(page, at_ms(1)).later);
  pages.asked_for(1);
  EXPECT_EQ(pages.waiting(), 1U);
  // Not by one who does not know of all that was given back.
  control.give_back(1, grant);
  told = false;
  pages.set_exhausted(true, 0);
  EXPECT_FALSE(told);
  EXPECT_EQ(pages.waiting(), 1U);
  pages.set_exhausted(true, 1);
  EXPECT_TRUE(told);
  EXPECT_EQ(pages.waiting(), 0U);
  EXPECT_FALSE(pages.next_page(page, at_ms(2)).later);
}

TEST(DealtPages, APageBelongsToThePhaseInWhichItIsSent) {
  std::vector<Phase> phases = two_phases();
  phases[1].goal = phases[0].goal;
  RunControl control(phases, 0, Deciding::kElsewhere);
  control.start(at_ms(0));
  DealtPages pages(control, at_ms(0));
  pages.put(one_page(0));
  pages.put(one_page(0));
  std::vector<IntendedRequest> page;
  EXPECT_EQ(pages.next_page(page, at_ms(99)).phase, 0U);
  // Time alone ends the first phase, so it needs no word from elsewhere.
  EXPECT_EQ(pages.next_page(page, at_ms(101)).phase, 1U);
  EXPECT_EQ(control.began(1), at_ms(100));
}

TEST(DealtPages, WhatAPhaseCountsMustHaveBeenGrantedInIt) {
  RunControl control(two_phases(), 0, Deciding::kElsewhere);
  control.start(at_ms(0));
  DealtPages pages(control, at_ms(0));
  pages.put(one_page(0));
  pages.put(one_page(0));
  pages.put(one_page(1));
  std::vector<IntendedRequest> page;
  EXPECT_EQ(pages.next_page(page, at_ms(101)).phase, 1U);
  EXPECT_EQ(page.size(), 2U);
  EXPECT_TRUE(pages.any_overdue());
  EXPECT_EQ(pages.take_overdue().size(), 2U);
  EXPECT_FALSE(pages.any_overdue());
  EXPECT_TRUE(pages.next_page(page, at_ms(102)).later);
}

TEST(DealtPages, TheScheduleIsThatOfTheOneWhoDraws) {
  RunControl control(two_phases(), 0, Deciding::kElsewhere);
  control.start(at_ms(0));
  DealtPages pages(control, at_ms(0));
  ArrivalSchedule drawn(true, storage::Random(4), at_ms(0));
  for (const auto& [rate, ms] : {std::pair{100.0, 0}, {0.0, 50}, {3000.0, 70}, {1.0, 90}}) {
    drawn.set_rate(rate, at_ms(ms));
    pages.set_rate(rate, at_ms(ms));
  }
  for (int index = 0; index < 80; ++index) {
    const double place = drawn.take(1);
    EXPECT_EQ(pages.due(place), drawn.due(place));
  }
}

}  // namespace
}  // namespace workload
