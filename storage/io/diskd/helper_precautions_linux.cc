#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>

#include "storage/io/diskd/helper_precautions.h"

namespace storage {

void close_from(int first_fd) {
  ::syscall(SYS_close_range, first_fd, ~0U, 0);
}

void take_precautions() {
  ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  // A stopped process does not see its socket close, so the end of the store makes it go on.
  ::prctl(PR_SET_PDEATHSIG, SIGCONT, 0, 0, 0);
}

}  // namespace storage
