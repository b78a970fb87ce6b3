// What the programs say, and with which exit status, where they cannot start: 2 for what the
// command line alone tells to be wrong, 1 for what only trying could tell.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "tests/support/process.h"
#include "tests/support/stack.h"
#include "tests/support/temp_dir.h"

namespace {

using testing::HasSubstr;
using testing_support::ProcessResult;
using testing_support::TempDir;

std::string proxy() {
  return testing_support::program_path("cacheoff-proxy");
}

/// The proxy with these cache directories and other arguments, which end it at once.
ProcessResult start_proxy(const std::vector<std::string>& arguments) {
  std::vector<std::string> command = {proxy(), "--listen", "127.0.0.1:0"};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return testing_support::run_command(command, std::chrono::seconds(30));
}

class StartFailures : public testing::Test {
 protected:
  std::string in_folder(const std::string& name) const { return (folder_.path() / name).string(); }
  std::string cache_dir(const std::string& scheme, const std::string& name,
                        const std::string& more = ",size=4M") const {
    return "scheme=" + scheme + ",path=" + in_folder(name) + more;
  }
  /// Runs a store there once.
  void make_store(const std::string& directory) const {
    testing_support::Process made({proxy(), "--listen", "127.0.0.1:0", "--cache-dir", directory});
    ASSERT_NE(made.wait_for_line("listening on"), "");
    ASSERT_EQ(made.terminate().exit_status, 0);
  }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(in_folder(name), std::ios::binary | std::ios::trunc) << text;
  }

  TempDir folder_;
};

TEST_F(StartFailures, WhatTheCommandLineTellsIsUsageInAServingProxyAndInACheck) {
  write("file", "x");
  const std::vector<std::string> wrong = {
      "scheme=floppy",
      cache_dir("ufs", "store", ",size=big"),
      cache_dir("ufs", "store", ",size=4M,nonsense=1"),
      cache_dir("ufs", "file"),
      cache_dir("ufs", "file/below"),
      cache_dir("rock", "file/below"),
      cache_dir("coss", std::string(300, 'x')),
      "scheme=ufs,path=/proc/cacheoff,size=4M",
      "scheme=rock,path=/dev/null,size=4M",
      "scheme=memory,path=/tmp,size=4M",
  };
  for (const std::string& directory : wrong) {
    for (const bool checking : {false, true}) {
      std::vector<std::string> arguments = {"--cache-dir", directory};
      if (checking) arguments.emplace_back("--check");
      const ProcessResult result = start_proxy(arguments);
      EXPECT_EQ(result.exit_status, 2) << directory << ": " << result.err;
      EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
    }
  }
  EXPECT_EQ(start_proxy({"--nonsense"}).exit_status, 2);
  EXPECT_EQ(start_proxy({"--access-log", folder_.path().string()}).exit_status, 2);
  EXPECT_EQ(start_proxy({"--access-log", in_folder("file/log")}).exit_status, 2);
  EXPECT_EQ(start_proxy({"--check", "--cache-dir", "scheme=memory,size=4M"}).exit_status, 2);
}

TEST_F(StartFailures, AStoreThatCannotBeOpenedIsAFailedRunInAServingProxyAndInACheck) {
  for (const std::string scheme : {"ufs", "rock", "coss"}) {
    const std::string directory = cache_dir(scheme, scheme);
    make_store(directory);
    write(scheme == "ufs" ? "ufs/cacheoff-ufs" : scheme, std::string(8192, 'x'));
    EXPECT_EQ(start_proxy({"--cache-dir", directory}).exit_status, 1) << scheme;
    EXPECT_EQ(start_proxy({"--check", "--cache-dir", directory}).exit_status, 1) << scheme;
  }
  std::filesystem::create_directory(in_folder("others"));
  write("others/file", "x");
  EXPECT_EQ(start_proxy({"--cache-dir", cache_dir("ufs", "others")}).exit_status, 1);
  EXPECT_EQ(start_proxy({"--check", "--cache-dir", cache_dir("ufs", "absent")}).exit_status, 1);
}

TEST_F(StartFailures, APortOrAStoreInUseIsAFailedRun) {
  const std::string directory = cache_dir("ufs", "store");
  testing_support::Process first({proxy(), "--listen", "127.0.0.1:0", "--cache-dir", directory});
  const std::string line = first.wait_for_line("listening on");
  ASSERT_NE(line, "");
  const auto port = testing_support::port_in_line(line, "listening");
  const ProcessResult second = testing_support::run_command(
      {proxy(), "--listen", "127.0.0.1:" + std::to_string(port)}, std::chrono::seconds(30));
  EXPECT_EQ(second.exit_status, 1) << second.err;
  for (const char* how : {"--check", "--forwarded-for=on"}) {
    const ProcessResult third = start_proxy({how, "--cache-dir", directory});
    EXPECT_EQ(third.exit_status, 1) << third.err;
    EXPECT_THAT(third.err, HasSubstr("is in use"));
  }
}

TEST_F(StartFailures, AnotherSchemesFolderIsNamed) {
  make_store(cache_dir("ufs", "ufs"));
  std::filesystem::create_directory(in_folder("rock"));
  make_store(cache_dir("rock", "rock"));
  for (const bool checking : {false, true}) {
    std::vector<std::string> arguments = {"--cache-dir", cache_dir("rock", "ufs")};
    if (checking) arguments.emplace_back("--check");
    ProcessResult result = start_proxy(arguments);
    EXPECT_EQ(result.exit_status, 1);
    EXPECT_THAT(result.err, HasSubstr("holds a ufs store: give scheme=ufs"));
    arguments[1] = cache_dir("aufs", "rock");
    result = start_proxy(arguments);
    EXPECT_EQ(result.exit_status, 1);
    EXPECT_THAT(result.err, HasSubstr("holds a rock store: give scheme=rock"));
  }
}

TEST_F(StartFailures, AUsageErrorStandsAlone) {
  const ProcessResult result = testing_support::run_command(
      {"sh", "-c", "ulimit -n 256 && exec \"$0\" \"$@\"", proxy(), "--listen", "127.0.0.1:0",
       "--cache-dir", "scheme=ufs,path=" + in_folder("store") + ",size=1"});
  EXPECT_EQ(result.exit_status, 2);
  EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
  EXPECT_THAT(result.err, HasSubstr("--cache-dir: scheme ufs can hold nothing"));
}

TEST_F(StartFailures, AMalformedDirectoryIsToldOnceWithAnExampleOfItsScheme) {
  const std::string text = cache_dir("rock", "store", ",size=big");
  const ProcessResult result = start_proxy({"--cache-dir", text});
  EXPECT_EQ(result.exit_status, 2);
  EXPECT_EQ(result.err.find(text), result.err.rfind(text)) << result.err;
  EXPECT_THAT(result.err, HasSubstr("(for example scheme=rock,path=/var/cache/web.rock,size=1G)"));
}

TEST_F(StartFailures, ASizeBeyondTheFilesystemIsToldAndServedNevertheless) {
  const std::string directory = cache_dir("ufs", "store", ",size=512P");
  testing_support::Process made({proxy(), "--listen", "127.0.0.1:0", "--cache-dir", directory});
  ASSERT_NE(made.wait_for_line("listening on"), "");
  const ProcessResult result = made.terminate();
  EXPECT_EQ(result.exit_status, 0);
  EXPECT_THAT(result.err, HasSubstr("size asked is "));
  EXPECT_THAT(result.err, HasSubstr("size available is "));
  const ProcessResult checked = start_proxy({"--check", "--cache-dir", directory});
  EXPECT_EQ(checked.exit_status, 0) << checked.err;
  EXPECT_THAT(checked.out, HasSubstr("warning: size asked is "));
}

TEST_F(StartFailures, BenchNamesAFolderThatCannotBe) {
  const ProcessResult result = testing_support::run_command(
      {testing_support::program_path("cacheoff"), "bench", "--quick", "--out", "/proc/x"});
  EXPECT_EQ(result.exit_status, 2);
  EXPECT_THAT(result.err, HasSubstr("--out '/proc/x'"));
}

TEST_F(StartFailures, APipeWithoutAWriterIsSaidToBeWaitedFor) {
  const std::string pipe = in_folder("pipe");
  ASSERT_EQ(testing_support::run_command({"mkfifo", pipe}).exit_status, 0);
  testing_support::Process reader({"sh", "-c", "exec \"$0\" trace info \"$1\" 2>&1",
                                   testing_support::program_path("cacheoff"), pipe});
  EXPECT_THAT(reader.wait_for_line("waiting for"), HasSubstr(pipe));
  write("pipe",
        "1286536308.779    180 192.0.2.1 TCP_MISS/200 411 GET http://example.org/ - "
        "HIER_DIRECT/192.0.2.2 text/html\n");
  const ProcessResult result = reader.wait();
  EXPECT_EQ(result.exit_status, 0) << result.out;
}

}  // namespace
