// The program cacheoff-webproxy; see webproxy/program.h.
#include "workload/webproxy/program.h"

int main(int argc, char** argv) {
  return webproxy::run_program(argc, argv);
}
