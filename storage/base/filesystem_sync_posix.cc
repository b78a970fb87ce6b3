#include <unistd.h>

#include "storage/base/filesystem_sync.h"

namespace storage {

int sync_filesystem(int) {
  ::sync();
  return 0;
}

}  // namespace storage
