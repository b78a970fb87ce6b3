// An HTTP server that says exactly what a test tells it to, right or wrong.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace testing_support {

/// A request as it came.
struct ScriptedRequest {
  std::string method;
  std::string target;
  std::string head;  ///< Request line and fields, up to the empty line.
  std::string body;
  uint64_t connection = 0;  ///< Counts from 0.
  uint64_t sequence = 0;    ///< Counts from 0, over all connections.

  /// The field's value, name compared without case; empty where it is absent.
  std::string field(std::string_view name) const;
};

/// What to send back and what to do then.
struct ScriptedReply {
  enum class Then {
    kKeep,   ///< Wait for the next request.
    kClose,  ///< Close in order (FIN).
    kReset,  ///< Close with RST.
    kStall,  ///< Say nothing more; the connection stays open until the peer or the test ends.
  };
  std::string bytes;  ///< On the wire, head and all.
  Then then = Then::kKeep;
};

/// Serves on 127.0.0.1, each connection on a thread of its own. `script` is called from these
/// threads, one call at a time. The destructor closes everything and waits for the threads.
class ScriptedServer {
 public:
  using Script = std::function<ScriptedReply(const ScriptedRequest&)>;

  explicit ScriptedServer(Script script);
  ~ScriptedServer();
  ScriptedServer(const ScriptedServer&) = delete;
  ScriptedServer& operator=(const ScriptedServer&) = delete;

  uint16_t port() const;
  uint64_t requests() const;
  uint64_t connections() const;
  /// Most requests that had come and were not answered yet, at any moment.
  uint64_t requests_under_way_max() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// A port of 127.0.0.1 on which nobody listens.
uint16_t unused_port();

}  // namespace testing_support
