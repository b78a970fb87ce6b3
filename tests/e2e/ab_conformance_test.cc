// `cacheoff ab` beside ApacheBench: the same server, the same options, the same counts, and a
// reader of ApacheBench's reports that reads ours.
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>

#include <fstream>
#include <map>
#include <memory>
#include <regex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/support/peer.h"
#include "tests/support/process.h"
#include "tests/support/scripted_server.h"
#include "tests/support/temp_dir.h"

namespace {

using testing_support::command_exists;
using testing_support::Process;
using testing_support::ProcessResult;
using testing_support::program_path;
using testing_support::run_command;
using testing_support::ScriptedReply;
using testing_support::ScriptedServer;
using testing_support::TempDir;

/// What scripts around ApacheBench take from its report: label and first word behind it, and each
/// row of its tables.
using AbValues = std::map<std::string, std::string>;

AbValues values_in_report(const std::string& report) {
  static const std::regex kLabelled("^([A-Z][A-Za-z0-9 -]+): +([^ ].*)$");
  static const std::regex kFailures("^ +\\((Connect: .*)\\)$");
  static const std::regex kPercent("^ +([0-9]+)% +([0-9]+)( \\(longest request\\))?$");
  static const std::regex kTimes("^(Connect|Processing|Waiting|Total):( +[0-9.]+){5}$");
  AbValues values;
  std::istringstream in(report);
  std::smatch match;
  for (std::string line; std::getline(in, line);) {
    if (std::regex_match(line, match, kTimes)) {
      values["times of " + match[1].str()] = line;
    } else if (line.starts_with("WARNING: ") || line.starts_with("ERROR: ")) {
      continue;  // Whether the median is far from the mean is a matter of the run.
    } else if (std::regex_match(line, match, kLabelled)) {
      // Two lines share this label, and differ in what follows.
      const std::string across = line.find("across all") != std::string::npos ? " across" : "";
      values[match[1].str() + across] = match[2].str();
    } else if (std::regex_match(line, match, kFailures)) {
      values["failures"] = match[1].str();
    } else if (std::regex_match(line, match, kPercent)) {
      values[match[1].str() + "%"] = match[2].str();
    }
  }
  return values;
}

class BesideApacheBench : public testing::Test {
 protected:
  void SetUp() override {
    if (!command_exists("ab")) GTEST_SKIP() << "ApacheBench is not installed (apache2-utils)";
  }

  /// Runs both, and holds that theirs and ours have the same labels, and the same values where
  /// these do not depend on time.
  void compare(const std::vector<std::string>& arguments) {
    std::vector<std::string> theirs{"ab"};
    std::vector<std::string> ours{program_path("cacheoff"), "ab"};
    for (auto* command : {&theirs, &ours}) {
      command->insert(command->end(), arguments.begin(), arguments.end());
    }
    their_run = run_command(theirs);
    our_run = run_command(ours);
    ASSERT_EQ(their_run.exit_status, 0) << their_run.err;
    const auto expected = values_in_report(their_run.out);
    values = values_in_report(our_run.out);
    ASSERT_GT(expected.size(), 10U) << their_run.out;
    for (const auto& [label, value] : expected) {
      EXPECT_EQ(values.count(label), 1U) << label << "\n" << our_run.out;
    }
    for (const auto& [label, value] : values) {
      EXPECT_EQ(expected.count(label), 1U) << label << "\n" << their_run.out;
    }
    for (const std::string label :
         {"Server Software", "Server Hostname", "Server Port", "Document Path", "Document Length",
          "Concurrency Level", "Complete requests", "Failed requests", "failures",
          "Non-2xx responses", "Keep-Alive requests", "Total transferred", "HTML transferred"}) {
      if (expected.count(label) == 1) {
        EXPECT_EQ(values[label], expected.at(label)) << label;
      }
    }
  }

  ProcessResult their_run, our_run;
  AbValues values;
};

/// nginx with a document of 151 bytes, on a port of its own.
class NginxWithDocument {
 public:
  explicit NginxWithDocument(const std::string& program) {
    std::ofstream(folder_ / "index.html") << std::string(151, 'x');
    const auto place = [&](const std::string& name) { return (folder_ / name).string(); };
    // Workers of a master that runs as root would be somebody who may not read the folder.
    std::ofstream(place("nginx.conf"))
        << "daemon off;" << (geteuid() == 0 ? "user root;" : "") << "worker_processes 1; pid "
        << place("pid") << "; events { worker_connections 256; }\nhttp { access_log off; "
        << "keepalive_requests 100000; client_body_temp_path " << place("b") << "; proxy_temp_path "
        << place("p") << "; fastcgi_temp_path " << place("f") << "; uwsgi_temp_path " << place("u")
        << "; scgi_temp_path " << place("s") << "; server { listen 127.0.0.1:" << port_ << "; root "
        << folder_.path().string() << "; } }\n";
    process_ = std::make_unique<Process>(
        std::vector<std::string>{program, "-p", folder_.path().string(), "-e", place("error.log"),
                                 "-c", place("nginx.conf")});
    for (int i = 0; i < 200 && process_->running(); ++i) {
      const auto answer = run_command({"curl", "-sf", "-o", "/dev/null", url("/index.html")});
      if (answer.exit_status == 0) return;
      usleep(50'000);
    }
    throw std::runtime_error("nginx does not serve");
  }
  ~NginxWithDocument() { process_->terminate(); }

  std::string url(const std::string& path) const {
    return "http://127.0.0.1:" + std::to_string(port_) + path;
  }

 private:
  TempDir folder_;
  uint16_t port_ = testing_support::unused_port();
  std::unique_ptr<Process> process_;
};

std::string nginx_program() {
  for (const std::string path : {"/usr/sbin/nginx", "/usr/local/sbin/nginx", "/usr/bin/nginx"}) {
    if (access(path.c_str(), X_OK) == 0) return path;
  }
  return {};
}

TEST_F(BesideApacheBench, CountsOnNginxAreTheSame) {
  const std::string program = nginx_program();
  if (program.empty() || !command_exists("curl")) GTEST_SKIP() << "needs nginx and curl";
  const NginxWithDocument nginx(program);
  compare({"-n", "500", "-kc10", nginx.url("/index.html")});
  EXPECT_EQ(values["Keep-Alive requests"], "500");
  EXPECT_EQ(our_run.err, their_run.err) << "the progress";
  compare({"-n500", "-c", "10", "-q", nginx.url("/index.html")});
  compare({"-n100", "-c5", "-i", nginx.url("/index.html")});
  compare({"-n100", "-c5", "-l", nginx.url("/index.html")});
  EXPECT_EQ(values["Document Length"], "Variable");
  EXPECT_EQ(our_run.exit_status, 0);
  compare({"-n100", "-kc5", nginx.url("/nothing")});
  EXPECT_EQ(values["Non-2xx responses"], "100");
  EXPECT_EQ(our_run.exit_status, 1) << "no response was good";
}

TEST_F(BesideApacheBench, LengthsThatDifferAreTheSameFailures) {
  const ScriptedServer server([](const auto& request) {
    const std::string body(request.sequence % 5 == 4 ? 4 : 3, 'x');
    return ScriptedReply{
        "HTTP/1.1 200 OK\r\nServer: s\r\nConnection: keep-alive\r\n"
        "Content-Length: " +
        std::to_string(body.size()) + "\r\n\r\n" + body};
  });
  compare({"-n", "200", "-k", "http://127.0.0.1:" + std::to_string(server.port()) + "/x"});
  EXPECT_EQ(values["failures"], "Connect: 0, Receive: 0, Length: 40, Exceptions: 0");
  EXPECT_NE(our_run.out.find("40 of another length"), std::string::npos) << our_run.out;
}

TEST_F(BesideApacheBench, DataFilesHaveTheSameShape) {
  const ScriptedServer server([](const auto&) {
    return ScriptedReply{"HTTP/1.1 200 OK\r\nConnection: keep-alive\r\nContent-Length: 1\r\n\r\nx"};
  });
  const TempDir folder;
  const std::string url = "http://127.0.0.1:" + std::to_string(server.port()) + "/x";
  const auto lines_of = [&](const std::string& name) {
    std::ifstream in(folder / name);
    std::vector<std::string> lines;
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
  };
  const auto path = [&](const std::string& name) { return (folder / name).string(); };
  run_command({"ab", "-kn50", "-e", path("their.csv"), "-g", path("their.tsv"), url});
  const auto ours = run_command(
      {program_path("cacheoff"), "ab", "-kn50", "-e", path("our.csv"), "-g", path("our.tsv"), url});
  ASSERT_EQ(ours.exit_status, 0) << ours.err;
  for (const std::string kind : {".csv", ".tsv"}) {
    const auto our = lines_of("our" + kind);
    const auto their = lines_of("their" + kind);
    ASSERT_EQ(our.size(), their.size()) << kind;
    ASSERT_FALSE(our.empty());
    EXPECT_EQ(our[0], their[0]);
  }
  const std::regex row("[A-Z][a-z]{2} [A-Z][a-z]{2} [0-9]{2} [0-9:]{8} [0-9]{4}(\t[0-9]+){5}");
  for (const std::string name : {"our.tsv", "their.tsv"}) {
    EXPECT_TRUE(std::regex_match(lines_of(name)[1], row)) << name;
  }
}

TEST(AbProgram, ARefusedConnectionIsAFailedRun) {
  const auto ended =
      run_command({program_path("cacheoff"), "ab", "-n9",
                   "http://127.0.0.1:" + std::to_string(testing_support::unused_port()) + "/"});
  EXPECT_EQ(ended.exit_status, 1);
  EXPECT_NE(ended.err.find("Connection refused"), std::string::npos) << ended.err;
}

TEST(AbProgram, AWrongCommandLineIsOneLine) {
  const auto ended = run_command({program_path("cacheoff"), "ab", "-Q", "http://127.0.0.1/"});
  EXPECT_EQ(ended.exit_status, 2);
  EXPECT_TRUE(ended.out.empty());
  EXPECT_EQ(ended.err, "cacheoff ab: no such option: '-Q' (see 'cacheoff ab -h')\n");
}

TEST(AbProgram, ASignalEndsItWithAReport) {
  const ScriptedServer server([](const auto&) {
    return ScriptedReply{"HTTP/1.1 200 OK\r\nConnection: keep-alive\r\nContent-Length: 1\r\n\r\nx"};
  });
  Process process({program_path("cacheoff"), "ab", "-k", "-q", "-n", "1000000000",
                   "http://127.0.0.1:" + std::to_string(server.port()) + "/x"});
  while (server.requests() < 100 && process.running()) usleep(10'000);
  process.signal(SIGINT);
  const auto ended = process.wait();
  EXPECT_EQ(ended.exit_status, 0) << ended.err;
  EXPECT_NE(ended.out.find("Complete requests:"), std::string::npos);
  EXPECT_NE(ended.out.find("a signal ended the run early"), std::string::npos);
}

}  // namespace
