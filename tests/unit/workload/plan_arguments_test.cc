#include "workload/cli/plan_arguments.h"

#include <gtest/gtest.h>

#include <boost/program_options/options_description.hpp>
#include <fstream>

#include "tests/support/temp_dir.h"

namespace {

using workload::Expected;
using workload::plan_options;
using workload::PlanArguments;

/// Reads a command line; the Problem where it is wrong.
Expected<traces::PlanOptions> read(const std::vector<std::string>& words) {
  PlanArguments arguments;
  boost::program_options::options_description description;
  workload::describe_plan_options(arguments, description);
  description.add_options()("help,h", "");
  const auto values = workload::parse_with_file(words, description, arguments);
  if (!values) return values.error();
  return plan_options(arguments);
}

TEST(PlanArguments, HaveDefaults) {
  const auto options = read({"access.log"});
  ASSERT_TRUE(options);
  EXPECT_EQ(options->host, "log.invalid");
  EXPECT_EQ(options->size_policy, traces::SizePolicy::kMax);
  EXPECT_EQ(options->stripped_query, traces::StrippedQuery::kAsIs);
  EXPECT_FALSE(options->default_size_bytes);
}

TEST(PlanArguments, AreAllRead) {
  const auto options = read({"--host", "www.example.org:8080", "--size=last", "--default-size",
                             "11K", "--stripped-query", "unique", "access.log"});
  ASSERT_TRUE(options);
  EXPECT_EQ(options->host, "www.example.org:8080");
  EXPECT_EQ(options->size_policy, traces::SizePolicy::kLast);
  EXPECT_EQ(options->stripped_query, traces::StrippedQuery::kUnique);
  EXPECT_EQ(options->default_size_bytes, 11U * 1024);
}

TEST(PlanArguments, ProblemsNameTheOptionAndTheValue) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> wrong{
      {{}, "FILE"},
      {{"a.log", "b.log"}, "more than one FILE"},
      {{"a.log", "--size", "median"}, "'median'"},
      {{"a.log", "--default-size", "-1"}, "'-1'"},
      {{"a.log", "--default-size", "2048G"}, "'2048G'"},
      {{"a.log", "--stripped-query", "maybe"}, "'maybe'"},
      {{"a.log", "--host", "a/b"}, "'a/b'"},
      {{"a.log", "--hos", "a"}, "--hos"},
      {{"a.log", "--unknown"}, "--unknown"},
  };
  for (const auto& [words, name] : wrong) {
    const auto options = read(words);
    ASSERT_FALSE(options) << name;
    EXPECT_TRUE(options.error().usage);
    EXPECT_NE(options.error().text.find(name), std::string::npos) << options.error().text;
  }
}

TEST(PlanLog, AUselessLogIsExplainedLineByLine) {
  const testing_support::TempDir folder;
  const std::string file = (folder / "x.log").string();
  std::ofstream(file) << "#Fields: a b\n1 2 3\n";
  const auto plan = workload::plan_log(file, {});
  ASSERT_TRUE(plan);
  const auto problem = workload::useless_log(file, "no line of it can be replayed", *plan);
  for (const auto& part : {file, std::string("Squid native"), std::string("line 2"),
                           std::string("1 2 3"), std::string("comment")}) {
    EXPECT_NE(problem.text.find(part), std::string::npos) << problem.text;
  }
  EXPECT_FALSE(workload::plan_log((folder / "none.log").string(), {}));
}

}  // namespace
