// cacheoff-proxy: a caching HTTP proxy whose storage can be chosen.

#include <string>
#include <vector>

#include "proxy/program.h"
#include "storage/base/own_program.h"

int main(int argument_count, char** arguments) {
  storage::note_own_program(arguments[0]);
  const std::vector<std::string> rest(arguments + 1, arguments + argument_count);
  return proxy::run_program(rest);
}
