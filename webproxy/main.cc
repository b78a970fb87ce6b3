// The program cacheoff-webproxy; see webproxy/program.h.
#include "webproxy/program.h"

int main(int argc, char** argv) {
  return webproxy::run_program(argc, argv);
}
