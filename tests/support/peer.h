// The other end of a TCP connection, driven step by step from a test's own thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace testing_support {

/// An HTTP message as it arrived.
struct ReceivedMessage {
  std::string head;    ///< Start line and fields, without the empty line; empty: none arrived.
  std::string body;    ///< Chunked coding removed.
  bool whole = false;  ///< The body ended as its framing says.

  std::string start_line() const;
  /// 0 where this is no response.
  int status() const;
  /// The field's value, name compared without case; empty where it is absent.
  std::string field(std::string_view name) const;
  bool has_field(std::string_view name) const;
};

/// How a connection ended.
enum class Ending { kStillOpen, kClosed, kReset };

/// A connected socket with blocking calls. Everything that waits throws std::runtime_error after
/// a generous time, so that a hang becomes a failure. Move-only.
class Peer {
 public:
  /// Connects to 127.0.0.1. `receive_buffer_bytes`: a small one makes a slow reader.
  static Peer connect(uint16_t port, int receive_buffer_bytes = 0);
  explicit Peer(int descriptor) : descriptor_(descriptor) {}
  ~Peer();
  Peer(Peer&& other) noexcept;
  Peer& operator=(Peer&& other) noexcept;

  /// Sends everything; false where the connection broke first.
  bool send(std::string_view bytes);
  /// Reads a head and, as its fields say, its body. `bodiless`: a response to HEAD.
  ReceivedMessage read_message(bool bodiless = false);
  /// Reads the head alone; the body is left.
  ReceivedMessage read_head();
  /// Reads exactly so many bytes, or less where the connection ends.
  std::string read_bytes(size_t size_bytes);
  /// Reads to the end of the connection and says how it ended.
  std::string read_to_end(Ending& ending);
  /// Reads to the end, and throws away what comes.
  Ending wait_for_end();
  /// Whether bytes (or the end) are there within a short time.
  bool has_input(int wait_ms = 0);

  void half_close();
  void close();
  /// Closes with RST.
  void reset();

 private:
  bool fill();

  int descriptor_ = -1;
  std::string buffer_;
  Ending ending_ = Ending::kStillOpen;
};

/// An origin server whose every step the test takes itself.
class FakeOrigin {
 public:
  FakeOrigin();
  ~FakeOrigin();
  FakeOrigin(const FakeOrigin&) = delete;
  FakeOrigin& operator=(const FakeOrigin&) = delete;

  uint16_t port() const { return port_; }
  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }
  /// `http://ADDRESS` and the path.
  std::string url(const std::string& path) const { return "http://" + address() + path; }
  /// Waits for a connection.
  Peer accept();
  /// Whether a connection waits to be accepted, or comes within `wait_ms`.
  bool has_connection(int wait_ms = 0);

 private:
  int descriptor_ = -1;
  uint16_t port_ = 0;
};

}  // namespace testing_support
