// How a store in one file opens that file for its reads and writes.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "storage/base/task.h"
#include "storage/io/engine.h"

namespace storage {

/// Opens `name`, with O_DIRECT where `direct` asks for it. Where the filesystem refuses that, it is
/// opened without, and `warnings` gets `warning`. A file that wants reads and writes aligned to
/// more than `page_size_bytes` is a failure (kIo, EINVAL). The references must stay until it ends.
Task<std::unique_ptr<File>> open_volume_file(IoEngine& engine, std::string name, bool direct,
                                             size_t page_size_bytes, std::string warning,
                                             std::vector<std::string>& warnings);

}  // namespace storage
