// The commands by which a served disk is controlled, and the socket that they come through.
#pragma once

#include <atomic>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "workload/disk/served_disk.h"

namespace workload::disk {

/// Longest command, its line's end included; longer ones are refused.
inline constexpr size_t kControlLineBytesMax = 256;

/// What a command comes to.
struct ControlAnswer {
  std::string json;  ///< One line: an object with `ok`, and `error` where that is false.
  bool end = false;  ///< The program is to end.
};

/// The commands, one a line, for the text of `--help`.
std::string_view control_commands();

/// Does what the command says. MANNER is drop, tear or reorder; without one it is the profile's.
ControlAnswer run_control_command(std::string_view line, ServedDisk& disk);

/// A Unix stream socket. One connection at a time, a command a line, a line of JSON for each.
/// One thread.
class ControlSocket {
 public:
  ControlSocket() = default;
  ~ControlSocket();
  ControlSocket(const ControlSocket&) = delete;
  ControlSocket& operator=(const ControlSocket&) = delete;

  /// Makes the socket at `path`, where nothing may be but a socket that nobody listens on; readable
  /// by the owner alone. Returns what is wrong, or nothing.
  std::string listen(const std::string& path);
  /// To be polled for reading; -1 before listen().
  int descriptor() const { return listening_; }
  /// Call when it is readable: serves one connection until it closes, has been silent for two
  /// seconds, or has sent `end`. True for `end`.
  bool serve(ServedDisk& disk) const;

 private:
  int listening_ = -1;
  std::string path_;
};

/// Sends one command to the socket at `path`. The answer, without its line's end; nothing, and the
/// reason in `error`, where nobody answers within `wait_max`.
std::optional<std::string> send_control_command(const std::string& path, const std::string& command,
                                                std::chrono::milliseconds wait_max,
                                                std::string& error);

}  // namespace workload::disk
