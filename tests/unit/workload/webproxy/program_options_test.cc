// The command line of cacheoff-webproxy.
#include "workload/webproxy/program_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "storage/base/units.h"
#include "tests/support/temp_dir.h"

namespace webproxy {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

class ProgramOptionsTest : public testing::Test {
 protected:
  workload::Expected<ProgramOptions> parse(std::vector<std::string> more) const {
    std::vector<std::string> words{"--directory", folder_.path().string()};
    words.insert(words.end(), more.begin(), more.end());
    return parse_program_options(words);
  }
  std::string complaint(std::vector<std::string> more) const {
    const auto parsed = parse(std::move(more));
    if (parsed) return "none";
    EXPECT_TRUE(parsed.error().usage);
    return parsed.error().text;
  }

  testing_support::TempDir folder_;
};

TEST_F(ProgramOptionsTest, DefaultsAreFilebenchsThreadsAndAufssEngine) {
  const auto parsed = parse({});
  ASSERT_TRUE(parsed) << parsed.error().text;
  EXPECT_EQ(parsed->engine.name, "thread_pool");
  EXPECT_EQ(parsed->engine.threads, 16U);
  EXPECT_EQ(parsed->pattern.workers, kWorkersDefault);
  EXPECT_EQ(parsed->pattern.files, storage::kGiB / kFileSizeMean);
  EXPECT_THAT(parsed->warnings, IsEmpty());
}

TEST_F(ProgramOptionsTest, FilesFillTheCacheWithinBounds) {
  EXPECT_EQ(files_for(storage::kMiB), 64U);
  EXPECT_EQ(files_for(1), 2U);
  EXPECT_LE(names_for(files_for(UINT64_MAX)), FileSet::kNamesMax);
  const auto large = parse({"--cache-size", "200G"});
  ASSERT_TRUE(large) << large.error().text;
  ASSERT_EQ(large->warnings.size(), 1U);
  EXPECT_THAT(large->warnings[0], HasSubstr("less than the cache"));
}

TEST_F(ProgramOptionsTest, WorkersHaveTwoFilesEach) {
  const auto parsed = parse({"--cache-size", "1M", "--workers", "64"});
  ASSERT_TRUE(parsed) << parsed.error().text;
  EXPECT_EQ(parsed->pattern.workers, 32U);
  ASSERT_EQ(parsed->warnings.size(), 1U);
  EXPECT_THAT(parsed->warnings[0], HasSubstr("64 workers are too many for 64 files"));
}

TEST_F(ProgramOptionsTest, WhatIsWrongIsNamed) {
  EXPECT_THAT(complaint({"--engine", "helper"}),
              HasSubstr("--engine 'helper': must be one of thr"));
  EXPECT_THAT(complaint({"--engine", "blocking", "--threads", "4"}), HasSubstr("--threads"));
  EXPECT_THAT(complaint({"--workers", "0"}), HasSubstr("--workers '0'"));
  EXPECT_THAT(complaint({"--workers", "1001"}), HasSubstr("from 1 to 1000"));
  EXPECT_THAT(complaint({"--cache-size", "12K"}), HasSubstr("--cache-size '12K'"));
  EXPECT_THAT(complaint({"--until", "never"}), HasSubstr("--until"));
  EXPECT_THAT(complaint({"--sample-interval", "1ms"}), HasSubstr("--sample-interval '1ms'"));
  EXPECT_THAT(complaint({"--directory", "/nowhere"}), HasSubstr("--directory '/nowhere'"));
  EXPECT_THAT(complaint({"--nonsense"}), HasSubstr("nonsense"));
  const auto nowhere = parse_program_options({});
  ASSERT_FALSE(nowhere);
  EXPECT_THAT(nowhere.error().text, HasSubstr("--directory: is missing"));
}

}  // namespace
}  // namespace webproxy
