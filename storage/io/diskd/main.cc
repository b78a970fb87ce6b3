// cacheoff-diskd: makes the file operations of one store of the scheme diskd.
#include "storage/io/diskd/helper_main.h"

int main(int argc, char** argv) {
  return storage::run_helper(argc, argv);
}
