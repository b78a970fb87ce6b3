// cacheoff-disk: a file that is as slow as a stated disk, and loses what a power cut would lose.

#include <string>
#include <vector>

#include "workload/disk/fuse/program.h"

int main(int argc, char** argv) {
  return workload::disk::run_disk_program(std::vector<std::string>(argv + 1, argv + argc));
}
