// Several ranks make one workload: goals, order of intent, sums, phases and ends.
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>

#include "tests/support/effort.h"
#include "tests/support/temp_dir.h"
#include "tests/unit/workload/ranks_under_test.h"

namespace workload {
namespace {

using std::chrono::milliseconds;
using testing_support::TempDir;

constexpr size_t kRanks = 4;
constexpr uint64_t kRankedRequests = testing_support::effort(1500, 300);

/// A line of a request log.
using Fields = std::vector<std::string>;

std::vector<Fields> log_lines_of(const std::filesystem::path& log) {
  std::ifstream in(log);
  std::vector<Fields> lines;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with('#')) continue;
    std::istringstream words(line);
    lines.emplace_back(std::istream_iterator<std::string>(words),
                       std::istream_iterator<std::string>());
    EXPECT_EQ(lines.back().size(), 14U) << line;
  }
  return lines;
}

/// Those of all ranks; each must have sent some.
std::vector<Fields> lines_of_ranks(const std::filesystem::path& log) {
  std::vector<Fields> all;
  for (size_t rank = 0; rank < kRanks; ++rank) {
    const auto own = log_lines_of(log.string() + ".rank" + std::to_string(rank));
    EXPECT_FALSE(own.empty()) << "rank " << rank;
    all.insert(all.end(), own.begin(), own.end());
  }
  return all;
}

/// Method, kind and URL by place in the order of intent, each place once.
std::map<uint64_t, std::string> ranked_intent_of(const std::vector<Fields>& lines) {
  std::map<uint64_t, std::string> intent;
  for (const Fields& fields : lines) {
    const bool first =
        intent.emplace(std::stoull(fields[11]), fields[2] + ' ' + fields[3] + ' ' + fields[10])
            .second;
    EXPECT_TRUE(first) << fields[11];
  }
  return intent;
}

void expect_all_well(const RanksOutcome& outcome) {
  EXPECT_EQ(outcome.lead.failure, "");
  EXPECT_EQ(outcome.lead.recorder.series.total(), outcome.lead.recorder.total);
  for (size_t rank = 1; rank < kRanks; ++rank) {
    EXPECT_EQ(outcome.followers[rank].loss, "");
    EXPECT_EQ(outcome.followers[rank].exit_status, 0);
  }
}

class RanksRun : public ::testing::TestWithParam<milliseconds> {};

TEST_P(RanksRun, AskForWhatOneProcessAsksFor) {
  const TempDir folder;
  ScriptedServer server(origin_script);
  for (const LoadShape::Kind kind :
       {LoadShape::Kind::kBestEffort, LoadShape::Kind::kRobots, LoadShape::Kind::kRate}) {
    LoadOptions options = options_for(server.port(), 12, kRankedRequests);
    options.workload = small_polymix();
    options.load.kind = kind;
    options.load.rate_rps = 3000;
    options.time_scale = 1000;
    options.request_log = folder / "one";
    EXPECT_EQ(run(options).failure, "");
    options.request_log = folder / "many";
    FakeNetwork network(kRanks, GetParam());
    const RanksOutcome outcome = run_ranks(options, network);
    expect_all_well(outcome);
    expect_sums(outcome.lead);
    EXPECT_EQ(outcome.lead.result.total.sent, kRankedRequests);
    EXPECT_EQ(outcome.lead.result.total.completed, kRankedRequests);
    const auto many = ranked_intent_of(lines_of_ranks(options.request_log));
    EXPECT_EQ(many.size(), kRankedRequests);
    EXPECT_EQ(many, ranked_intent_of(log_lines_of(folder / "one")));
  }
}

TEST_P(RanksRun, MergeToThePooledSamples) {
  const TempDir folder;
  ScriptedServer server(origin_script);
  LoadOptions options = options_for(server.port(), 8, kRankedRequests);
  options.threads = 2;
  options.request_log = folder / "log";
  FakeNetwork network(kRanks, GetParam());
  const RanksOutcome outcome = run_ranks(options, network);
  expect_all_well(outcome);
  expect_sums(outcome.lead);
  Histogram pooled;
  std::set<std::string> transactions;
  for (const Fields& fields : lines_of_ranks(options.request_log)) {
    transactions.insert(fields[0]);
    if (fields[8] == "none" && fields[9] == "1") pooled.record(std::stoull(fields[7]));
  }
  EXPECT_EQ(transactions.size(), kRankedRequests);
  EXPECT_EQ(pooled.count(), kRankedRequests);
  EXPECT_EQ(outcome.lead.result.response_time, pooled);
  EXPECT_EQ(outcome.lead.result.threads, 8);
  uint64_t requests = 0;
  ASSERT_EQ(outcome.lead.result.ranks.size(), kRanks);
  for (const RankResult& rank : outcome.lead.result.ranks) requests += rank.requests;
  EXPECT_EQ(requests, kRankedRequests);
}

INSTANTIATE_TEST_SUITE_P(Delays, RanksRun, ::testing::Values(milliseconds(0), milliseconds(15)),
                         [](const auto& delay) {
                           return std::to_string(delay.param.count()) + "ms";
                         });

TEST(RanksPhases, ChangeInStepAndCountWhatAllDid) {
  const TempDir folder;
  ScriptedServer server(origin_script);
  LoadOptions options = options_for(server.port(), 8, 1);
  options.cache_size_bytes = kRankedRequests * 600;
  Phase timed;
  timed.name = "timed";
  timed.goal.duration = milliseconds(300);
  timed.primary = false;
  Phase counted;
  counted.name = "counted";
  counted.goal.requests = kRankedRequests / 2;
  Phase filled;
  filled.name = "filled";
  filled.goal.fill = 2;
  options.phases = {timed, counted, filled};
  options.request_log = folder / "log";
  FakeNetwork network(kRanks, milliseconds(2));
  const RanksOutcome outcome = run_ranks(options, network);
  expect_all_well(outcome);
  const auto& phases = outcome.lead.result.phases;
  ASSERT_EQ(phases.size(), 3U);
  for (const PhaseResult& phase : phases) EXPECT_TRUE(phase.goal_met) << phase.name;
  EXPECT_EQ(phases[1].total.sent, kRankedRequests / 2);
  EXPECT_GE(phases[2].total.fill_bytes + phases[1].total.fill_bytes, 2 * options.cache_size_bytes);
  std::map<std::string, std::set<size_t>> ranks_in;
  size_t late = 0;
  for (size_t rank = 0; rank < kRanks; ++rank) {
    for (const Fields& fields :
         log_lines_of(options.request_log.string() + ".rank" + std::to_string(rank))) {
      ranks_in[fields[13]].insert(rank);
      // What was sent in the timed phase was sent before its end, by the clock that all share.
      const bool within = std::stod(fields[1]) < 0.3;
      const bool in_timed = fields[13] == "timed";
      EXPECT_TRUE(in_timed || !within) << fields[1];
      if (in_timed && !within) ++late;
    }
  }
  EXPECT_EQ(ranks_in["timed"].size(), kRanks);
  // A robot may have taken its page just before the end, by the clock that all share.
  EXPECT_LE(late, options.load.robots);
}

TEST(RanksPeak, TheFinderSeesAllRanks) {
  ScriptedServer server(origin_script);
  LoadOptions options = options_for(server.port(), 1, 1);
  options.load.kind = LoadShape::Kind::kPeak;
  options.load.peak.sample = milliseconds(100);
  options.load.peak.start_rps = 400;
  options.load.peak.max_rps = 800;
  options.until.requests = kRankedRequests;
  FakeNetwork network(kRanks, milliseconds(1));
  const RanksOutcome outcome = run_ranks(options, network);
  EXPECT_EQ(outcome.lead.failure, "");
  ASSERT_TRUE(outcome.lead.result.peak);
  uint64_t seen = 0;
  for (const PeakPoint& point : outcome.lead.result.peak->points()) seen += point.sample.good;
  uint64_t good = 0;
  for (const PhaseResult& phase : outcome.lead.result.phases) good += phase.total.good;
  EXPECT_GT(good, 0U);
  // All but what came behind the last sample.
  EXPECT_LE(seen, good);
  EXPECT_GE(seen, good / 2);
  for (const RankResult& rank : outcome.lead.result.ranks) EXPECT_GT(rank.requests, good / 8);
}

TEST(RanksEnd, AWrongBodyOnOneRankEndsAll) {
  std::atomic<int> requests{0};
  ScriptedServer server([&requests](const ScriptedRequest& request) {
    ObjectReply reply = right_reply(request);
    // Wrong for whichever rank gets it.
    if (++requests == 300) reply.body[7] = static_cast<char>(reply.body[7] ^ 1);
    return whole(reply, request);
  });
  LoadOptions options = options_for(server.port(), 8, 1'000'000);
  FakeNetwork network(kRanks, milliseconds(1));
  const RanksOutcome outcome = run_ranks(options, network);
  EXPECT_NE(outcome.lead.failure.find("wrong body"), std::string::npos) << outcome.lead.failure;
  for (size_t rank = 1; rank < kRanks; ++rank) EXPECT_EQ(outcome.followers[rank].exit_status, 1);
}

TEST(RanksEnd, AnInterruptOfOneRankEndsAllInOrder) {
  std::atomic<int> requests{0};
  std::atomic<bool> interrupted{false};
  ScriptedServer server([&](const ScriptedRequest& request) {
    if (++requests == 500) interrupted = true;
    return origin_script(request);
  });
  LoadOptions options = options_for(server.port(), 8, 1'000'000);
  FakeNetwork network(kRanks);
  const RanksOutcome outcome = run_ranks(options, network, {}, &interrupted, 2);
  EXPECT_EQ(outcome.lead.failure, "interrupted");
  EXPECT_EQ(outcome.lead.result.total.error_count(), 0U);
  EXPECT_GE(outcome.lead.result.total.sent, 400U);
  expect_sums(outcome.lead);
}

TEST(RanksEnd, ASilentRankEndsAllAndNobodyWaitsForEver) {
  std::atomic<int> requests{0};
  FakeNetwork network(kRanks);
  ScriptedServer server([&](const ScriptedRequest& request) {
    if (++requests == 500) network.silence(2);
    return origin_script(request);
  });
  LoadOptions options = options_for(server.port(), 8, 1'000'000);
  EnsembleTiming timing;
  timing.silence = std::chrono::seconds(2);
  timing.opening = std::chrono::seconds(2);
  const RanksOutcome outcome = run_ranks(options, network, timing);
  EXPECT_EQ(outcome.lead.failure, "rank 2 (host2): no word from it for 2 s");
  EXPECT_TRUE(outcome.lead.ranks_lost);
  EXPECT_EQ(outcome.followers[1].exit_status, 1);
}

TEST(RanksEnd, PagesThatFailedAreAskedForAgain) {
  std::atomic<int> requests{0};
  ScriptedServer server([&](const ScriptedRequest& request) {
    ObjectReply reply = right_reply(request);
    if (++requests % 50 == 0) reply.status = 500;
    return whole(reply, request);
  });
  LoadOptions options = options_for(server.port(), 8, 1000);
  options.workload = small_polymix();
  options.load.kind = LoadShape::Kind::kBestEffort;
  FakeNetwork network(kRanks, milliseconds(3));
  const RanksOutcome outcome = run_ranks(options, network);
  EXPECT_GT(outcome.lead.result.total.error_count(), 0U);
  // What was given back was granted anew, wherever that was.
  EXPECT_EQ(outcome.lead.result.total.sent, 1000U);
}

}  // namespace
}  // namespace workload
