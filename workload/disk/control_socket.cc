#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "workload/disk/control.h"

namespace workload::disk {
namespace {

constexpr std::chrono::milliseconds kSilenceMax{2000};
/// Of an answer; status takes about a thousand.
constexpr size_t kAnswerBytesMax = 64 * 1024;

/// Closes the descriptor at the end of its scope.
class OpenSocket {
 public:
  explicit OpenSocket(int fd) : fd_(fd) {}
  ~OpenSocket() {
    if (fd_ >= 0) ::close(fd_);
  }
  OpenSocket(const OpenSocket&) = delete;
  OpenSocket& operator=(const OpenSocket&) = delete;
  int fd() const { return fd_; }

 private:
  int fd_;
};

/// The name of a socket. A path that is too long for one is reached through its folder, which is
/// held open for as long as the address is used.
class SocketAddress {
 public:
  explicit SocketAddress(const std::string& path) {
    name_.sun_family = AF_UNIX;
    std::string text = path;
    if (text.size() >= sizeof name_.sun_path) {
      const size_t slash = path.rfind('/');
      if (slash == std::string::npos) return;
      folder_fd_ = ::open(path.substr(0, slash).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
      if (folder_fd_ < 0) return;
      text = "/proc/self/fd/" + std::to_string(folder_fd_) + path.substr(slash);
    }
    if (text.empty() || text.size() >= sizeof name_.sun_path) return;
    std::memcpy(name_.sun_path, text.data(), text.size());
    good_ = true;
  }
  ~SocketAddress() {
    if (folder_fd_ >= 0) ::close(folder_fd_);
  }
  SocketAddress(const SocketAddress&) = delete;
  SocketAddress& operator=(const SocketAddress&) = delete;

  bool good() const { return good_; }
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&name_); }
  static constexpr socklen_t size() { return sizeof(sockaddr_un); }

 private:
  sockaddr_un name_{};
  int folder_fd_ = -1;
  bool good_ = false;
};

int connect_to(const SocketAddress& address) {
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return -1;
  if (::connect(fd, address.get(), SocketAddress::size()) == 0) return fd;
  const int error = errno;
  ::close(fd);
  errno = error;
  return -1;
}

/// Reads up to the end of a line, which is left out. Nothing at the end of the stream, after
/// `wait_max` of silence, and for a line of `size_max` or more.
std::optional<std::string> read_line(int fd, std::string& buffer, size_t size_max,
                                     std::chrono::milliseconds wait_max) {
  for (;;) {
    if (const size_t end = buffer.find('\n'); end != std::string::npos) {
      std::string line = buffer.substr(0, end);
      buffer.erase(0, end + 1);
      return line;
    }
    if (buffer.size() >= size_max) return std::nullopt;
    pollfd wanted{fd, POLLIN, 0};
    const int ready = ::poll(&wanted, 1, static_cast<int>(wait_max.count()));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return std::nullopt;
    std::array<char, 4096> part;
    const ssize_t got = ::recv(fd, part.data(), std::min(part.size(), size_max - buffer.size()), 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return std::nullopt;
    buffer.append(part.data(), static_cast<size_t>(got));
  }
}

/// A line is far smaller than a socket's buffer, so a peer that does not read cannot hold this up.
bool send_line(int fd, std::string line) {
  line += '\n';
  return ::send(fd, line.data(), line.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(line.size());
}

}  // namespace

ControlSocket::~ControlSocket() {
  if (listening_ < 0) return;
  ::close(listening_);
  ::unlink(path_.c_str());
}

std::string ControlSocket::listen(const std::string& path) {
  const SocketAddress address(path);
  if (!address.good()) {
    return "--control '" + path + "': must be the path of a socket in a folder that is there";
  }
  struct stat found {};
  if (::lstat(path.c_str(), &found) == 0) {
    const OpenSocket other(S_ISSOCK(found.st_mode) ? connect_to(address) : -1);
    if (!S_ISSOCK(found.st_mode) || other.fd() >= 0 || errno != ECONNREFUSED) {
      return "--control '" + path + "': is there already";
    }
    ::unlink(path.c_str());  // left by a process that was killed
  }
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const mode_t mask = ::umask(0177);
  const bool bound = fd >= 0 && ::bind(fd, address.get(), SocketAddress::size()) == 0;
  const int error = errno;
  ::umask(mask);
  if (!bound || ::listen(fd, 8) != 0) {
    const std::string reason = std::strerror(bound ? errno : error);
    if (fd >= 0) ::close(fd);
    return "--control '" + path + "': " + reason;
  }
  listening_ = fd;
  path_ = path;
  return {};
}

bool ControlSocket::serve(ServedDisk& disk) const {
  const OpenSocket peer(::accept4(listening_, nullptr, nullptr, SOCK_CLOEXEC));
  if (peer.fd() < 0) return false;  // it has gone again
  std::string buffer;
  while (const auto line = read_line(peer.fd(), buffer, kControlLineBytesMax, kSilenceMax)) {
    const ControlAnswer answer = run_control_command(*line, disk);
    const bool sent = send_line(peer.fd(), answer.json);
    if (answer.end) return true;
    if (!sent) return false;
  }
  return false;
}

std::optional<std::string> send_control_command(const std::string& path, const std::string& command,
                                                std::chrono::milliseconds wait_max,
                                                std::string& error) {
  const SocketAddress address(path);
  if (!address.good()) {
    error = "'" + path + "' is no path of a socket";
    return std::nullopt;
  }
  if (command.size() + 1 > kControlLineBytesMax || command.find('\n') != std::string::npos) {
    error =
        "a command is one line of at most " + std::to_string(kControlLineBytesMax - 1) + " bytes";
    return std::nullopt;
  }
  const OpenSocket peer(connect_to(address));
  if (peer.fd() < 0) {
    error = "no disk answers at '" + path + "': " + std::strerror(errno);
    return std::nullopt;
  }
  std::string buffer;
  if (send_line(peer.fd(), command)) {
    if (auto line = read_line(peer.fd(), buffer, kAnswerBytesMax, wait_max)) return line;
  }
  error = "the disk at '" + path + "' did not answer";
  return std::nullopt;
}

}  // namespace workload::disk
