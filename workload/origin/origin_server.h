// The origin server of the workload: it knows every object from its URL alone.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "storage/base/clock.h"
#include "storage/base/error.h"
#include "storage/base/units.h"
#include "workload/model/distributions.h"
#include "workload/origin/static/static_site.h"

namespace workload {

struct OriginOptions {
  storage::HostPort listen{"127.0.0.1", 0};  ///< Port 0 picks a free one.
  /// Time between a request's end and its response's start; durations. A function of seed, object
  /// and transaction, so that two runs think alike.
  Distribution think;
  double time_scale = 1;  ///< Divides the think time; above 0.
  /// Requests that one connection serves before it is closed; nothing: any number.
  std::optional<Distribution> requests_per_connection;
  std::chrono::nanoseconds idle_timeout = std::chrono::seconds(15);
  unsigned threads = 1;                                  ///< 1 to 256.
  uint64_t connections_max = 20000;                      ///< More are closed at once and counted.
  uint64_t request_body_bytes_max = uint64_t{64} << 20;  ///< Larger ones get 413.
  /// Files to serve instead of the workload's objects; what is said of thinking and faults has then
  /// no meaning.
  std::shared_ptr<const StaticSite> files;
  std::shared_ptr<const OwnedFd> access_log;  ///< Where each request leaves a line, or null.
  bool test_faults = false;                   ///< Obey `?fault=NAME` in URLs; see docs/workload.md.
};

/// What an origin has done since it started. Interim figures of several threads need not fit
/// together to the last request.
struct OriginStatistics {
  uint64_t requests = 0;             ///< Answered, whatever the status.
  uint64_t response_body_bytes = 0;  ///< Handed to the kernel.
  uint64_t request_body_bytes = 0;
  uint64_t connections_accepted = 0;
  uint64_t connections_open = 0;
  uint64_t connections_refused = 0;  ///< Over connections_max.
  uint64_t responses_cut = 0;        ///< The peer went away in mid-response.
  /// By the origin, as kBreakOffHeader asked, or as a file turned out shorter than it was.
  uint64_t responses_broken_off = 0;
  std::map<unsigned, uint64_t> responses_by_status;
};

/// Serves HTTP/1.0 and HTTP/1.1 on threads of its own: GET and HEAD with ranges and conditions
/// (RFC 9110 sections 13 and 14), POST and PUT. Each response is stamped with the transaction that
/// caused it (object.h); a path that is no object's is 404. With `files` it serves those
/// instead. `/cacheoff/status` answers the statistics as JSON either way. Methods are called from
/// the thread that made the object.
class OriginServer {
 public:
  /// `clock` (Date headers, time-outs) must outlive the server.
  OriginServer(OriginOptions options, const storage::Clock& clock);
  /// Stops, if that was not done.
  ~OriginServer();
  OriginServer(const OriginServer&) = delete;
  OriginServer& operator=(const OriginServer&) = delete;

  /// Binds and begins to serve. kIo with the errno where the address cannot be had.
  storage::Result<void> start();
  /// The address that is bound; valid after start().
  storage::HostPort address() const;
  /// Closes every connection and ends the threads. Idempotent.
  void stop();
  OriginStatistics statistics() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace workload
