#include <unistd.h>

#include "storage/base/filesystem_sync.h"

namespace storage {

int sync_filesystem(int fd) {
  return ::syncfs(fd);
}

}  // namespace storage
