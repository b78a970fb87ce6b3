#include <unistd.h>

#include "storage/io/diskd/helper_precautions.h"

namespace storage {

// Of the BSDs, and of glibc since 2.34.
void close_from(int first_fd) {
  ::closefrom(first_fd);
}

// Its process group is orphaned when the store ends, and POSIX has a stopped one continued then.
void take_precautions() {}

}  // namespace storage
