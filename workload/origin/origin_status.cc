#include "workload/origin/origin_status.h"

#include <sys/resource.h>

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

namespace workload {
namespace {

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

double process_cpu_s() {
  rusage usage{};
  if (getrusage(RUSAGE_SELF, &usage) != 0) return 0;  // Fails for bad arguments only.
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

}  // namespace

std::string origin_status_json(const OriginStatistics& statistics) {
  boost::json::object by_status;
  for (const auto& [status, count] : statistics.responses_by_status) {
    by_status[std::to_string(status)] = count;
  }
  const boost::json::object all{{"requests", statistics.requests},
                                {"response_body_bytes", statistics.response_body_bytes},
                                {"request_body_bytes", statistics.request_body_bytes},
                                {"connections_accepted", statistics.connections_accepted},
                                {"connections_open", statistics.connections_open},
                                {"connections_refused", statistics.connections_refused},
                                {"responses_cut", statistics.responses_cut},
                                {"responses_broken_off", statistics.responses_broken_off},
                                {"responses_by_status", by_status},
                                {"cpu_s", process_cpu_s()}};
  return boost::json::serialize(all) + '\n';
}

}  // namespace workload
