#include "workload/compare/figure_samples.h"

#include <algorithm>
#include <array>

#include "workload/report/json_text.h"
#include "workload/report/request_cost.h"

namespace workload {
namespace {

std::optional<double> cpu_us_over(const boost::json::object& run,
                                  const std::optional<double>& requests) {
  const auto proxy_s = number_at(run, "cpu_s.proxy");
  if (!proxy_s || !requests || !(*requests > 0)) return std::nullopt;
  return (*proxy_s + number_at(run, "cpu_s.helper").value_or(0)) * 1e6 / *requests;
}

bool has_seed(const Sample& sample, const std::optional<uint64_t>& seed) {
  return std::any_of(sample.begin(), sample.end(),
                     [&](const SampleValue& run) { return run.seed == seed; });
}

std::optional<double> cpu_us_a_request(const boost::json::object& run) {
  return cpu_us_over(run, counted_requests(run));
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

std::optional<double> cpu_us_a_sent_request(const boost::json::object& run) {
  return cpu_us_over(run, number_at(run, "requests"));
}

Sample sample_of(const CellResult& cell, const Results& results, const ComparedFigure& figure) {
  Sample sample;
  for (const auto* run : counting_runs(cell)) {
    if (const auto value = figure.read(*run)) {
      sample.push_back({seed_of_run(*run, results), *value});
    }
  }
  return sample;
}

size_t keep_shared_rounds(Sample& first, Sample& second) {
  const auto unknown = [](const SampleValue& run) { return !run.seed; };
  if (std::any_of(first.begin(), first.end(), unknown) ||
      std::any_of(second.begin(), second.end(), unknown) ||
      std::none_of(first.begin(), first.end(),
                   [&](const SampleValue& run) { return has_seed(second, run.seed); })) {
    return 0;
  }
  const Sample all = first;
  return std::erase_if(first, [&](const auto& run) { return !has_seed(second, run.seed); }) +
         std::erase_if(second, [&](const auto& run) { return !has_seed(all, run.seed); });
}

bool all_runs_valid(const CellResult& cell) {
  const auto runs = counting_runs(cell);
  return std::all_of(runs.begin(), runs.end(), [](const auto* run) {
    const auto* valid = run->if_contains("valid");
    return valid == nullptr || !valid->is_bool() || valid->get_bool();
  });
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
