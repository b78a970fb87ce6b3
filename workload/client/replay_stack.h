// The origin and the proxy that a replay starts for itself where the user names none.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "storage/base/units.h"
#include "workload/experiment/child_process.h"
#include "workload/experiment/expected.h"

namespace workload {

/// What to start.
struct ReplayStackOptions {
  std::filesystem::path programs;           ///< Folder of `cacheoff` and `cacheoff-proxy`.
  std::optional<storage::HostPort> origin;  ///< A running one; else one is started.
  std::optional<storage::HostPort> proxy;   ///< A running one; else one is started.
  std::string scheme = "memory";            ///< Of the proxy that is started.
  uint64_t cache_size_bytes = storage::kGiB;
};

/// Running programs and their temporary folder (cache and logs). Destroying it kills what still
/// runs and removes the folder. One thread.
class ReplayStack {
 public:
  /// Starts what is missing and waits until it serves. A Problem names the program and what it
  /// said.
  static Expected<ReplayStack> start(const ReplayStackOptions& options, StopSignals& stop);

  ReplayStack(ReplayStack&&) noexcept = default;
  ReplayStack& operator=(ReplayStack&&) noexcept = delete;
  ~ReplayStack();

  const storage::HostPort& origin() const { return origin_address_; }
  const storage::HostPort& proxy() const { return proxy_address_; }

  /// Stops proxy and origin cleanly. One line about each that did not end well; else empty.
  std::string stop();

 private:
  ReplayStack() = default;
  Expected<storage::HostPort> start_program(const std::string& name,
                                            std::vector<std::string> command,
                                            std::optional<ChildProcess>& child, StopSignals& stop);
  Expected<std::string> cache_directory(const ReplayStackOptions& options, StopSignals& stop);
  Problem with_log(Problem problem, const std::string& name) const;

  /// Moved from, it owns nothing.
  struct Folder {
    std::filesystem::path path;
    Folder() = default;
    Folder(Folder&& other) noexcept : path(std::move(other.path)) { other.path.clear(); }
    Folder& operator=(Folder&& other) = delete;
    ~Folder();
  };

  Folder folder_;
  std::optional<ChildProcess> origin_;
  std::optional<ChildProcess> proxy_;
  storage::HostPort origin_address_;
  storage::HostPort proxy_address_;
};

}  // namespace workload
