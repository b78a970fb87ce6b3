// Requests and hits as an access log has them and as the robots have them, to hold one against the
// other to the request.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <ostream>
#include <string>

namespace testing_support {

/// Counts of the requests for one thing.
struct RequestHits {
  uint64_t requests = 0;
  uint64_t hits = 0;
  friend bool operator==(const RequestHits& left, const RequestHits& right) = default;
  /// For messages of tests.
  friend std::ostream& operator<<(std::ostream& out, const RequestHits& counts) {
    return out << counts.hits << " hits of " << counts.requests;
  }
};

/// What one side says about a run.
struct HitCounts {
  RequestHits total;
  /// By method, status and URL, e.g. `GET 200 http://127.0.0.1:8080/object/…`.
  std::map<std::string, RequestHits> by_request;
  /// By result tag, without the status. Of access logs only.
  std::map<std::string, uint64_t> by_tag;

  uint64_t tagged(const std::string& tag) const;
};

/// Whose access log: the tags are the same, but one means another thing.
enum class LogWriter : uint8_t {
  kOurProxy,
  /// Where the origin answers a client's condition with 304 as it validates what Squid holds, Squid
  /// hands on the origin's own 304 and logs TCP_REFRESH_UNMODIFIED/304: the cache gave nothing.
  /// Our proxy answers from what it holds.
  kSquid,
};

/// Reads an access log of Squid's native format. What is no request (its URL begins with
/// `error:`, as of a connection that was closed before one came) is left out. Hits are the tags
/// with HIT in them and TCP_REFRESH_UNMODIFIED. Squid logs a request that found an object still on
/// its way from the origin as TCP_MISS without a server (HIER_NONE); here that is TCP_CF_HIT, as
/// our proxy says it.
HitCounts count_access_log(const std::filesystem::path& file, LogWriter writer);

/// Reads a request log of `cacheoff load`: hits are the outcomes `hit` and `validated`.
HitCounts count_request_log(const std::filesystem::path& file);

/// Where two sides differ, a line each for the first few requests; empty where they agree.
std::string difference(const HitCounts& left, const HitCounts& right);

}  // namespace testing_support
