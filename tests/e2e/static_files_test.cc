// `cacheoff origin --root` as a program: what curl and `cacheoff ab` get from it, and what it
// refuses to be told.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/support/process.h"
#include "tests/support/stack.h"
#include "tests/support/temp_dir.h"

namespace {

namespace fs = std::filesystem;
using testing_support::command_exists;
using testing_support::Process;
using testing_support::program_path;
using testing_support::read_file;
using testing_support::run_command;
using testing_support::TempDir;

class StaticFiles : public testing::Test {
 protected:
  void start(std::vector<std::string> more = {}) {
    std::vector<std::string> command{program_path("cacheoff"), "origin", "--root",
                                     (folder_ / "root").string()};
    command.insert(command.end(), more.begin(), more.end());
    server_ = std::make_unique<Process>(command);
    const auto line = server_->wait_for_line("listening");
    port_ = testing_support::port_in_line(line, "listening");
    ASSERT_NE(port_, 0) << line;
  }
  std::string write(const std::string& name, size_t size_bytes) {
    std::string text;
    for (size_t at = 0; text.size() < size_bytes; ++at) text += std::to_string(at * 7919) + "\n";
    text.resize(size_bytes);
    fs::create_directories(folder_ / "root");
    std::ofstream(folder_.path() / "root" / name, std::ios::binary) << text;
    return text;
  }
  std::string url(const std::string& path) const {
    return "http://127.0.0.1:" + std::to_string(port_) + path;
  }
  static std::string curl(std::vector<std::string> more) {
    std::vector<std::string> command{"curl", "-sS", "--max-time", "60", "--noproxy", "*"};
    command.insert(command.end(), more.begin(), more.end());
    return run_command(command).out;
  }

  const TempDir folder_;
  std::unique_ptr<Process> server_;
  uint16_t port_ = 0;
};

TEST_F(StaticFiles, CurlGetsFilesRangesAndCodings) {
  if (!command_exists("curl")) GTEST_SKIP() << "curl is not installed";
  const auto text = write("a.txt", 57'244);
  write("large", 3'000'000);
  start({"--gzip", "on", "--threads", "2"});
  EXPECT_EQ(curl({url("/a.txt")}), text);
  EXPECT_EQ(curl({"--compressed", url("/a.txt")}), text);
  EXPECT_LT(curl({"-H", "Accept-Encoding: gzip", url("/a.txt")}).size(), text.size());
  EXPECT_EQ(curl({"-r", "100-199", url("/a.txt")}), text.substr(100, 100));
  EXPECT_EQ(curl({"-0", url("/large")}), read_file(folder_ / "root/large"));
  const auto got = folder_ / "got";
  std::ofstream(got) << read_file(folder_ / "root/large").substr(0, 1'000'000);
  curl({"-C", "-", "-o", got.string(), url("/large")});
  EXPECT_TRUE(read_file(got) == read_file(folder_ / "root/large"));
  const std::string status = "%{http_code}";
  EXPECT_EQ(curl({"--path-as-is", "-o", "/dev/null", "-w", status, url("/../../etc/passwd")}),
            "400");
  EXPECT_EQ(curl({"-o", "/dev/null", "-w", status, url("/nothing")}), "404");
}

TEST_F(StaticFiles, AbFindsEveryByteAlike) {
  for (const size_t size_bytes : {size_t{151}, size_t{57'244}}) {
    const auto name = std::to_string(size_bytes);
    write(name, size_bytes);
    start();
    for (const bool keep_alive : {false, true}) {
      std::vector<std::string> command{
          program_path("cacheoff"), "ab", "-q", "-n", "500", "-c", "10", url("/" + name)};
      if (keep_alive) command.insert(command.begin() + 2, "-k");
      const auto run = run_command(command);
      EXPECT_EQ(run.exit_status, 0) << run.err;
      EXPECT_NE(run.out.find("Document Length:        " + name + " bytes"), std::string::npos)
          << run.out;
      EXPECT_NE(run.out.find("Failed requests:        0"), std::string::npos) << run.out;
      EXPECT_NE(run.out.find("500 of 500"), std::string::npos) << run.out;
    }
  }
}

TEST_F(StaticFiles, ReplayCanReadItsLog) {
  write("a", 100);
  const auto log = (folder_ / "log").string();
  start({"--access-log", log});
  const auto ab = run_command({program_path("cacheoff"), "ab", "-q", "-n", "20", url("/a")});
  EXPECT_EQ(ab.exit_status, 0) << ab.err;
  EXPECT_EQ(server_->terminate().exit_status, 0);
  const auto info = run_command({program_path("cacheoff"), "trace", "info", log});
  EXPECT_EQ(info.exit_status, 0) << info.out << info.err;
  EXPECT_EQ(testing_support::split_lines(read_file(log)).size(), 20u);
}

TEST(StaticFilesOptions, WhatMakesNoSenseIsRefused) {
  const auto origin = [](std::vector<std::string> more) {
    more.insert(more.begin(), {program_path("cacheoff"), "origin"});
    return run_command(more);
  };
  const std::vector<std::vector<std::string>> wrong{
      {"--root", "/", "--think", "constant:1s"},
      {"--root", "/", "--test-faults"},
      {"--root", "/", "--time-scale", "2"},
      {"--index"},
      {"--gzip", "on"},
      {"--root", "/", "--gzip", "yes"},
      {"--root", "/", "--gzip-level", "9"},
      {"--root", "/", "--gzip", "on", "--gzip-level", "0"},
      {"--root", "/", "--gzip", "on", "--gzip-size-max", "1G"}};
  for (const auto& arguments : wrong) {
    const auto run = origin(arguments);
    EXPECT_EQ(run.exit_status, 2) << arguments.back();
    EXPECT_EQ(testing_support::split_lines(run.err).size(), 1u) << run.err;
  }
  EXPECT_EQ(origin({"--root", "/nothing/there"}).exit_status, 1);
  EXPECT_EQ(origin({"--root", "/", "--access-log", "/nothing/there"}).exit_status, 1);
}

}  // namespace
