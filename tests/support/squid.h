// A real Squid (Debian's package) on loopback, for tests that hold what robots see against it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "tests/support/process.h"

namespace testing_support {

/// A running Squid: a forward proxy with 256 MB of memory cache and no disk cache, which logs in
/// its native format. The destructor kills it.
class Squid {
 public:
  /// Whether there is a Squid in PATH or where Debian puts it.
  static bool installed();

  /// Starts one in `folder` (made if need be, and open to the user that Squid becomes), on a free
  /// port. `more_lines` stand at the end of its configuration.
  explicit Squid(const std::filesystem::path& folder,
                 const std::vector<std::string>& more_lines = {});

  /// Whether it took a connection within half a minute; said() tells why not.
  bool wait_until_ready();
  /// SIGTERM, and waits: the log is whole then.
  void stop();
  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }
  std::filesystem::path access_log() const { return folder_ / "access.log"; }
  /// What it wrote to its cache.log and to standard error.
  std::string said() const;

 private:
  void choose_port();
  void write_configuration(const std::vector<std::string>& more_lines) const;

  std::filesystem::path folder_;
  uint16_t port_ = 0;
  std::unique_ptr<Process> process_;
  ProcessResult stopped_;
};

}  // namespace testing_support
