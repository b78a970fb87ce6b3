// Results of experiments that nobody ran, with noise of a known size, to be compared.
#pragma once

#include <boost/json/object.hpp>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "workload/report/results.h"

namespace testing_support {

/// What a fabricated experiment is like. Shares, not percent.
struct FabricatedNoise {
  uint64_t noise_seed = 1;      ///< Of everything but the workload's own differences.
  double slowdown = 0;          ///< CPU time a request more than the other side's.
  double between_runs = 0.015;  ///< Standard deviation of a run's noise.
  double between_seeds = 0.03;  ///< Of what a round's workload does to all that run it.
  unsigned rounds = 10;
  uint64_t first_seed = 1;  ///< Of the workload in the first round.
};

/// An experiment of the cells `memory` and `ufs-here`, whose proxies are the limit.
inline workload::Results noisy_results(const FabricatedNoise& how) {
  workload::Results results;
  results.seed = how.first_seed;
  results.environment = {{"host", "here"}, {"started_at", "2024-01-01T00:00:00Z"}};
  results.experiment = {{"workload", "polymix4"},
                        {"load", "best-effort=64"},
                        {"time-scale", "20"},
                        {"until", "duration=60s"},
                        {"scheme-options", boost::json::object{}}};
  results.work = {
      {"workload_digest", "xxh3-128:1"}, {"trace_digest", nullptr}, {"verification", "bytes"}};
  std::mt19937_64 random(how.noise_seed);
  std::normal_distribution<double> normal;
  double base_rps = 8000;
  for (const char* name : {"memory", "ufs-here"}) {
    workload::CellResult cell;
    cell.name = name;
    cell.system = "cacheoff-proxy";
    cell.scheme = cell.name.substr(0, cell.name.find('-'));
    cell.filesystem = cell.name == "memory" ? "" : "here";
    cell.device = "native";
    cell.disks = cell.name == "memory" ? 0 : 1;
    cell.cache_size_bytes = 1ULL << 30;
    for (unsigned round = 1; round <= how.rounds; ++round) {
      const uint64_t seed = how.first_seed + round - 1;
      std::mt19937_64 of_work(seed * 1000 + (cell.disks > 0 ? 1 : 0));
      std::normal_distribution<double> work_normal;
      const double work = work_normal(of_work) * how.between_seeds;
      const double rps =
          base_rps * std::exp(work + normal(random) * how.between_runs) / (1 + how.slowdown);
      const double hits = 55 + work * 10 + normal(random) * 0.05;
      const double requests = rps * 60;
      cell.runs.push_back(
          {{"run", round},
           {"seed", seed},
           {"throughput_rps", rps},
           {"response_time_ms",
            {{"mean", 64'000 / rps * std::exp(normal(random) * how.between_runs / 3)}}},
           {"hit_ratio_percent", hits},
           {"byte_hit_ratio_percent", hits * 0.8 + normal(random) * 0.1},
           {"requests", static_cast<uint64_t>(requests)},
           {"completed", static_cast<uint64_t>(requests)},
           {"bytes_received", static_cast<uint64_t>(requests * 11'000)},
           {"cpu_s",
            {{"proxy", requests * 100e-6 * (1 + how.slowdown) *
                           std::exp(normal(random) * how.between_runs / 2)},
             {"helper", 0}}},
           {"disk", {{"reads", requests * 0.1}, {"writes", requests * 0.2}}},
           {"warnings", boost::json::array{}},
           {"valid", true},
           {"failure", nullptr}});
    }
    results.cells.push_back(std::move(cell));
    base_rps *= 0.8;
  }
  return results;
}

}  // namespace testing_support
