// The program cacheoff-webproxy; see webproxy/program.h.
#include "storage/base/own_program.h"
#include "workload/webproxy/program.h"

int main(int argc, char** argv) {
  storage::note_own_program(argv[0]);
  return webproxy::run_program(argc, argv);
}
