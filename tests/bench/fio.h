// fio beside the stores: what the device can do at this moment.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace bench {

/// Bytes a second that fio (libaio, O_DIRECT) gets when it writes so many bytes from `offset_bytes`
/// of `file` on, in blocks of 1 MiB, `depth` at a time; 0 where there is no fio or it fails.
double fio_write_rate(const std::filesystem::path& file, uint64_t offset_bytes, uint64_t size_bytes,
                      unsigned depth);

/// What fio measured.
struct FioResult {
  double rate = 0;  ///< Operations a second; 0 where there is no fio or it fails.
  double latency_mean_ms = 0;
};

/// Lets fio (libaio, O_DIRECT) do `pattern` (randread, randwrite, read or write) on `file` in
/// blocks of so many bytes, `depth` at a time, for so many seconds after others to warm up.
FioResult run_fio(const std::filesystem::path& file, const std::string& pattern,
                  uint64_t block_bytes, uint64_t depth, uint64_t warm_up_s, uint64_t seconds);

}  // namespace bench
