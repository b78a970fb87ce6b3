// The command line of `cacheoff ab`: ApacheBench's options, and a few of our own.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "storage/base/units.h"
#include "workload/experiment/expected.h"

namespace workload::ab {

inline constexpr uint64_t kConcurrencyMax = 20000;
inline constexpr uint64_t kRequestsMax = 10'000'000'000;
/// What -t implies, as in ApacheBench.
inline constexpr uint64_t kRequestsOfTimeLimit = 50'000;
/// -g keeps 24 bytes a request, so that it has a limit of its own.
inline constexpr uint64_t kRequestsWithGnuplotMax = 50'000'000;
/// Each run is kept whole until the end.
inline constexpr uint64_t kRepeatMax = 100;
inline constexpr uint64_t kBodyBytesMax = 256ULL << 20;

/// What a URL says, as far as a request needs it.
struct Url {
  storage::HostPort server;
  std::string host_text;  ///< As in a Host field: with the port where the URL has one.
  std::string path;       ///< From the `/` on, with the query.
  std::string whole;      ///< With `http://`, as a proxy takes it.
};

/// Reads `[http://]HOST[:PORT]/PATH`. The Problem says what is wrong.
Expected<Url> parse_url(const std::string& text);

/// What to print only, or to run.
enum class Action { kRun, kHelp, kVersion };

/// A whole command line, checked.
struct Options {
  Action action = Action::kRun;
  Url url;
  uint64_t requests = 1;                                        ///< -n
  bool requests_from_t = false;                                 ///< `requests` is what -t implies.
  unsigned concurrency = 1;                                     ///< -c
  std::optional<std::chrono::nanoseconds> time_limit;           ///< -t
  std::chrono::nanoseconds timeout = std::chrono::seconds(30);  ///< -s, of one response
  int window_bytes = 0;                                         ///< -b; 0 leaves it to the kernel.
  std::string local_address;                                    ///< -B
  std::string method = "GET";                                   ///< -m, -i, -p, -u
  bool has_body = false;                                        ///< -p or -u
  std::string body;
  std::string content_type = "text/plain";  ///< -T
  std::vector<std::string> headers;         ///< -H
  std::vector<std::string> cookies;         ///< -C
  std::string authorization;                ///< -A, as given
  std::string proxy_authorization;          ///< -P, as given
  std::optional<storage::HostPort> proxy;   ///< -X
  bool keep_alive = false;                  ///< -k
  bool any_length = false;                  ///< -l
  bool go_on = false;                       ///< -r
  bool quiet = false;                       ///< -q
  bool show_percentiles = true;             ///< not -d
  bool show_confidence = true;              ///< not -S
  int verbosity = 1;                        ///< -v
  bool html = false;                        ///< -w, -x, -y, -z
  std::string table_attributes, row_attributes, cell_attributes;
  std::string gnuplot_file;  ///< -g
  std::string csv_file;      ///< -e
  unsigned threads = 1;      ///< --threads
  unsigned repeat = 1;       ///< --repeat
  std::string json_file;     ///< --json
};

/// Reads the arguments behind `ab`, in getopt's syntax (`-n100`, `-kc10`), and the file of -p or
/// -u. The Problem is one line. One thread at a time, as getopt is.
Expected<Options> parse_options(const std::vector<std::string>& arguments);

/// The text of -h.
std::string usage_text();

}  // namespace workload::ab
