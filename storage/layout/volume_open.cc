#include "storage/layout/volume_open.h"

#include <cerrno>
#include <utility>

namespace storage {

namespace {

bool refused_direct(const Error& error) {
  return error.system_errno == EINVAL || error.system_errno == EOPNOTSUPP;
}

}  // namespace

Task<std::unique_ptr<File>> open_volume_file(IoEngine& engine, std::string name, bool direct,
                                             size_t page_size_bytes, std::string warning,
                                             std::vector<std::string>& warnings) {
  const OpenMode wanted = direct ? OpenMode::kReadWriteDirect : OpenMode::kReadWrite;
  Result<std::unique_ptr<File>> file = co_await engine.open(name, wanted);
  if (file && (*file)->alignment_bytes() > page_size_bytes) file = Error(Errc::kIo, EINVAL);
  if (!file && direct && refused_direct(file.error())) {
    warnings.push_back(std::move(warning));
    file = co_await engine.open(name, OpenMode::kReadWrite);
  }
  co_return file;
}

}  // namespace storage
