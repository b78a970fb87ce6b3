// Origin and proxy as real processes on loopback, for tests that look at the programs from outside.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "tests/support/process.h"

namespace testing_support {

/// What a Stack is made of.
struct StackOptions {
  std::vector<std::string> origin_arguments;  ///< Besides --listen.
  std::vector<std::string> proxy_arguments;   ///< Besides --listen, --admin and --access-log.
};

/// A running `cacheoff origin` and a running `cacheoff-proxy` in a temporary folder that goes with
/// it. Throws std::runtime_error, with what the programs said, when one does not become ready.
class Stack {
 public:
  explicit Stack(StackOptions options);
  ~Stack();
  Stack(const Stack&) = delete;
  Stack& operator=(const Stack&) = delete;

  const std::filesystem::path& folder() const { return folder_; }
  std::string proxy_address() const { return "127.0.0.1:" + std::to_string(proxy_port_); }
  std::string origin_address() const { return "127.0.0.1:" + std::to_string(origin_port_); }
  std::string admin_address() const { return "127.0.0.1:" + std::to_string(admin_port_); }
  uint16_t proxy_port() const { return proxy_port_; }
  uint16_t admin_port() const { return admin_port_; }
  Process& proxy() { return *proxy_; }
  Process& origin() { return *origin_; }
  std::filesystem::path access_log() const { return folder_ / "access.log"; }

  /// Starts the proxy (again) on a free port with the same arguments, after it was stopped or
  /// killed.
  void start_proxy();
  /// SIGTERM; returns how it ended.
  ProcessResult stop_proxy();
  /// SIGKILL, and waits until it is gone.
  void kill_proxy();

 private:
  StackOptions options_;
  std::filesystem::path folder_;
  std::unique_ptr<Process> origin_;
  std::unique_ptr<Process> proxy_;
  uint16_t origin_port_ = 0;
  uint16_t proxy_port_ = 0;
  uint16_t admin_port_ = 0;
};

/// The whole content of a file; empty where it cannot be read.
std::string read_file(const std::filesystem::path& path);

/// The lines of a text, without their ends.
std::vector<std::string> split_lines(const std::string& text);

/// The words of a line, separated by runs of blanks.
std::vector<std::string> split_words(const std::string& line);

}  // namespace testing_support
