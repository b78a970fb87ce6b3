#include "tests/bench/bench_store.h"
#include "tests/bench/parts.h"
#include "tests/support/temp_dir.h"

namespace bench {

void measure_schemes(const Settings& settings, Report& report) {
  report.note("schemes: " + storage::format_size(settings.size_bytes / 2) +
              " of objects of 10 to 12 KiB stored in an empty store of " +
              storage::format_size(settings.size_bytes) + ", then 20000 of them read at random; " +
              std::to_string(kConcurrency) + " at a time, page cache and all");
  std::vector<Samples> puts;
  std::vector<Samples> gets;
  for (const std::string& scheme : settings.schemes) {
    puts.emplace_back(scheme + ", stored", "objects/s");
    gets.emplace_back(scheme + ", read", "objects/s");
  }
  for (unsigned round = 0; round < settings.rounds; ++round) {
    for (size_t i = 0; i < settings.schemes.size(); ++i) {
      const std::filesystem::path folder = settings.folder / "storage_bench.store";
      std::filesystem::create_directory(folder);
      const std::string& scheme = settings.schemes[i];
      {
        BenchStore store("scheme=" + scheme + ",size=" + std::to_string(settings.size_bytes) +
                         (scheme.starts_with("memory") ? "" : ",path=" + folder.string()));
        double begin = seconds_now();
        store.put(settings.size_bytes / 2, kConcurrency);
        puts[i].add(static_cast<double>(store.stored) / (seconds_now() - begin));
        begin = seconds_now();
        store.get(20'000, store.stored / 2, kConcurrency);
        gets[i].add(static_cast<double>(store.hits) / (seconds_now() - begin));
        store.stop();
      }
      std::filesystem::remove_all(folder);
    }
  }
  for (size_t i = 0; i < settings.schemes.size(); ++i) {
    report.add("schemes", puts[i]);
    report.add("schemes", gets[i]);
  }
}

}  // namespace bench
