#include "tests/support/robots.h"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <chrono>

#include "tests/support/process.h"

namespace testing_support {

namespace json = boost::json;

json::object run_robots(const Stack& stack, const std::string& proxy,
                        const std::filesystem::path& out, const std::vector<std::string>& options) {
  std::filesystem::create_directories(out);
  std::vector<std::string> command{program_path("cacheoff"), "load"};
  command.insert(command.end(), {"--proxy", proxy, "--origin", stack.origin_address()});
  command.insert(command.end(), {"--out", out.string()});
  command.insert(command.end(), {"--request-log", (out / "requests.log").string()});
  command.insert(command.end(), options.begin(), options.end());
  const auto result = run_command(command, std::chrono::minutes(5));
  EXPECT_EQ(result.exit_status, 0) << result.out << result.err;
  boost::system::error_code failed;
  const auto value = json::parse(read_file(out / "run.json"), failed);
  EXPECT_FALSE(failed) << "run.json: " << failed.message();
  return value.is_object() ? value.as_object() : json::object();
}

uint64_t count_in(const json::value& value) {
  return value.to_number<uint64_t>();
}

void expect_no_errors(const json::object& figures) {
  for (const auto& [kind, count] : figures.at("errors").as_object()) {
    EXPECT_EQ(count_in(count), 0U) << kind;
  }
  EXPECT_EQ(count_in(figures.at("wrong_bodies")), 0U);
}

}  // namespace testing_support
