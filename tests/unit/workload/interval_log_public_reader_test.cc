// The interval log read by the public HdrHistogram tool, where that is installed.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

#include "tests/support/process.h"
#include "tests/support/temp_dir.h"
#include "workload/measure/recorder.h"

namespace workload {
namespace {

/// The jar of Debian's libhdrhistogram-java, or the one named by HDRHISTOGRAM_JAR.
std::string public_reader_jar() {
  const char* named = std::getenv("HDRHISTOGRAM_JAR");  // NOLINT(concurrency-mt-unsafe)
  return named != nullptr ? named : "/usr/share/java/hdrhistogram.jar";
}

/// The number behind `name` and `=` in the reader's summary lines.
double summary_number(const std::string& text, const std::string& name) {
  const size_t at = text.find(name);
  if (at == std::string::npos) return -1;
  return std::strtod(text.c_str() + text.find('=', at) + 1, nullptr);
}

std::string read_by_public_tool(const std::filesystem::path& log,
                                const std::vector<std::string>& options) {
  std::vector<std::string> command{
      "java", "-cp",       public_reader_jar(), "org.HdrHistogram.HistogramLogProcessor",
      "-i",   log.string()};
  command.insert(command.end(), options.begin(), options.end());
  const auto result = testing_support::run_command(command);
  EXPECT_EQ(result.exit_status, 0) << result.err;
  return result.out;
}

TEST(IntervalLogPublicReader, ReadsWhatWeWrite) {
  if (!testing_support::command_exists("java")) GTEST_SKIP() << "java is not installed";
  if (!std::filesystem::exists(public_reader_jar())) {
    GTEST_SKIP() << public_reader_jar() << " is not there (Debian: libhdrhistogram-java)";
  }
  const testing_support::TempDir folder;
  const std::filesystem::path file = folder / "latency.hlog";
  LatencyLog log(std::chrono::seconds(1));
  Histogram all;
  for (uint64_t i = 1; i <= 3000; ++i) {
    const uint64_t time_ns = i * 12'345;
    log.record(std::chrono::milliseconds(i), i % 3 == 0, time_ns);
    all.record(time_ns);
  }
  {
    std::ofstream out(file);
    log.write(out, storage::WallTime(std::chrono::seconds(1'700'000'000)),
              std::chrono::milliseconds(3001));
  }
  const std::string whole = read_by_public_tool(file, {});
  EXPECT_EQ(summary_number(whole, "Total count"), 3000) << whole;
  EXPECT_NEAR(summary_number(whole, "#[Mean"), *all.mean_ns() / 1e6, 0.001);
  EXPECT_NEAR(summary_number(whole, "#[Max"), static_cast<double>(*all.max_ns()) / 1e6, 0.001);
  EXPECT_EQ(summary_number(read_by_public_tool(file, {"-tag", "hit"}), "Total count"), 1000);
  EXPECT_EQ(summary_number(read_by_public_tool(file, {"-tag", "miss"}), "Total count"), 2000);
  // Only the second of the intervals.
  const std::string second = read_by_public_tool(file, {"-start", "0.9", "-end", "1.5"});
  EXPECT_EQ(summary_number(second, "Total count"), 1000) << second;
}

}  // namespace
}  // namespace workload
