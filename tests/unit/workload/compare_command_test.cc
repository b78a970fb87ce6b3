// The command line of `cacheoff compare`.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "tests/support/compared_results.h"
#include "tests/support/temp_dir.h"
#include "workload/cli/command.h"
#include "workload/report/json_text.h"

namespace workload {
namespace {

using testing::HasSubstr;
using testing_support::FabricatedNoise;
using testing_support::noisy_results;
using testing_support::TempDir;

/// How the command ended and what it said.
struct Said {
  int status = -1;
  std::string out;
  std::string err;
};

Said run_compare(const std::vector<std::string>& arguments) {
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  Said said;
  said.status = run_compare_command(arguments);
  said.out = testing::internal::GetCapturedStdout();
  said.err = testing::internal::GetCapturedStderr();
  return said;
}

class CompareCommand : public testing::Test {
 protected:
  /// A result folder; its path.
  std::string folder(const std::string& name, const Results& results) const {
    return folder(name, to_pretty_json(results_to_json(results)));
  }
  std::string folder(const std::string& name, const std::string& json) const {
    std::filesystem::create_directories(place_ / name);
    std::ofstream(place_ / name / "results.json") << json;
    return place_ / name;
  }

  static FabricatedNoise side(uint64_t seed, double slowdown = 0) {
    FabricatedNoise how;
    how.noise_seed = seed;
    how.slowdown = slowdown;
    return how;
  }

  /// The one line that is said about a folder that can't be compared.
  std::string complaint_about(const std::string& path) const {
    const Said said = run_compare({good_, path});
    EXPECT_EQ(said.status, kExitUsage) << said.out << said.err;
    EXPECT_EQ(std::count(said.err.begin(), said.err.end(), '\n'), 1) << said.err;
    return said.err;
  }

  TempDir place_;
  std::string good_ = folder("good", noisy_results(side(1)));
};

TEST_F(CompareCommand, ComparesAndWritesWhatItSays) {
  const std::string slow = folder("slow", noisy_results(side(2, 0.05)));
  const std::string out = place_ / "out";
  const Said said = run_compare({good_, slow, "--out", out});
  EXPECT_EQ(said.status, kExitSuccess) << said.err;
  EXPECT_THAT(said.out, HasSubstr("% slower ["));
  EXPECT_EQ(said.out.find('\x1b'), std::string::npos);
  for (const char* name :
       {"compare.json", "compare.csv", "compare.txt", "compare.html", "figures/ratios.gp"}) {
    EXPECT_TRUE(std::filesystem::exists(std::filesystem::path(out) / name)) << name;
  }
  const auto json = read_json_object(std::filesystem::path(out) / "compare.json");
  ASSERT_TRUE(json) << json.error().text;
  EXPECT_EQ(json->at("rows").as_array().size(), 12U);
}

TEST_F(CompareCommand, RefusesOtherWorkWithALineAField) {
  Results other = noisy_results(side(2));
  other.experiment["load"] = "robots=10";
  other.cells[0].cache_size_bytes = 5;
  const std::string path = folder("other", other);
  const Said said = run_compare({good_, path});
  EXPECT_EQ(said.status, kExitFailed);
  EXPECT_THAT(said.err, HasSubstr("refused, the work differs: load: A has best-effort=64, B has "
                                  "robots=10 (--ignore load compares nonetheless)\n"));
  EXPECT_THAT(said.err,
              HasSubstr("cache-size of memory: A has 1.00 GiB (1073741824 bytes), B has 5 B"));
  EXPECT_EQ(std::count(said.err.begin(), said.err.end(), '\n'), 2);
  EXPECT_EQ(run_compare({good_, path, "--ignore", "load"}).status, kExitFailed);
  EXPECT_EQ(run_compare({good_, path, "--ignore=load", "--ignore", "cache_size"}).status,
            kExitSuccess);
}

TEST_F(CompareCommand, BadFoldersAreOneClearLine) {
  EXPECT_THAT(complaint_about("/nowhere"), HasSubstr("'/nowhere' is no folder"));
  EXPECT_THAT(complaint_about(good_ + "/."), HasSubstr("are the same folder"));
  std::filesystem::create_directories(place_ / "empty");
  EXPECT_THAT(complaint_about(place_ / "empty"), HasSubstr("results.json': No such file"));
  EXPECT_THAT(complaint_about(folder("torn", "{\"schema_version\": 1,")), HasSubstr("is not JSON"));
  EXPECT_THAT(complaint_about(folder("list", "[]")), HasSubstr("must hold a JSON object"));
  EXPECT_THAT(complaint_about(folder("bare", "{}")), HasSubstr("schema_version must be"));
  EXPECT_THAT(complaint_about(folder("newer", "{\"schema_version\": 2}")),
              HasSubstr("has schema_version 2; this cacheoff reads 1"));
  auto json = results_to_json(noisy_results(side(2)));
  json["work"] = "work";
  EXPECT_THAT(complaint_about(folder("work", to_pretty_json(json))),
              HasSubstr("work must be an object"));
  json = results_to_json(noisy_results(side(2)));
  json["cells"].as_array()[0].as_object()["runs"] = 5;
  EXPECT_THAT(complaint_about(folder("runs", to_pretty_json(json))),
              HasSubstr("cells[0].runs must be a list"));
  json["cells"] = boost::json::array{};
  EXPECT_THAT(complaint_about(folder("none", to_pretty_json(json))),
              HasSubstr("have no cell in common"));
}

TEST_F(CompareCommand, ForeignFiguresAreNotTrusted) {
  auto json = results_to_json(noisy_results(side(2)));
  for (auto& cell : json["cells"].as_array()) {
    auto& runs = cell.as_object()["runs"].as_array();
    runs[0].as_object()["throughput_rps"] = "fast";
    runs[1].as_object()["throughput_rps"] = -5;
    runs[2].as_object()["seed"] = -1;
    runs[3].as_object()["cpu_s"] = 7;
    runs[4].as_object()["warnings"] = 1;
    runs[4].as_object()["valid"] = false;
  }
  json["environment"].as_object()["host"] = "\x1b[31mred\n";
  const Said said = run_compare({good_, folder("odd", to_pretty_json(json))});
  EXPECT_EQ(said.status, kExitSuccess) << said.err;
  EXPECT_EQ(said.out.find('\x1b'), std::string::npos);
  EXPECT_EQ(said.out.find("nan"), std::string::npos);
}

TEST_F(CompareCommand, WrongOptionsAreOneClearLine) {
  const auto error_of = [](const std::vector<std::string>& arguments) {
    const Said said = run_compare(arguments);
    EXPECT_EQ(said.status, kExitUsage);
    EXPECT_EQ(std::count(said.err.begin(), said.err.end(), '\n'), 1) << said.err;
    return said.err;
  };
  EXPECT_THAT(error_of({}), HasSubstr("two result folders are needed"));
  EXPECT_THAT(error_of({good_}), HasSubstr("two result folders are needed"));
  EXPECT_THAT(error_of({good_, "--colour", "x"}), HasSubstr("no such option: '--colour'"));
  EXPECT_THAT(error_of({good_, good_, "--out"}), HasSubstr("--out needs a value"));
  EXPECT_THAT(error_of({"--out=a", "--out=b"}), HasSubstr("--out is given twice"));
  EXPECT_THAT(error_of({"--ab", "x.csv", good_}), HasSubstr("--ab goes with no folders"));
  EXPECT_THAT(error_of({"--ab", "/nowhere.csv"}), HasSubstr("/nowhere.csv"));
  const std::string other = folder("other", noisy_results(side(2)));
  EXPECT_THAT(error_of({good_, other, "--ignore", "colour"}), HasSubstr("'colour': is no field"));
  EXPECT_THAT(error_of({good_, other, "--same-as-first", good_}), HasSubstr("the same folder"));
  const Said help = run_compare({"--help"});
  EXPECT_EQ(help.status, kExitSuccess);
  EXPECT_THAT(help.out, HasSubstr("example: cacheoff compare results/debian results/freebsd"));
}

TEST_F(CompareCommand, ReportsOfApacheBenchAreAnotherInput) {
  const Said said = run_compare({"--ab", CACHEOFF_SOURCE_DIR "/tests/samples/ab-reports.csv"});
  EXPECT_EQ(said.status, kExitFailed);
  EXPECT_THAT(said.out, HasSubstr("B is 50.0 % faster"));
  EXPECT_THAT(said.out, HasSubstr("not told apart: too few runs (1 of 6 needed)"));
  EXPECT_THAT(said.err, HasSubstr("bytes-per-response of 50000B-c10-n100000: A has 50000"));
  EXPECT_EQ(run_compare({"--ab", CACHEOFF_SOURCE_DIR "/tests/samples/ab-reports.csv", "--ignore",
                         "bytes-per-response"})
                .status,
            kExitSuccess);
}

}  // namespace
}  // namespace workload
