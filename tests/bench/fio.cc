#include "tests/bench/fio.h"

#include <boost/json.hpp>
#include <cstdlib>
#include <fstream>
#include <sstream>

namespace bench {

double fio_write_rate(const std::filesystem::path& file, uint64_t offset_bytes, uint64_t size_bytes,
                      unsigned depth) {
  const std::filesystem::path report = file.string() + ".fio.json";
  std::ostringstream command;
  command << "fio --name=reference --filename='" << file.string() << "' --offset=" << offset_bytes
          << " --size=" << size_bytes
          << " --bs=1M --rw=write --ioengine=libaio --direct=1 --iodepth=" << depth
          << " --thread --output-format=json --output='" << report.string() << "' 2>/dev/null";
  if (std::system(command.str().c_str()) != 0) return 0;  // NOLINT(concurrency-mt-unsafe)
  std::ifstream in(report);
  const std::string text(std::istreambuf_iterator<char>(in), {});
  std::filesystem::remove(report);
  const size_t begin = text.find('{');
  if (begin == std::string::npos) return 0;
  boost::system::error_code error;
  const boost::json::value value = boost::json::parse(text.substr(begin), error);
  if (error) return 0;
  return value.at("jobs").at(0).at("write").at("bw_bytes").to_number<double>();
}

}  // namespace bench
