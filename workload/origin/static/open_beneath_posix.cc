#include "workload/origin/static/open_beneath.h"

namespace workload {

int open_beneath(int folder_fd, const std::string& path) {
  return open_beneath_by_names(folder_fd, path);
}

}  // namespace workload
