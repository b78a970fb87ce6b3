#include "workload/ab/data_files.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <ctime>

namespace workload::ab {

std::string percentiles_csv(const Tally& tally) {
  std::string out = "Percentage served,Time in ms\n";
  for (int percent = 0; percent <= 100; ++percent) {
    const uint64_t ns = percent == 0 ? tally.total.min_ns() : tally.total.percentile_ns(percent);
    std::array<char, 64> line{};
    std::snprintf(line.data(), line.size(), "%d,%.3f\n", percent, static_cast<double>(ns) / 1e6);
    out += line.data();
  }
  return out;
}

std::string gnuplot_tsv(const Tally& tally) {
  auto requests = tally.requests;
  std::sort(requests.begin(), requests.end(),
            [](const auto& left, const auto& right) { return left.total_us < right.total_us; });
  std::string out = "starttime\tseconds\tctime\tdtime\tttime\twait\n";
  const auto ms = [](uint32_t us) { return (uint64_t{us} + 500) / 1000; };
  for (const auto& request : requests) {
    const std::time_t seconds = request.start_unix_us / 1'000'000;
    std::tm local{};
    localtime_r(&seconds, &local);
    std::array<char, 64> date{};
    std::strftime(date.data(), date.size(), "%a %b %d %H:%M:%S %Y", &local);
    std::array<char, 192> line{};
    std::snprintf(line.data(), line.size(), "%s\t%lld\t%llu\t%llu\t%llu\t%llu\n", date.data(),
                  static_cast<long long>(seconds),
                  static_cast<unsigned long long>(ms(request.connect_us)),
                  static_cast<unsigned long long>(ms(request.total_us - request.connect_us)),
                  static_cast<unsigned long long>(ms(request.total_us)),
                  static_cast<unsigned long long>(ms(request.wait_us)));
    out += line.data();
  }
  return out;
}

}  // namespace workload::ab
