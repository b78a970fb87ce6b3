#include "tests/bench/fio.h"

#include <boost/json.hpp>
#include <cstdlib>
#include <fstream>
#include <sstream>

namespace bench {

namespace {

/// Runs fio with these arguments and returns what it says of its one job; null where that fails.
boost::json::value job_of_fio(const std::string& arguments, const std::filesystem::path& report) {
  const std::string command =
      "fio " + arguments + " --output-format=json --output='" + report.string() + "' 2>/dev/null";
  if (std::system(command.c_str()) != 0) return nullptr;  // NOLINT(concurrency-mt-unsafe)
  std::ifstream in(report);
  const std::string text(std::istreambuf_iterator<char>(in), {});
  std::filesystem::remove(report);
  const size_t begin = text.find('{');
  if (begin == std::string::npos) return nullptr;
  boost::system::error_code error;
  const boost::json::value value = boost::json::parse(text.substr(begin), error);
  return error ? nullptr : value.at("jobs").at(0);
}

}  // namespace

double fio_write_rate(const std::filesystem::path& file, uint64_t offset_bytes, uint64_t size_bytes,
                      unsigned depth) {
  std::ostringstream arguments;
  arguments << "--name=reference --filename='" << file.string() << "' --offset=" << offset_bytes
            << " --size=" << size_bytes
            << " --bs=1M --rw=write --ioengine=libaio --direct=1 --iodepth=" << depth
            << " --thread";
  const auto job = job_of_fio(arguments.str(), file.string() + ".fio.json");
  return job.is_null() ? 0 : job.at("write").at("bw_bytes").to_number<double>();
}

FioResult run_fio(const std::filesystem::path& file, const std::string& pattern,
                  uint64_t block_bytes, uint64_t depth, uint64_t warm_up_s, uint64_t seconds) {
  std::ostringstream arguments;
  arguments << "--name=pattern --filename='" << file.string() << "' --rw=" << pattern
            << " --bs=" << block_bytes << " --ioengine=libaio --direct=1 --iodepth=" << depth
            << " --thread --norandommap --time_based --ramp_time=" << warm_up_s
            << " --runtime=" << seconds;
  const auto job = job_of_fio(arguments.str(), std::filesystem::temp_directory_path() /
                                                   (file.filename().string() + ".fio.json"));
  FioResult result;
  if (job.is_null()) return result;
  const auto& side = job.at(pattern.find("write") == std::string::npos ? "read" : "write");
  result.rate = side.at("iops").to_number<double>();
  result.latency_mean_ms = side.at("lat_ns").at("mean").to_number<double>() / 1e6;
  return result;
}

}  // namespace bench
