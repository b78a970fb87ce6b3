// Results of experiments that nobody ran.
#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <vector>

#include "workload/report/results.h"

namespace testing_support {

/// A finished, valid run with every key of the contract.
inline boost::json::object fabricated_run(unsigned number, double throughput_rps) {
  const boost::json::object times{{"mean", 1000 / throughput_rps},
                                  {"p50", 1.0},
                                  {"p90", 2.0},
                                  {"p95", 3.0},
                                  {"p99", 4.0},
                                  {"p999", 5.0},
                                  {"p9999", 5.5},
                                  {"max", 6.0}};
  return {{"run", number},
          {"throughput_rps", throughput_rps},
          {"response_time_ms", times},
          {"hit_response_time_ms", times},
          {"miss_response_time_ms", times},
          {"hit_ratio_percent", 55.5},
          {"byte_hit_ratio_percent", 44.25},
          {"offered_hit_ratio_percent", 56.0},
          {"requests", 1000},
          {"errors", {{"timeout", 0}, {"refused", 0}}},
          {"wrong_bodies", 0},
          {"limited_by", "proxy_cpu"},
          {"cpu_s", {{"proxy", 1.5}, {"load", 0.5}, {"origin", 0.25}, {"helper", 0}}},
          {"warnings", boost::json::array{}},
          {"valid", true},
          {"failure", nullptr}};
}

/// A cell whose runs had these throughputs.
inline workload::CellResult fabricated_cell(const std::string& name,
                                            const std::vector<double>& throughputs) {
  workload::CellResult cell;
  cell.name = name;
  cell.system = "cacheoff-proxy";
  cell.scheme = name.substr(0, name.find('-'));
  cell.filesystem = name.find('-') == std::string::npos ? "" : "here";
  cell.device = "native";
  cell.disks = cell.filesystem.empty() ? 0 : 1;
  cell.cache_size_bytes = 1 << 30;
  unsigned number = 0;
  for (const double throughput : throughputs) {
    cell.runs.push_back(fabricated_run(++number, throughput));
  }
  return cell;
}

/// An experiment with these cells.
inline workload::Results fabricated_results(std::vector<workload::CellResult> cells) {
  workload::Results results;
  results.seed = 7;
  results.environment = {{"started_at", "2024-01-01T00:00:00Z"},
                         {"machine", {{"cpu", "A <CPU> & more"}, {"cpus", 2}}}};
  results.experiment = {{"until", "duration=10s"}};
  results.cells = std::move(cells);
  return results;
}

}  // namespace testing_support
