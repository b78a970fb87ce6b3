// Measures storage alone, without a network. Each figure comes from paired rounds of one run. How
// to run it and what it found: docs/storage-benchmarks.md.
#include <iostream>

#include "tests/bench/bench_store.h"
#include "tests/bench/parts.h"

namespace {

constexpr const char* kUsage =
    "usage: storage_bench FOLDER [--part write|amplification|recovery|index]... [--size SIZE]\n"
    "                     [--rounds N] [--engine NAME] [--scheme NAME[,OPTION=VALUE...]]...\n"
    "                     [--out FILE.json]\n"
    "All parts if none is named; --scheme alone compares schemes instead.\n"
    "For example: storage_bench /var/tmp --size 1G --rounds 9 --out figures.json\n";

struct Arguments {
  bench::Settings settings;
  std::vector<std::string> parts;
  std::string out;
};

// False where the arguments make no sense.
bool parse(const std::vector<std::string>& arguments, Arguments& parsed) {
  if (arguments.empty() || arguments[0].starts_with("-") || arguments.size() % 2 == 0) return false;
  parsed.settings.folder = arguments[0];
  for (size_t at = 1; at < arguments.size(); at += 2) {
    const std::string& option = arguments[at];
    const std::string& value = arguments[at + 1];
    if (option == "--part") {
      parsed.parts.push_back(value);
    } else if (option == "--size") {
      parsed.settings.size_bytes = storage::parse_size_bytes(value).value_or(0);
    } else if (option == "--rounds") {
      parsed.settings.rounds = static_cast<unsigned>(storage::parse_count(value).value_or(0));
    } else if (option == "--engine") {
      parsed.settings.engine = value;
    } else if (option == "--scheme") {
      parsed.settings.schemes.push_back(value);
    } else if (option == "--out") {
      parsed.out = value;
    } else {
      return false;
    }
  }
  return parsed.settings.size_bytes >= 16 * storage::kMiB && parsed.settings.rounds >= 1;
}

bool measure(const std::string& part, const bench::Settings& settings, bench::Report& report) {
  if (part == "write") {
    bench::measure_write_rate(settings, report);
  } else if (part == "amplification") {
    bench::measure_write_amplification(settings, report);
  } else if (part == "recovery") {
    bench::measure_recovery(settings, report);
  } else if (part == "index") {
    bench::measure_index_memory(settings, report);
  } else {
    return false;
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.size() == 3 && arguments[0] == "--start-once") {
    return bench::start_once(arguments[2], arguments[1] == "stop");
  }
  Arguments parsed;
  if (!parse(arguments, parsed)) {
    std::cerr << kUsage;
    return 2;
  }
  bench::Report report;
  if (parsed.parts.empty() && parsed.settings.schemes.empty()) {
    parsed.parts = {"index", "recovery", "amplification", "write"};
  }
  for (const std::string& part : parsed.parts) {
    if (measure(part, parsed.settings, report)) continue;
    std::cerr << kUsage;
    return 2;
  }
  if (!parsed.settings.schemes.empty()) bench::measure_schemes(parsed.settings, report);
  std::string command = "storage_bench";
  for (const std::string& argument : arguments) command += " " + argument;
  if (!parsed.out.empty() && !report.write(parsed.out, command)) {
    bench::fail("cannot write " + parsed.out);
  }
  return 0;
}
