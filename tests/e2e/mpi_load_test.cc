// One load of several processes over MPI, on this machine and in network namespaces of their own.
#include <dirent.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <sstream>

#include "tests/support/stack.h"
#include "tests/support/temp_dir.h"
#include "workload/measure/run_result.h"

namespace {

namespace fs = std::filesystem;
namespace json = boost::json;
using testing_support::Process;
using testing_support::ProcessResult;
using testing_support::program_path;
using testing_support::TempDir;

constexpr size_t kRanks = 4;

/// Open MPI refuses root and asks for as many cores as ranks, unless told otherwise.
std::map<std::string, std::string> mpi_environment() {
  std::map<std::string, std::string> environment{
      {"OMPI_ALLOW_RUN_AS_ROOT", "1"},
      {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"},
      {"OMPI_MCA_rmaps_base_oversubscribe", "1"},
      // Waiting ranks leave the few cores to those that work.
      {"OMPI_MCA_mpi_yield_when_idle", "1"},
      // Needs rights that containers do not give.
      {"OMPI_MCA_btl_vader_single_copy_mechanism", "none"}};
#ifdef CACHEOFF_SANITIZED
  // Open MPI keeps memory to its end.
  environment["ASAN_OPTIONS"] = "detect_leaks=0";
#endif
  return environment;
}

/// Why these tests cannot run here; empty where they can.
std::string missing() {
#ifndef CACHEOFF_HAS_MPI
  return "built without MPI";
#else
  if (!testing_support::command_exists("mpirun")) return "mpirun is not there";
  return {};
#endif
}

std::vector<std::string> mpirun(const std::vector<std::string>& options = {}) {
  std::vector<std::string> command{"mpirun", "-np", std::to_string(kRanks), "--bind-to", "none"};
  command.insert(command.end(), options.begin(), options.end());
  return command;
}

std::vector<std::string> operator+(std::vector<std::string> left,
                                   const std::vector<std::string>& right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

ProcessResult run(const std::vector<std::string>& command) {
  return Process(command, mpi_environment()).wait(std::chrono::minutes(3));
}

/// A running origin.
class Origin {
 public:
  explicit Origin(const std::string& host = "127.0.0.1")
      : host_(host), process_({program_path("cacheoff"), "origin", "--listen", host + ":0"}) {
    const std::string line = process_.wait_for_line("listening on");
    port_ = testing_support::port_in_line(line, "listening");
    EXPECT_NE(port_, 0) << line;
  }
  std::string address() const { return host_ + ':' + std::to_string(port_); }

 private:
  std::string host_;
  Process process_;
  uint16_t port_ = 0;
};

std::vector<std::string> load(const Origin& origin, const std::vector<std::string>& options) {
  return std::vector<std::string>{program_path("cacheoff"), "load", "--origin", origin.address()} +
         options;
}

json::object run_json(const fs::path& folder) {
  const std::string text = testing_support::read_file(folder / "run.json");
  EXPECT_FALSE(text.empty()) << folder;
  return text.empty() ? json::object() : json::parse(text).as_object();
}

uint64_t count_in(const json::object& run, const char* name) {
  return run.at(name).to_number<uint64_t>();
}

using Fields = std::vector<std::string>;

std::vector<Fields> lines_of(const fs::path& log) {
  std::vector<Fields> lines;
  for (const std::string& line : testing_support::split_lines(testing_support::read_file(log))) {
    if (line.starts_with('#')) continue;
    lines.push_back(testing_support::split_words(line));
    EXPECT_EQ(lines.back().size(), 14U) << line;
  }
  return lines;
}

/// Of all ranks, each of which must have sent some.
std::vector<Fields> lines_of_ranks(const fs::path& log) {
  std::vector<Fields> all;
  for (size_t rank = 0; rank < kRanks; ++rank) {
    const auto own = lines_of(log.string() + ".rank" + std::to_string(rank));
    EXPECT_FALSE(own.empty()) << "rank " << rank;
    all.insert(all.end(), own.begin(), own.end());
  }
  return all;
}

/// Method, kind and URL by place in the order of intent.
std::map<uint64_t, std::string> intent_of(const std::vector<Fields>& lines) {
  std::map<uint64_t, std::string> intent;
  for (const Fields& fields : lines) {
    const auto sequence = std::stoull(fields[11]);
    EXPECT_TRUE(intent.emplace(sequence, fields[2] + ' ' + fields[3] + ' ' + fields[10]).second)
        << sequence;
  }
  return intent;
}

class MpiLoad : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string why = missing();
    if (!why.empty()) GTEST_SKIP() << why;
  }

  TempDir folder_;
};

/// What `run` says of response times is what the pooled samples of the logs say.
void expect_pooled(const json::object& run, const std::vector<Fields>& lines) {
  workload::Histogram pooled;
  for (const Fields& fields : lines) {
    if (fields[8] == "none" && fields[9] == "1") pooled.record(std::stoull(fields[7]));
  }
  EXPECT_EQ(pooled.count(), count_in(run, "good"));
  // Written and read like the run's own, as reading may round the last bit.
  const std::string written = json::serialize(workload::response_time_to_json(pooled));
  EXPECT_EQ(run.at("response_time_ms"), json::parse(written));
}

TEST_F(MpiLoad, FourRanksAreOneWorkload) {
  const Origin origin;
  for (const std::string shape : {"best-effort=12", "rate=1500"}) {
    SCOPED_TRACE(shape);
    const std::vector<std::string> options{"--workload", "polymix4",      "--load", shape,
                                           "--until",    "requests=3000", "--seed", "9"};
    const fs::path one = folder_ / (shape + ".one");
    const fs::path four = folder_ / (shape + ".four");
    const auto single =
        run(load(origin, options + std::vector<std::string>{"--out", one.string(), "--request-log",
                                                            one.string() + ".log"}));
    ASSERT_EQ(single.exit_status, 0) << single.out << single.err;
    const auto ranks =
        run(mpirun() +
            load(origin, options + std::vector<std::string>{"--out", four.string(), "--request-log",
                                                            four.string() + ".log"}));
    ASSERT_EQ(ranks.exit_status, 0) << ranks.out << ranks.err;
    const auto lines = lines_of_ranks(four.string() + ".log");
    EXPECT_EQ(intent_of(lines), intent_of(lines_of(one.string() + ".log")));
    const json::object run = run_json(four);
    EXPECT_EQ(count_in(run, "sent"), 3000U);
    EXPECT_EQ(count_in(run, "completed"), 3000U);
    EXPECT_EQ(run.at("ideal_hit_ratio_percent"), run_json(one).at("ideal_hit_ratio_percent"));
    expect_pooled(run, lines);
    ASSERT_EQ(run.at("ranks").as_array().size(), kRanks);
    EXPECT_FALSE(run_json(one).contains("ranks"));
    std::set<std::string> transactions;
    for (const Fields& fields : lines) transactions.insert(fields[0]);
    EXPECT_EQ(transactions.size(), 3000U);
    // One table, of rank 0.
    EXPECT_EQ(ranks.out.find("throughput"), ranks.out.rfind("throughput"));
  }
}

TEST_F(MpiLoad, PhasesChangeInStep) {
  const Origin origin;
  const fs::path log = folder_ / "log";
  const auto result =
      run(mpirun() + load(origin, {"--load", "rate=400", "--warm-up", "duration=1s", "--until",
                                   "duration=1s", "--request-log", log.string()}));
  ASSERT_EQ(result.exit_status, 0) << result.out << result.err;
  std::map<std::string, size_t> counts;
  for (const Fields& fields : lines_of_ranks(log)) {
    ++counts[fields[13]];
    // An open loop's request belongs to the phase that it is due in, by a clock that all share.
    EXPECT_EQ(fields[13], std::stod(fields[12]) < 1 ? "warm-up" : "run") << fields[12];
  }
  EXPECT_GT(counts["warm-up"], 200U);
  EXPECT_GT(counts["run"], 200U);
}

TEST_F(MpiLoad, ThePeakFinderDrivesAllRanks) {
  const Origin origin;
  const fs::path out = folder_ / "out";
  const auto result =
      run(mpirun() + load(origin, {"--load", "peak,sample=200ms,start=200,max=400", "--until",
                                   "duration=3s", "--out", out.string()}));
  ASSERT_EQ(result.exit_status, 0) << result.out << result.err;
  const json::object run = run_json(out);
  EXPECT_GT(run.at("peak").at("samples").as_array().size(), 2U);
  for (const auto& rank : run.at("ranks").as_array()) {
    EXPECT_GT(rank.at("requests").to_number<uint64_t>(), 20U);
  }
}

/// Through a proxy that shares fetches, ranks get what was cut, on purpose, for each other.
TEST_F(MpiLoad, WhatWasCutForAnotherRankIsNoError) {
  testing_support::StackOptions options;
  options.proxy_arguments = {"--cache-dir", "scheme=memory,size=64M"};
  testing_support::Stack stack(options);
  const fs::path workload = folder_ / "workload.toml";
  std::ofstream(workload) << "base = \"polymix4\"\n[server]\nabort_percent = 8\n"
                             "[popularity]\nworking_set_objects_max = 60\n";
  const fs::path out = folder_ / "out";
  const auto result = run(
      mpirun() + std::vector<std::string>{
                     program_path("cacheoff"), "load", "--origin", stack.origin_address(),
                     "--proxy", stack.proxy_address(), "--workload", workload.string(), "--load",
                     "best-effort=64", "--until", "requests=4000", "--out", out.string()});
  EXPECT_EQ(result.exit_status, 0) << result.out << result.err;
  const json::object run = run_json(out);
  EXPECT_GT(count_in(run, "cut"), 100U);
  EXPECT_GT(count_in(run, "shared_hits"), 0U);
  EXPECT_EQ(count_in(run, "good") + count_in(run, "cut"), 4000U);
}

TEST_F(MpiLoad, AWrongCommandLineIsOneLineOnce) {
  for (const std::vector<std::string>& wrong :
       {std::vector<std::string>{"--load", "nonsense"}, {"--nonsense"}}) {
    const auto result =
        run(mpirun() +
            std::vector<std::string>{program_path("cacheoff"), "load", "--origin", "127.0.0.1:1"} +
            wrong);
    EXPECT_EQ(result.exit_status, 2) << result.err;
    size_t lines = 0;
    for (const std::string& line : testing_support::split_lines(result.err)) {
      if (line.starts_with("cacheoff")) ++lines;
    }
    EXPECT_EQ(lines, 1U) << result.err;
  }
}

/// The process among those of `mpirun` that has that rank; 0 where there is none.
pid_t process_of_rank(pid_t mpirun_pid, size_t rank) {
  const std::string wanted = "OMPI_COMM_WORLD_RANK=" + std::to_string(rank);
  for (const auto& entry : fs::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    std::ifstream status(entry.path() / "status");
    pid_t parent = 0;
    for (std::string line; std::getline(status, line);) {
      if (line.starts_with("PPid:")) parent = std::stoi(line.substr(5));
    }
    if (parent != mpirun_pid) continue;
    std::ifstream environment(entry.path() / "environ", std::ios::binary);
    for (std::string variable; std::getline(environment, variable, '\0');) {
      if (variable == wanted) return std::stoi(name);
    }
  }
  return 0;
}

/// How many lines a file that is being written has.
size_t lines_so_far(const fs::path& file) {
  return testing_support::split_lines(testing_support::read_file(file)).size();
}

TEST_F(MpiLoad, AKilledRankEndsAll) {
  const Origin origin;
  for (const size_t victim : {size_t{2}, size_t{0}}) {
    const fs::path log = folder_ / ("log" + std::to_string(victim));
    Process process(mpirun() + load(origin, {"--load", "best-effort=8", "--until", "duration=100s",
                                             "--request-log", log.string()}),
                    mpi_environment());
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (lines_so_far(log.string() + ".rank3") < 10 &&
           std::chrono::steady_clock::now() < give_up) {
      ::usleep(50'000);
    }
    const pid_t pid = process_of_rank(process.pid(), victim);
    ASSERT_GT(pid, 0);
    ::kill(pid, SIGKILL);
    const ProcessResult result = process.wait(std::chrono::seconds(60));
    EXPECT_FALSE(result.timed_out);
    // mpirun's own status: that of the rank that was killed.
    EXPECT_EQ(result.exit_status, 128 + SIGKILL) << result.err;
  }
}

TEST_F(MpiLoad, AFailedRunEndsWithOneStatus) {
  const auto result =
      run(mpirun() + std::vector<std::string>{program_path("cacheoff"), "load", "--origin",
                                              "127.0.0.1:1", "--until", "requests=20"});
  EXPECT_EQ(result.exit_status, 1) << result.err;
  EXPECT_NE(result.err.find("errors, the first"), std::string::npos) << result.err;
}

/// Without MPI ranks would be so many separate workloads.
TEST(MpiLoadWithout, OneOfSeveralProcessesIsRefused) {
#ifdef CACHEOFF_HAS_MPI
  GTEST_SKIP() << "built with MPI";
#else
  Process process({program_path("cacheoff"), "load", "--origin", "127.0.0.1:1"},
                  {{"OMPI_COMM_WORLD_SIZE", "4"}, {"OMPI_COMM_WORLD_RANK", "0"}});
  const ProcessResult result = process.wait();
  EXPECT_EQ(result.exit_status, 2);
  EXPECT_EQ(testing_support::split_lines(result.err).size(), 1U) << result.err;
  EXPECT_NE(result.err.find("built without MPI"), std::string::npos) << result.err;
#endif
}

/// Network namespaces with a bridge between them, each like a machine of its own.
class Namespaces {
 public:
  Namespaces() {
    const auto number = static_cast<unsigned>(::getpid());
    name_ = "cm" + std::to_string(number);
    network_ = "10." + std::to_string(64 + number % 64) + '.' + std::to_string(number / 64 % 256);
    made_ = ip("link add " + bridge() + " type bridge") &&
            ip("addr add " + host() + "/24 dev " + bridge()) && ip("link set " + bridge() + " up");
    for (size_t rank = 0; made_ && rank < kRanks; ++rank) {
      const std::string space = space_of(rank);
      const std::string end = name_ + 'v' + std::to_string(rank);
      made_ = ip("netns add " + space) &&
              ip("link add " + end + " type veth peer name eth0 netns " + space) &&
              ip("link set " + end + " master " + bridge() + " up") &&
              ip("-n " + space + " addr add " + network_ + ".1" + std::to_string(rank) +
                 "/24 dev eth0") &&
              ip("-n " + space + " link set eth0 up") && ip("-n " + space + " link set lo up");
    }
  }
  ~Namespaces() {
    for (size_t rank = 0; rank < kRanks; ++rank) ip("netns del " + space_of(rank));
    ip("link del " + bridge());
  }
  Namespaces(const Namespaces&) = delete;
  Namespaces& operator=(const Namespaces&) = delete;

  /// Why they could not be made; empty where they were.
  std::string problem() const { return made_ ? std::string() : problem_; }
  /// This side's address, and the network's.
  std::string host() const { return network_ + ".1"; }
  std::string network() const { return network_ + ".0/24"; }
  std::string space_of(size_t rank) const { return name_ + 'n' + std::to_string(rank); }

  /// What to start Open MPI's daemons with instead of ssh: `HOST COMMAND...` in that namespace,
  /// under that name, so that ranks take each other for machines and use TCP.
  void write_agent(const fs::path& file) const {
    std::ofstream(file) << "#!/bin/sh\nhost=$1; shift\n"
                           "exec ip netns exec \"$host\" unshare -u sh -c \"hostname $host; $*\"\n";
    fs::permissions(file, fs::perms::owner_all);
  }

 private:
  std::string bridge() const { return name_ + 'b'; }
  bool ip(const std::string& arguments) {
    const auto result = testing_support::run_command({"sh", "-c", "ip " + arguments});
    if (result.exit_status != 0) problem_ = "ip " + arguments + ": " + result.err;
    return result.exit_status == 0;
  }

  std::string name_;
  std::string network_;
  std::string problem_;
  bool made_ = false;
};

TEST_F(MpiLoad, RanksInNetworkNamespacesAreOneWorkload) {
  if (::geteuid() != 0) GTEST_SKIP() << "network namespaces need root";
  for (const char* const command : {"ip", "unshare"}) {
    if (!testing_support::command_exists(command)) GTEST_SKIP() << command << " is not there";
  }
  const Namespaces spaces;
  if (!spaces.problem().empty()) GTEST_SKIP() << spaces.problem();
  const Origin origin(spaces.host());
  spaces.write_agent(folder_ / "agent");
  std::string hosts = spaces.space_of(0);
  for (size_t rank = 1; rank < kRanks; ++rank) hosts += ',' + spaces.space_of(rank);
  const fs::path out = folder_ / "out";
  const fs::path log = folder_ / "log";
  const auto result =
      run(mpirun({"--host", hosts, "--mca", "plm_rsh_agent", (folder_ / "agent").string(), "--mca",
                  "btl", "self,tcp", "--mca", "btl_tcp_if_include", spaces.network(), "--mca",
                  "oob_tcp_if_include", spaces.network()}) +
          load(origin, {"--load", "best-effort=8", "--until", "requests=2000", "--out",
                        out.string(), "--request-log", log.string()}));
  ASSERT_EQ(result.exit_status, 0) << result.out << result.err;
  const json::object run = run_json(out);
  EXPECT_EQ(count_in(run, "sent"), 2000U);
  const auto lines = lines_of_ranks(log);
  EXPECT_EQ(intent_of(lines).size(), 2000U);
  expect_pooled(run, lines);
  for (size_t rank = 0; rank < kRanks; ++rank) {
    EXPECT_EQ(run.at("ranks").as_array()[rank].at("host"), json::value(spaces.space_of(rank)));
  }
}

}  // namespace
