#include "workload/origin/static/gzip_writer.h"

#include <new>

namespace workload {
namespace {

constexpr int kWindowBits = 15 + 16;  // 16 asks for gzip's header and trailer.
constexpr int kMemoryLevel = 8;
constexpr size_t kStepBytes = 16384;

}  // namespace

GzipWriter::GzipWriter(int level) {
  const int outcome =
      ::deflateInit2(&stream_, level, Z_DEFLATED, kWindowBits, kMemoryLevel, Z_DEFAULT_STRATEGY);
  if (outcome != Z_OK) throw std::bad_alloc();
}

GzipWriter::~GzipWriter() {
  ::deflateEnd(&stream_);
}

void GzipWriter::add(std::span<const std::byte> piece, bool last, std::string& out) {
  // zlib's interface is older than const; it does not write here.
  stream_.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(piece.data()));
  stream_.avail_in = static_cast<uInt>(piece.size());
  do {
    const size_t before = out.size();
    out.resize(before + kStepBytes);
    stream_.next_out = reinterpret_cast<Bytef*>(out.data() + before);
    stream_.avail_out = kStepBytes;
    ::deflate(&stream_, last ? Z_FINISH : Z_NO_FLUSH);
    out.resize(before + kStepBytes - stream_.avail_out);
  } while (stream_.avail_out == 0);
}

}  // namespace workload
