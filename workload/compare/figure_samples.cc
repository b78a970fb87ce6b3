#include "workload/compare/figure_samples.h"

#include <array>

#include "workload/report/json_text.h"
#include "workload/report/request_cost.h"

namespace workload {
namespace {

std::optional<double> cpu_us_a_request(const boost::json::object& run) {
  const auto proxy_s = number_at(run, "cpu_s.proxy");
  const auto requests = counted_requests(run);
  if (!proxy_s || !requests) return std::nullopt;
  return (*proxy_s + number_at(run, "cpu_s.helper").value_or(0)) * 1e6 / *requests;
}

std::optional<double> disk_operations_a_request(const boost::json::object& run) {
  const auto reads = number_at(run, "disk.reads");
  const auto writes = number_at(run, "disk.writes");
  const auto requests = counted_requests(run);
  if (!reads || !writes || !requests) return std::nullopt;
  return (*reads + *writes) / *requests;
}

constexpr std::array<ComparedFigure, 6> kComparedFigures{{
    {{"throughput_rps", "throughput, responses/s", "is", "faster", "slower"},
     [](const boost::json::object& run) { return number_at(run, "throughput_rps"); }},
    {{"response_time_ms", "response time, ms", "takes", "longer", "less time"},
     [](const boost::json::object& run) { return number_at(run, "response_time_ms.mean"); }},
    {{"hit_ratio_percent", "hit ratio, %", "has", "more hits", "fewer hits"},
     [](const boost::json::object& run) { return number_at(run, "hit_ratio_percent"); }},
    {{"byte_hit_ratio_percent", "byte hit ratio, %", "has", "more bytes from the cache",
      "fewer bytes from the cache"},
     [](const boost::json::object& run) { return number_at(run, "byte_hit_ratio_percent"); }},
    {{"proxy_cpu_us_per_request", "proxy CPU a request, us", "uses", "more CPU a request",
      "less CPU a request"},
     cpu_us_a_request},
    {{"disk_operations_per_request", "disk operations a request", "makes", "more disk operations",
      "fewer disk operations"},
     disk_operations_a_request},
}};

}  // namespace

std::span<const ComparedFigure> compared_figures() {
  return kComparedFigures;
}

std::optional<uint64_t> seed_of_run(const boost::json::object& run, const Results& results) {
  if (number_at(run, "seed")) return count_at(run, "seed");
  const uint64_t round = count_at(run, "run");
  if (round == 0) return std::nullopt;
  return results.seed + round - 1;
}

std::optional<double> mean_response_bytes(const boost::json::object& run) {
  const auto bytes = number_at(run, "bytes_received");
  auto responses = number_at(run, "completed");
  if (!responses) responses = static_cast<double>(sum_at(run, "responses_by_status"));
  if (!bytes || !(*responses > 0)) return std::nullopt;
  return *bytes / *responses;
}

}  // namespace workload
