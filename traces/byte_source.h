// Where a log's bytes come from: a file, plain or compressed by gzip.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>

#include "traces/log_error.h"

namespace traces {

/// A stream of bytes that is read once, from start to end. One thread at a time; calls block.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  /// Fills the front of `out` (not empty) and says how many bytes; 0 means the end. After an error
  /// or the end, every further call gives the same.
  virtual LogResult<size_t> read(std::span<char> out) = 0;
};

/// Told in one line that reading has to wait for somebody else.
using WaitNotice = std::function<void(const std::string& line)>;

/// Opens a file to be read as it is. An error names the file and the system's reason; a folder is
/// an error too. Never waits for the writer of a named pipe: the first read() does, and tells
/// `on_wait`, where it is not empty, when none has come within a second.
LogResult<std::unique_ptr<ByteSource>> open_file_source(const std::string& path,
                                                        WaitNotice on_wait = {});

/// Gives the bytes of `inner`, unpacked where they begin as a gzip stream does (RFC 1952, any
/// number of members; decided by the first bytes, not by a name). Memory is bounded whatever the
/// stream holds. A damaged or cut stream is an error once all bytes before the damage were given.
/// Other compressions (zstd, xz, bzip2) are refused at once, by name.
LogResult<std::unique_ptr<ByteSource>> unpack_source(std::unique_ptr<ByteSource> inner);

}  // namespace traces
