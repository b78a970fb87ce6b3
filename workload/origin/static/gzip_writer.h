// Compresses a text piece by piece into the gzip format (RFC 1952).
#pragma once

#include <zlib.h>

#include <cstddef>
#include <span>
#include <string>

namespace workload {

/// One text. Takes about 256 KiB while it lives. One thread at a time.
class GzipWriter {
 public:
  /// `level`: 1 (fast) to 9 (small). Throws std::bad_alloc where there is no memory.
  explicit GzipWriter(int level);
  ~GzipWriter();
  GzipWriter(const GzipWriter&) = delete;
  GzipWriter& operator=(const GzipWriter&) = delete;

  /// Appends what comes of `piece` to `out`. The last piece may be empty; nothing follows it.
  void add(std::span<const std::byte> piece, bool last, std::string& out);

 private:
  z_stream stream_{};
};

}  // namespace workload
