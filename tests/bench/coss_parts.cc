#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <iostream>
#include <sstream>

#include "storage/layout/coss_format.h"
#include "tests/bench/bench_store.h"
#include "tests/bench/fio.h"
#include "tests/bench/parts.h"

namespace bench {

namespace {

constexpr unsigned kMembufs = 10;
// One membuf is being filled while the others are on their way.
constexpr unsigned kWriteDepth = kMembufs - 1;
constexpr double kMiB = 1 << 20;

std::filesystem::path file_of(const Settings& settings) {
  return settings.folder / "storage_bench.coss";
}

std::string coss(const Settings& settings, unsigned overwrite_percent) {
  return "scheme=coss,path=" + file_of(settings).string() +
         ",size=" + std::to_string(settings.size_bytes) + ",engine=" + settings.engine +
         ",membufs=" + std::to_string(kMembufs) +
         ",overwrite-percent=" + std::to_string(overwrite_percent);
}

uint64_t stripes_bytes(const Settings& settings) {
  return storage::coss_stripe_count(settings.size_bytes, storage::kMiB) * storage::kMiB;
}

/// Makes the file blank for a new store, and leaves its blocks where they are.
void forget_store(const Settings& settings) {
  const int fd = ::open(file_of(settings).c_str(), O_WRONLY | O_CLOEXEC);
  if (fd < 0) return;
  const std::vector<char> zeros(1 << 20);
  const bool done = ::pwrite(fd, zeros.data(), zeros.size(), 0) == 1 << 20 && ::fsync(fd) == 0;
  ::close(fd);
  if (!done) fail("cannot clear " + file_of(settings).string());
}

/// Bytes that this process has caused to be written to devices.
double device_written_bytes() {
  std::ifstream in("/proc/self/io");
  std::string name;
  double value = 0;
  while (in >> name >> value) {
    if (name == "write_bytes:") return value;
  }
  fail("cannot read /proc/self/io");
}

/// Where the user may, empties the page cache; otherwise says once that it could not.
void drop_page_cache(Report& report) {
  ::sync();
  std::ofstream out("/proc/sys/vm/drop_caches");
  static bool told = false;
  if (out << "1" << std::flush || std::exchange(told, true)) return;
  report.note("  the page cache could not be emptied between starts: that needs root");
}

void warn(const BenchStore& store, Report& report) {
  for (const std::string& warning : store.info().warnings) report.note("  WARNING: " + warning);
}

}  // namespace

void measure_write_rate(const Settings& settings, Report& report) {
  const uint64_t size = stripes_bytes(settings);
  report.note("write rate: " + storage::format_size(size) +
              " a round, objects of 10 to 12 KiB, coss (engine " + settings.engine + ", " +
              std::to_string(kMembufs) + " membufs) and fio (libaio, 1 MiB, depth " +
              std::to_string(kWriteDepth) + ", O_DIRECT) in turns on the same file");
  const auto run_fio = [&] {
    return fio_write_rate(file_of(settings), storage::kCossStripesOffset, size, kWriteDepth);
  };
  {
    BenchStore made(coss(settings, 0));
    warn(made, report);
    made.stop();
  }
  // Once over the whole file, so that neither side pays for its blocks.
  if (run_fio() == 0) report.note("  fio is missing: nothing to compare with");
  Samples ours("coss", "MiB/s");
  Samples theirs("fio", "MiB/s");
  Samples ratio("coss / fio", "");
  Samples cpu("coss, CPU an object", "us");
  Samples busy("coss, CPU busy", "%");
  Samples declined("coss, declined an object stored", "");
  for (unsigned round = 0; round < settings.rounds; ++round) {
    double reference = 0;
    if (round % 2 == 0) reference = run_fio();
    forget_store(settings);
    BenchStore store(coss(settings, 0));
    const double begin = seconds_now();
    const double cpu_begin = cpu_seconds_now();
    store.put(size, kConcurrency);
    const double duration = seconds_now() - begin;
    const double cpu_used = cpu_seconds_now() - cpu_begin;
    const double rate = store.count("log_written_bytes_total") / duration;
    const auto objects = static_cast<double>(store.stored);
    store.stop();
    if (round % 2 == 1) reference = run_fio();
    ours.add(rate / kMiB);
    cpu.add(cpu_used / objects * 1e6);
    busy.add(cpu_used / duration * 100);
    declined.add(static_cast<double>(store.declined) / objects);
    if (reference == 0) continue;
    theirs.add(reference / kMiB);
    ratio.add(rate / reference);
  }
  for (const Samples* samples : {&ours, &theirs, &ratio, &cpu, &busy, &declined}) {
    report.add("write_rate", *samples);
  }
  std::filesystem::remove(file_of(settings));
}

void measure_write_amplification(const Settings& settings, Report& report) {
  report.note(
      "write amplification: bytes written to the device for each byte of key, metadata and body "
      "committed; objects of 10 to 12 KiB, a full store, its end included");
  Samples off("relocation off", "");
  Samples on("relocation on (50 %)", "");
  Samples hot("relocation on, hits of hot objects", "%");
  Samples hot_off("relocation off, hits of hot objects", "%");
  const uint64_t size = stripes_bytes(settings);
  // A tenth of what the store holds is hot, and read as often as new objects come.
  const uint64_t hot_objects = size / (11 * 1024) / 10;
  for (unsigned round = 0; round < settings.rounds; ++round) {
    for (const unsigned percent : {0u, 50u}) {
      std::filesystem::remove(file_of(settings));
      BenchStore store(coss(settings, percent));
      store.put(size, kConcurrency);
      const double begin = device_written_bytes();
      const uint64_t accepted_before = store.accepted_bytes;
      store.mix(size, hot_objects, kConcurrency);
      store.stop();
      const double written = device_written_bytes() - begin;
      (percent == 0 ? off : on)
          .add(written / static_cast<double>(store.accepted_bytes - accepted_before));
      (percent == 0 ? hot_off : hot)
          .add(100.0 * static_cast<double>(store.hits) /
               static_cast<double>(store.hits + store.misses));
    }
  }
  for (const Samples* samples : {&off, &on, &hot_off, &hot}) {
    report.add("write_amplification", *samples);
  }
  std::filesystem::remove(file_of(settings));
}

int start_once(const std::string& specification, bool stop_after) {
  rusage before{};
  ::getrusage(RUSAGE_SELF, &before);
  const double cpu_before = cpu_seconds_now();
  BenchStore store(specification);
  rusage after{};
  ::getrusage(RUSAGE_SELF, &after);
  std::cout << std::chrono::duration<double>(store.recovery().duration).count() << " "
            << store.recovery().objects << " " << store.recovery().clean << " "
            << cpu_seconds_now() - cpu_before << " " << after.ru_maxrss - before.ru_maxrss
            << std::endl;
  if (stop_after) store.stop();
  // Without a stop this leaves what a crash leaves.
  std::_Exit(0);
}

namespace {

struct Start {
  double duration_s = 0;
  double objects = 0;
  bool clean = false;
  double cpu_s = 0;
  double memory_kib = 0;
};

Start start_in_process(const std::string& specification, bool stop_after) {
  const std::string program = std::filesystem::read_symlink("/proc/self/exe").string();
  const std::string command = "'" + program + "' --start-once " + (stop_after ? "stop" : "leave") +
                              " '" + specification + "'";
  FILE* const pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) fail("cannot start " + program);
  std::string text;
  char block[256];
  while (::fgets(block, sizeof block, pipe) != nullptr) text += block;
  if (::pclose(pipe) != 0) fail("a start failed");
  Start start;
  std::istringstream in(text);
  if (!(in >> start.duration_s >> start.objects >> start.clean >> start.cpu_s >>
        start.memory_kib)) {
    fail("a start told nothing");
  }
  return start;
}

}  // namespace

void measure_recovery(const Settings& settings, Report& report) {
  std::filesystem::remove(file_of(settings));
  double objects = 0;
  {
    BenchStore store(coss(settings, 0));
    store.put(stripes_bytes(settings) * 11 / 10, kConcurrency);
    objects = store.count("objects");
    store.stop();
  }
  report.note("recovery: a store of " + storage::format_size(settings.size_bytes) + " with " +
              std::to_string(static_cast<uint64_t>(objects)) +
              " objects of 10 to 12 KiB, each start in a new process with an empty page cache");
  Samples clean("start from the clean index", "ms");
  Samples clean_cpu("start from the clean index, CPU", "ms");
  Samples clean_memory("start from the clean index, memory", "KiB");
  Samples dirty("start after a crash", "ms");
  Samples dirty_cpu("start after a crash, CPU", "ms");
  Samples dirty_memory("start after a crash, memory", "KiB");
  for (unsigned round = 0; round < settings.rounds; ++round) {
    drop_page_cache(report);
    const Start first = start_in_process(coss(settings, 0), false);
    drop_page_cache(report);
    const Start second = start_in_process(coss(settings, 0), true);
    if (!first.clean || second.clean || first.objects != objects || second.objects != objects) {
      fail("a start found another store than the one that was left");
    }
    clean.add(first.duration_s * 1e3);
    clean_cpu.add(first.cpu_s * 1e3);
    clean_memory.add(first.memory_kib);
    dirty.add(second.duration_s * 1e3);
    dirty_cpu.add(second.cpu_s * 1e3);
    dirty_memory.add(second.memory_kib);
  }
  for (const Samples* samples :
       {&clean, &clean_cpu, &clean_memory, &dirty, &dirty_cpu, &dirty_memory}) {
    report.add("recovery", *samples);
  }
  std::filesystem::remove(file_of(settings));
}

}  // namespace bench
